"""Inverse dynamics by a nonparametric learner alone."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array
from icub_learning.dynamics.estimators import _product
from icub_learning.dynamics.estimators.learners import check_same_kind, learner_from_state, make_learner
from icub_learning.dynamics.estimators.noise.noise_variance import NoiseVariance
from icub_learning.dynamics.estimators.observation import Observation
from icub_learning.dynamics.estimators.prediction import Prediction, motion_vectors
from icub_learning.dynamics.estimators.saved_states import check_kind, describe, matching_regressor
from icub_learning.dynamics.regressors.regressor import Regressor
from icub_learning.dynamics.settings import LearnerSettings
from icub_learning.errors import ParameterError, StateError
from icub_learning.models import nested, part, scalar

# Smallest scale of position, velocity and acceleration: rad, rad/s, rad/s^2 (m, ... for prismatic joints). What moves
# less than this while the scale is set is treated as standing still.
MINIMUM_MOTION_SCALE = (0.05, 0.05, 0.5)


def motion_scale(n_joints: int) -> Array:
    """Return MINIMUM_MOTION_SCALE for (q, v, a) of all joints, (3 n_joints,)."""
    return np.repeat(MINIMUM_MOTION_SCALE, n_joints)


@dataclass(frozen=True)
class NonparametricPredictor:
    """The Predictor of a nonparametric estimator; `row` is None until the scale of the inputs is set."""

    n_joints: int
    row: Callable[[Array], Array] | None
    weights: Array  # (n_outputs, n_random_features)
    leverage: Callable[[Array], float | Array]
    noise: Array

    def predict(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Prediction:
        """Predict from position, velocity, acceleration, each (n_joints,). Raises ShapeError, NotFiniteError."""
        total, z = self.at(np.concatenate(motion_vectors(self.n_joints, q, v, a)))
        return Prediction(total, np.zeros_like(total), total, lambda: self.variance(z))

    def at(self, x: Array) -> tuple[Array, Array | None]:
        """Return the outputs (n_outputs,) at the inputs x of the features, and the feature row (None at first)."""
        if self.row is None:
            return np.zeros(len(self.weights)), None
        z = self.row(x)
        values = np.empty(len(self.weights))
        _product.multiply(values, 0, self.weights, z)
        return values, z

    def leverage_of(self, z: Array | None) -> float:
        """Return the leverage of a feature row from `at`."""
        return 0.0 if z is None else float(self.leverage(z))

    def variance(self, z: Array | None) -> Array:
        """Return the variance (n_outputs,) of a measurement at a feature row from `at`."""
        return self.noise * (1.0 + self.leverage_of(z))


class FixedNonparametricEstimator:
    """Learns y as a function of (q, v, a) without a rigid-body model: NP of the thesis (8.3-8.4).

    Args:
        regressor: only its joints and outputs are used.
        settings: with numbers for length scale and regularization.

    Raises:
        ParameterError: an argument is outside its range.
    """

    def __init__(self, regressor: Regressor, settings: LearnerSettings) -> None:
        self.regressor = regressor
        self.learner = make_learner(settings, motion_scale(regressor.n_joints), regressor.n_outputs)
        self._noise = NoiseVariance(regressor.n_outputs)
        self.n_samples = 0

    def predict(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Prediction:
        """Predict from position, velocity, acceleration, each (n_joints,). Raises ShapeError, NotFiniteError."""
        return self._predictor(self.learner.leverage).predict(q, v, a).evaluated()

    def predictor(self, _regressor: Regressor | None = None) -> "NonparametricPredictor":
        """Return a snapshot for another thread."""
        return self._predictor(self.learner.certainty().leverage, frozen=True)

    def _predictor(self, leverage: Callable[[Array], float | Array], frozen: bool = False) -> "NonparametricPredictor":
        weights = self.learner.live_weights
        weights = weights.copy() if frozen else weights
        return NonparametricPredictor(self.regressor.n_joints, self.learner.row, weights, leverage, self._noise.value)

    def learn(self, observation: Observation) -> None:
        """Learn one sample. Raises ParameterError: nothing changes then."""
        x, measured = np.concatenate(observation.known), observation.measured
        current = self._predictor(self.learner.leverage)
        predicted, z = current.at(x)
        leverage = current.leverage_of(z)
        was_ready = self.learner.ready
        self.learner.update(x, measured)
        self._noise.update(measured - predicted, leverage)
        if self.learner.ready != was_ready:
            self._noise = NoiseVariance(self.regressor.n_outputs)  # what was before is that of predicting nothing
        self.n_samples += 1

    def merge(self, other: "FixedNonparametricEstimator", common: "FixedNonparametricEstimator | None" = None) -> None:
        """Pool the data of another estimator with the same features, those of `common` once.

        Raises:
            ParameterError: the features differ; nothing changes then.
        """
        if type(other) is not type(self):
            raise ParameterError("other", type(other).__name__, "a NonparametricEstimator")
        check_same_kind(self.learner, other.learner)
        self.learner.merge(other.learner, None if common is None else common.learner)  # type: ignore[arg-type]
        self._noise.merge(other._noise, 0 if common is None else common._noise.n_samples)
        self.n_samples += other.n_samples - (0 if common is None else common.n_samples)

    def state(self) -> dict[str, Array]:
        """Return all that was learned, as a dict of arrays; see `from_state`."""
        return {
            "estimator": np.asarray("nonparametric"),
            "n_samples": np.asarray(self.n_samples),
            **nested("regressor", describe(self.regressor)),
            **nested("learner", self.learner.state()),
            **nested("noise", self._noise.state()),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], regressor: Regressor | None = None) -> "FixedNonparametricEstimator":
        """Rebuild from `state`, for the given regressor or the one described there. Raises StateError."""
        check_kind(state, "nonparametric")
        regressor = matching_regressor(state, regressor, may_lack_parameters=True)
        estimator = cls(regressor, LearnerSettings(n_random_features=2).fixed())
        estimator.learner = learner_from_state(part(state, "learner"))
        if (estimator.learner.n_inputs, estimator.learner.n_outputs) != (3 * regressor.n_joints, regressor.n_outputs):
            raise StateError(f"saved learner has {estimator.learner.n_inputs} inputs, not {3 * regressor.n_joints}")
        estimator._noise = NoiseVariance.from_state(part(state, "noise"), regressor.n_outputs)
        estimator.n_samples = int(scalar(state, "n_samples"))
        return estimator
