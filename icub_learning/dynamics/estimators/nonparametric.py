"""Inverse dynamics by a nonparametric learner alone."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array, vector
from icub_learning.dynamics.estimators import _product
from icub_learning.dynamics.estimators.learners import check_same_kind, learner_from_state, make_learner
from icub_learning.dynamics.estimators.noise_variance import NoiseVariance
from icub_learning.dynamics.estimators.prediction import MotionInputs, Prediction, motion_vectors
from icub_learning.dynamics.estimators.saved_states import check_kind, describe, matching_regressor
from icub_learning.dynamics.regressors.regressor import Regressor
from icub_learning.dynamics.settings import DEFAULTS, LearnerSettings
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


class NonparametricEstimator:
    """Learns y as a function of (q, v, a) without a rigid-body model: NP of the thesis (8.3-8.4).

    Args:
        regressor: only its joints and outputs are used.
        n_random_features, length_scale, regularization, forgetting, n_warm_up, seed: see RandomFeatureLearner.
        nonparametric, step_size, parsimony, max_dictionary: see LearnerSettings.

    Raises:
        ParameterError: an argument is outside its range.
    """

    def __init__(
        self,
        regressor: Regressor,
        n_random_features: int = DEFAULTS.n_random_features,
        length_scale: float = DEFAULTS.length_scale,
        regularization: float = DEFAULTS.nonparametric_regularization,
        forgetting: float = DEFAULTS.forgetting,
        n_warm_up: int = DEFAULTS.n_warm_up,
        seed: int = DEFAULTS.seed,
        *,
        nonparametric: str = DEFAULTS.nonparametric,
        step_size: float = DEFAULTS.step_size,
        parsimony: float = DEFAULTS.parsimony,
        max_dictionary: int = DEFAULTS.max_dictionary,
    ) -> None:
        self.regressor = regressor
        settings = LearnerSettings(
            nonparametric=nonparametric,
            n_random_features=n_random_features,
            length_scale=length_scale,
            nonparametric_regularization=regularization,
            forgetting=forgetting,
            n_warm_up=n_warm_up,
            seed=seed,
            step_size=step_size,
            parsimony=parsimony,
            max_dictionary=max_dictionary,
        )
        self._learner = make_learner(settings, motion_scale(regressor.n_joints), regressor.n_outputs)
        self._noise = NoiseVariance(regressor.n_outputs)
        self.n_samples = 0

    def predict(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Prediction:
        """Predict from position, velocity, acceleration, each (n_joints,). Raises ShapeError, NotFiniteError."""
        return self._predictor(self._learner.leverage).predict(q, v, a).evaluated()

    def predictor(self, _regressor: Regressor | None = None) -> "NonparametricPredictor":
        """Return a snapshot for another thread."""
        return self._predictor(self._learner.certainty().leverage, frozen=True)

    def _predictor(self, leverage: Callable[[Array], float | Array], frozen: bool = False) -> "NonparametricPredictor":
        weights = self._learner.live_weights
        weights = weights.copy() if frozen else weights
        return NonparametricPredictor(self.regressor.n_joints, self._learner.row, weights, leverage, self._noise.value)

    def update(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, y: ArrayLike, known: MotionInputs | None = None) -> None:
        """Learn one measurement y (n_outputs,). Raises ShapeError, NotFiniteError, ParameterError: unchanged then.

        Args:
            q, v, a: position, velocity and acceleration at the instant of the measurement, each (n_joints,).
            y: measured outputs (n_outputs,).
            known: the motion of the same instant as it was known when y had to be predicted; the same if None. It is
                what features learn from: the best answer to inputs with errors is not that to inputs without.
        """
        n = self.regressor.n_joints
        exact = motion_vectors(n, q, v, a)
        x = np.concatenate(exact if known is None else motion_vectors(n, *known))
        measured = vector("y", y, self.regressor.n_outputs)
        current = self._predictor(self._learner.leverage)
        predicted, z = current.at(x)
        leverage = current.leverage_of(z)
        was_ready = self._learner.ready
        self._learner.update(x, measured)
        self._noise.update(measured - predicted, leverage)
        if self._learner.ready != was_ready:
            self._noise = NoiseVariance(self.regressor.n_outputs)  # what was before is that of predicting nothing
        self.n_samples += 1

    def merge(self, other: "NonparametricEstimator") -> None:
        """Pool the data of another estimator with the same features. Raises ParameterError; nothing changes then."""
        if type(other) is not type(self):
            raise ParameterError("other", type(other).__name__, "a NonparametricEstimator")
        check_same_kind(self._learner, other._learner)
        self._learner.merge(other._learner)  # type: ignore[arg-type]
        self._noise.merge(other._noise)
        self.n_samples += other.n_samples

    def state(self) -> dict[str, Array]:
        """Return all that was learned, as a dict of arrays; see `from_state`."""
        return {
            "estimator": np.asarray("nonparametric"),
            "n_samples": np.asarray(self.n_samples),
            **nested("regressor", describe(self.regressor)),
            **nested("learner", self._learner.state()),
            **nested("noise", self._noise.state()),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], regressor: Regressor | None = None) -> "NonparametricEstimator":
        """Rebuild from `state`, for the given regressor or the one described there. Raises StateError."""
        check_kind(state, "nonparametric")
        regressor = matching_regressor(state, regressor)
        estimator = cls(regressor, n_random_features=2)
        estimator._learner = learner_from_state(part(state, "learner"))
        if (estimator._learner.n_inputs, estimator._learner.n_outputs) != (3 * regressor.n_joints, regressor.n_outputs):
            raise StateError(f"saved learner has {estimator._learner.n_inputs} inputs, not {3 * regressor.n_joints}")
        estimator._noise = NoiseVariance.from_state(part(state, "noise"), regressor.n_outputs)
        estimator.n_samples = int(scalar(state, "n_samples"))
        return estimator
