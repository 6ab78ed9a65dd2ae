"""What estimators have in common that learn with settings of their own choice or with given ones."""

from typing import Any, TypeVar

from numpy.typing import ArrayLike

from icub_learning.arrays import Array
from icub_learning.dynamics.estimators.aggregate.aggregated import AggregatedEstimator
from icub_learning.dynamics.estimators.observation import Observation, seconds_between
from icub_learning.dynamics.estimators.output_filter import FILTERS, OutputFilterWeights
from icub_learning.dynamics.estimators.prediction import MotionInputs, Prediction, Predictor
from icub_learning.dynamics.estimators.taring import Tare
from icub_learning.dynamics.regressors.regressor import Regressor
from icub_learning.errors import ParameterError
from icub_learning.models import nested, scalar
from icub_learning.models.ledger import Ledger

EstimatorT = TypeVar("EstimatorT", bound="ConfigurableEstimator")


class ConfigurableEstimator:
    """Learns by an aggregate of several settings or by fixed ones, for a sensor whose offset can be set at once.

    Args:
        method: what learns: an AggregatedEstimator or one with fixed settings.

    Attributes:
        method: as given.
        regressor: regressor of the robot.
        ledger: whose samples were learned.
    """

    _AGGREGATED = ""  # kind of the saved state of an aggregate
    _RIGID_BODIES = False  # whether there is a rigid-body part, which then holds the tare
    _FIXED: Any = None  # class of the method with fixed settings

    def __init__(
        self,
        method: Any,
        tare: Tare | None = None,
        filters: OutputFilterWeights | None = None,
        ledger: Ledger | None = None,
    ) -> None:
        self.method: Any = method
        self.regressor: Regressor = method.regressor
        self._tare = Tare(self.regressor.n_outputs) if tare is None else tare
        self._filters = OutputFilterWeights(self.regressor.n_outputs) if filters is None else filters
        self.ledger = Ledger() if ledger is None else ledger
        self._last_stamp: int | None = None  # [ns]

    @property
    def n_samples(self) -> int:
        """How many samples were learned."""
        return int(self.method.n_samples)

    @property
    def expert_weights(self) -> dict[str, Array]:
        """Weights (n_outputs,) of the experts in the aggregate by their names; empty with fixed settings."""
        method = self.method
        if isinstance(method, AggregatedEstimator):
            return dict(zip(method.expert_names, method.weights, strict=True))
        return {}

    def predict(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Prediction:
        """Predict from position, velocity, acceleration, each (n_joints,). Raises ShapeError, NotFiniteError."""
        return self._filters.marked(self._tare.shifted(self.method.predict(q, v, a), self._RIGID_BODIES))

    def predictor(self, regressor: Regressor | None = None) -> Predictor:
        """Return a snapshot for another thread; `regressor` is that thread's own for the same robot."""
        inner = self.method.predictor(self.regressor if regressor is None else regressor)
        return self._filters.predictor(self._tare.predictor(inner, self.regressor if self._RIGID_BODIES else None))

    def update(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        y: ArrayLike,
        known: MotionInputs | None = None,
        stamp: int | None = None,
        published: Prediction | None = None,
    ) -> None:
        """Learn one measurement y (n_outputs,). Raises ShapeError, NotFiniteError, ParameterError: unchanged then.

        Args:
            q, v, a: position, velocity and acceleration at the instant of the measurement, each (n_joints,). Rigid
                bodies learn from them.
            y: measured outputs (n_outputs,).
            known: the motion of the same instant as it was known when y had to be predicted; the same if None. It is
                what features learn from: the best answer to inputs with errors is not that to inputs without.
            stamp: ns, of the measurement; without it samples count as 0.01 s apart.
            published: what this estimator predicted for the measurement: its variance is calibrated on how such
                predictions turn out. Without it, on the predictions of what was known half a second before.
        """
        observation = Observation.checked(self.regressor, (q, v, a), self._tare.removed(y), known, stamp, published)
        self.method.learn(observation)
        elapsed = seconds_between(self._last_stamp, stamp)
        self._last_stamp = stamp
        self._filters.update(published, observation.measured + self._tare.value, elapsed)

    def body_changed(self, ratio: float) -> None:
        """Forget at once what was learned before a change that is known, see ParametricEstimator.body_changed."""
        if isinstance(self.method, AggregatedEstimator):
            self.method.body_changed(ratio)
        elif self._RIGID_BODIES:
            self.method.parametric.body_changed(ratio)

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

    def merge(self, other: "ConfigurableEstimator", common: "ConfigurableEstimator | None" = None) -> None:
        """Pool what another estimator with the same regressor and features learned; each keeps its own tare.

        Samples of both count once, see Ledger; `common` is an estimator of exactly those, where one is needed.

        As if one had seen all samples, but for the rigid-body predictions that either robot made when its samples
        came: features learned what these left.

        Raises:
            ParameterError: regressor, features or input scales differ, or a common one is needed; nothing changes then.
        """
        if type(other) is not type(self):
            raise ParameterError("other", type(other).__name__, f"a {type(self).__name__}")
        if type(other.method) is not type(self.method):
            raise ParameterError(
                "other", "of other settings", "with fixed settings if this one has them, without if not"
            )

        def pool(one: "ConfigurableEstimator", shared: "ConfigurableEstimator | None") -> None:
            self.method.merge(one.method, None if shared is None else shared.method)

        self.ledger.merge(self, other, common, pool)

    def state(self) -> dict[str, Array]:
        """Return all that was learned, as a dict of arrays; see `from_state`."""
        method = self.method
        own = method.state(self._AGGREGATED) if isinstance(method, AggregatedEstimator) else method.state()
        return {**own, **self._tare.state(), **nested(FILTERS, self._filters.state())}

    @classmethod
    def from_state(cls: type[EstimatorT], state: dict[str, Any], regressor: Regressor | None = None) -> EstimatorT:
        """Rebuild from `state`, for the given regressor or the one described there. Raises StateError."""
        if scalar(state, "estimator") == cls._AGGREGATED:
            method: Any = AggregatedEstimator.from_state(state, cls._AGGREGATED, regressor)
        else:
            method = cls._FIXED.from_state(state, regressor)
        made = cls.__new__(cls)
        n_outputs = method.regressor.n_outputs
        filters = OutputFilterWeights.from_state(state, FILTERS, n_outputs)
        ledger = Ledger.from_state(state, int(method.n_samples))
        ConfigurableEstimator.__init__(made, method, Tare.from_state(state, n_outputs), filters, ledger)
        return made
