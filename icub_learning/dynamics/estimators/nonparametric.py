"""Inverse dynamics without rigid bodies, by random features or another nonparametric learner."""

from typing import Any

from numpy.typing import ArrayLike

from icub_learning.arrays import Array
from icub_learning.dynamics.estimators.aggregated import AggregatedEstimator, AggregatedPredictor
from icub_learning.dynamics.estimators.fixed_nonparametric import FixedNonparametricEstimator, NonparametricPredictor
from icub_learning.dynamics.estimators.prediction import MotionInputs, Prediction
from icub_learning.dynamics.estimators.taring import Tare, TaredPredictor
from icub_learning.dynamics.regressors.regressor import Regressor
from icub_learning.dynamics.settings import DEFAULTS, LearnerSettings, number_or_automatic
from icub_learning.errors import ParameterError
from icub_learning.models import scalar

AGGREGATED = "nonparametric_aggregate"  # kind of a saved state


class NonparametricEstimator:
    """Learns y as a function of (q, v, a) on random features, knowing nothing of rigid bodies: NP of the thesis (8.3).

    By default several length scales and regularizations are aggregated for each output by their recent errors, see
    AggregatedEstimator. With a number for length_scale or regularization, and with nystrom and polk, settings are
    fixed, see FixedNonparametricEstimator.

    Args:
        regressor: only its joints and outputs are used.
        n_random_features: number of random features, of all length scales together.
        length_scale: length scale of the Gaussian kernel on standardized inputs; None or "auto": several are weighed.
        regularization: lambda of the features; None or "auto": several are weighed.
        forgetting: in (0, 1]; weight of a sample after each further one (not of polk); "auto": 1, until errors show a
            change where several are weighed, see AdaptiveForgetting.
        n_warm_up, nonparametric, step_size, parsimony, max_dictionary: used with fixed settings only, see
            LearnerSettings.
        seed: seed of the random features.

    Attributes:
        method: the estimator that learns, aggregated or with fixed settings.

    Raises:
        ParameterError: an argument is outside its range.
    """

    def __init__(
        self,
        regressor: Regressor,
        n_random_features: int = DEFAULTS.n_random_features,
        length_scale: float | str | None = None,
        regularization: float | str | None = None,
        forgetting: float | str = DEFAULTS.forgetting,
        n_warm_up: int = DEFAULTS.n_warm_up,
        seed: int = DEFAULTS.seed,
        *,
        nonparametric: str = DEFAULTS.nonparametric,
        step_size: float = DEFAULTS.step_size,
        parsimony: float = DEFAULTS.parsimony,
        max_dictionary: int = DEFAULTS.max_dictionary,
    ) -> None:
        settings = LearnerSettings(
            nonparametric=nonparametric,
            n_random_features=n_random_features,
            length_scale=number_or_automatic(length_scale),
            nonparametric_regularization=number_or_automatic(regularization),
            forgetting=forgetting,
            n_warm_up=n_warm_up,
            seed=seed,
            step_size=step_size,
            parsimony=parsimony,
            max_dictionary=max_dictionary,
        )
        self.regressor = regressor
        self._tare = Tare(regressor.n_outputs)
        self.method: AggregatedEstimator | FixedNonparametricEstimator
        if settings.automatic:
            self.method = AggregatedEstimator(regressor, None, n_random_features, forgetting, seed)
        else:
            self.method = FixedNonparametricEstimator(regressor, settings.fixed())

    @property
    def n_samples(self) -> int:
        """How many samples were learned."""
        return self.method.n_samples

    @property
    def expert_weights(self) -> dict[str, Array]:
        """Weights (n_outputs,) of the experts in the aggregate by their names; empty with fixed settings."""
        method = self.method
        if isinstance(method, AggregatedEstimator):
            return dict(zip(method.expert_names, method.weights, strict=True))
        return {}

    def predict(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Prediction:
        """Predict from position, velocity, acceleration, each (n_joints,). Raises ShapeError, NotFiniteError."""
        made = self.method.predict(q, v, a)
        return self._tare.shifted(made, rigid=False)

    def predictor(
        self, regressor: Regressor | None = None
    ) -> NonparametricPredictor | AggregatedPredictor | TaredPredictor:
        """What is known now, for another thread."""
        return self._tare.predictor(self.method.predictor(self.regressor if regressor is None else regressor))

    def update(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        y: ArrayLike,
        known: MotionInputs | None = None,
        stamp: int | None = None,
    ) -> None:
        """Learn one measurement y (n_outputs,). Raises ShapeError, NotFiniteError, ParameterError: unchanged then.

        Args:
            q, v, a: position, velocity and acceleration at the instant of the measurement, each (n_joints,).
            y: measured outputs (n_outputs,).
            known: the motion of the same instant as it was known when y had to be predicted; the same if None. It is
                what features learn from: the best answer to inputs with errors is not that to inputs without.
            stamp: ns, of the measurement; without it samples count as 0.01 s apart.
        """
        self.method.update(q, v, a, self._tare.removed(y), known, stamp)

    def body_changed(self, ratio: float) -> None:
        """Forget at once what was learned before a change that is known, see ParametricEstimator.body_changed."""
        if isinstance(self.method, AggregatedEstimator):
            self.method.body_changed(ratio)

    def tare(self, change: ArrayLike) -> None:
        """Shift the offsets at once: all that was learned is kept, as if every measurement had been larger by this.

        For a sensor that was set to zero or whose offset jumped, see Tare.

        Args:
            change: (n_outputs,), what was measured minus what was predicted, averaged over some samples with nothing in
                the robot's hand.

        Raises:
            ShapeError, NotFiniteError: not n_outputs finite numbers; nothing changes then.
        """
        self._tare.add(change)

    def merge(self, other: "NonparametricEstimator") -> None:
        """Pool what another estimator with the same features learned. Raises ParameterError; nothing changes then."""
        if type(other) is not type(self):
            raise ParameterError("other", type(other).__name__, "a NonparametricEstimator")
        if type(other.method) is not type(self.method):
            raise ParameterError(
                "other", "of other settings", "with fixed settings if this one has them, without if not"
            )
        self.method.merge(other.method)  # type: ignore[arg-type]

    def state(self) -> dict[str, Array]:
        """All that was learned, as a dict of arrays; see `from_state`."""
        method = self.method
        own = method.state(AGGREGATED) if isinstance(method, AggregatedEstimator) else method.state()
        return {**own, **self._tare.state()}

    @classmethod
    def from_state(cls, state: dict[str, Any], regressor: Regressor | None = None) -> "NonparametricEstimator":
        """Rebuild from `state`, for the given regressor or the one described there. Raises StateError."""
        made = cls.__new__(cls)
        if scalar(state, "estimator") == AGGREGATED:
            made.method = AggregatedEstimator.from_state(state, AGGREGATED, regressor)
        else:
            made.method = FixedNonparametricEstimator.from_state(state, regressor)
        made.regressor = made.method.regressor
        made._tare = Tare.from_state(state, made.regressor.n_outputs)
        return made
