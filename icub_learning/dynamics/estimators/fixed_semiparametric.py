"""Inverse dynamics by a rigid-body model, and a nonparametric model of its residual."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array
from icub_learning.dynamics.estimators import _product
from icub_learning.dynamics.estimators.fixed_nonparametric import NonparametricPredictor, motion_scale
from icub_learning.dynamics.estimators.learners import (
    check_same_kind,
    learner_from_state,
    linear_in_targets,
    make_learner,
)
from icub_learning.dynamics.estimators.noise.noise_variance import NoiseVariance
from icub_learning.dynamics.estimators.observation import Observation
from icub_learning.dynamics.estimators.parametric import ParametricEstimator
from icub_learning.dynamics.estimators.polk_learner import PolkLearner
from icub_learning.dynamics.estimators.prediction import Prediction, motion_vectors
from icub_learning.dynamics.estimators.residual_targets import ResidualTargets, SequentialTargets
from icub_learning.dynamics.estimators.saved_states import check_kind
from icub_learning.dynamics.regressors.regressor import Regressor
from icub_learning.dynamics.settings import DEFAULTS, RESIDUALS, LearnerSettings
from icub_learning.errors import ParameterError, StateError
from icub_learning.models import nested, part


@dataclass(frozen=True)
class SemiparametricPredictor:
    """The Predictor of a semiparametric estimator: rigid bodies, and `features` for their residual."""

    regressor: Regressor
    parameters: Array
    features: NonparametricPredictor

    def predict(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Prediction:
        """Predict from position, velocity, acceleration, each (n_joints,). Raises ShapeError, NotFiniteError."""
        motion = motion_vectors(self.regressor.n_joints, q, v, a)
        x, parametric = self.inputs(motion, self.regressor(*motion))
        residual, z = self.features.at(x)
        return Prediction(parametric + residual, parametric, residual, lambda: self.features.variance(z))

    def inputs(self, motion: tuple[Array, Array, Array], rows: Array) -> tuple[Array, Array]:
        """Return the inputs of the features (3 n_joints + n_outputs,), and the parametric prediction (n_outputs,)."""
        n = self.regressor.n_joints
        x = np.empty(3 * n + len(rows))
        x[:n], x[n : 2 * n], x[2 * n : 3 * n] = motion
        _product.multiply(x, 3 * n, rows, self.parameters)
        return x, x[3 * n :]


class FixedSemiparametricEstimator:
    """The prioritized estimator of the thesis (8.3, fig. 8.2): y = Phi(x) pi + f([x, Phi(x) pi]).

    The parametric part learns y first, independently of the other. The nonparametric part sees the joint state and the
    parametric prediction made then, standardized, and learns what the rigid body leaves: of all samples under today's
    parameters (ResidualTargets), or of each sample under the parameters of its own time (SequentialTargets, as the
    thesis does).

    Args:
        parametric: the rigid-body part, new.
        settings: settings of the nonparametric part, with numbers for length scale and regularization; their
            forgetting is that of both parts (not of polk).
        residuals: "current_parameters" for ResidualTargets, "past_parameters" for SequentialTargets; polk, which is not
            linear in its targets, always has the latter.

    Raises:
        ParameterError: an argument is outside its range.
    """

    def __init__(
        self, parametric: ParametricEstimator, settings: LearnerSettings, residuals: str = DEFAULTS.residuals
    ) -> None:
        if residuals not in RESIDUALS:
            raise ParameterError("residuals", residuals, "one of " + ", ".join(RESIDUALS))
        self.regressor = regressor = parametric.regressor
        self.parametric = parametric
        current = residuals == "current_parameters" and linear_in_targets(settings)
        self._targets: ResidualTargets | SequentialTargets = (
            ResidualTargets(regressor) if current else SequentialTargets(regressor)
        )
        self._noise = NoiseVariance(regressor.n_outputs)
        self._residual_weights: Array | None = None  # under today's parameters, until something is learned
        minimum_scale = np.concatenate([motion_scale(regressor.n_joints), np.zeros(regressor.n_outputs)])
        self.learner = make_learner(settings, minimum_scale, self._targets.n_targets)

    @property
    def n_samples(self) -> int:
        """Number of samples learned."""
        return self.parametric.n_samples

    def predict(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Prediction:
        """Predict from position, velocity, acceleration, each (n_joints,). Raises ShapeError, NotFiniteError."""
        return self._live().predict(q, v, a).evaluated()

    def predictor(self, regressor: Regressor) -> "SemiparametricPredictor":
        """Return a snapshot for another thread; `regressor` is that thread's own for the same robot."""
        return self._predictor(regressor, self.learner.certainty().leverage)

    def _live(self) -> "SemiparametricPredictor":
        """Return a predictor that is valid until the next update: it shares the learner's memory."""
        return self._predictor(self.regressor, self.learner.leverage)

    def _predictor(self, regressor: Regressor, leverage: Callable[[Array], float | Array]) -> "SemiparametricPredictor":
        parameters = self.parametric.parameters
        if self._residual_weights is None:
            self._residual_weights = self._targets.residual_weights(self.learner.live_weights, parameters)
        weights = self._residual_weights
        features = NonparametricPredictor(regressor.n_joints, self.learner.row, weights, leverage, self._noise.value)
        return SemiparametricPredictor(regressor, parameters, features)

    def learn(self, observation: Observation) -> None:
        """Learn one sample. Raises ParameterError: nothing changes then."""
        measured, exact, motion = observation.measured, observation.motion, observation.known
        current = self._live()
        rows = self.regressor(*exact)
        known_rows = rows if motion is exact else self.regressor(*motion)
        x, predicted = current.inputs(motion, known_rows)
        residual, z = current.features.at(x)
        leverage = current.features.leverage_of(z)
        was_ready = self.learner.ready
        self._residual_weights = None
        self.learner.update(x, self._targets.split(measured, known_rows, predicted))
        self._noise.update(measured - predicted - residual, leverage)
        if self.learner.ready != was_ready:
            self._noise = NoiseVariance(self.regressor.n_outputs)  # what was before is that of rigid bodies alone
        self.parametric.learn(rows, measured)

    def merge(
        self, other: "FixedSemiparametricEstimator", common: "FixedSemiparametricEstimator | None" = None
    ) -> None:
        """Pool the data of another estimator with the same regressor and features, those of `common` once.

        As if one had seen all samples, but for the parametric predictions among the features' inputs: they stay those
        that either robot made then.

        Raises:
            ParameterError: regressor, features or input scales differ; nothing changes then.
        """
        if type(other) is not type(self):
            raise ParameterError("other", type(other).__name__, "a SemiparametricEstimator")
        self.parametric.check_poolable(other.parametric)
        check_same_kind(self.learner, other.learner)
        self.learner.merge(other.learner, None if common is None else common.learner)  # type: ignore[arg-type]
        self._residual_weights = None
        self._noise.merge(other._noise, 0 if common is None else common._noise.n_samples)
        self.parametric.pool(other.parametric, None if common is None else common.parametric)

    def state(self) -> dict[str, Array]:
        """Return all that was learned and the regressor's description, as a dict of arrays; see `from_state`."""
        return {
            "estimator": np.asarray("semiparametric"),
            **nested("parametric", self.parametric.state()),
            **nested("learner", self.learner.state()),
            **nested("noise", self._noise.state()),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], regressor: Regressor | None = None) -> "FixedSemiparametricEstimator":
        """Rebuild from `state`, for the given regressor or the one described there. Raises StateError."""
        check_kind(state, "semiparametric")
        parametric = ParametricEstimator.from_state(part(state, "parametric"), regressor)
        regressor = parametric.regressor
        estimator = cls(parametric, LearnerSettings(n_random_features=2).fixed())
        estimator.learner = learner_from_state(part(state, "learner"))
        if isinstance(estimator.learner, PolkLearner) or estimator.learner.n_outputs == regressor.n_outputs:
            estimator._targets = SequentialTargets(regressor)
        expected = (3 * regressor.n_joints + regressor.n_outputs, estimator._targets.n_targets)
        if (estimator.learner.n_inputs, estimator.learner.n_outputs) != expected:
            saved = (estimator.learner.n_inputs, estimator.learner.n_outputs)
            raise StateError(f"saved learner has (inputs, targets) {saved}, not {expected}")
        estimator._noise = NoiseVariance.from_state(part(state, "noise"), regressor.n_outputs)
        return estimator
