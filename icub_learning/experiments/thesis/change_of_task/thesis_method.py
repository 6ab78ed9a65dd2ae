"""Semiparametric learning as in the thesis (8.3, fig. 8.2): rigid bodies first, then features for the rest."""

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array, vector
from icub_learning.dynamics.estimators.noise.noise_variance import NoiseVariance
from icub_learning.dynamics.estimators.parametric import ParametricEstimator
from icub_learning.dynamics.estimators.prediction import MotionInputs, Prediction, motion_vectors
from icub_learning.dynamics.regressors.regressor import Regressor
from icub_learning.features import RandomFourierFeatures, Standardizer
from icub_learning.recursive import RecursiveLeastSquares

# Chosen in advance for inputs of unit variance; the values of the thesis fit its own inputs.
LENGTH_SCALE, REGULARIZATION = 5.0, 0.003
FEATURES = 1000
SCALING_SAMPLES = 200  # first samples, which only set mean and scale of the inputs
# Least scales of position [rad], velocity [rad/s] and acceleration [rad/s^2], so that noise at rest is not magnified.
LEAST_SCALE = (0.05, 0.05, 0.5)
LEAST_CHANGE = 0.1  # share of LEAST_SCALE by which a robot must move before another sample sets the scale


class ThesisMethod:
    """Learns y = Phi(x) pi + f([x, Phi(x) pi]), the rigid bodies Phi pi independently of the random features of f.

    The features learn the residual of rigid bodies at each sample, with the parameters at that time. One length scale
    and one regularization are given, inputs are standardized by the scale of the first samples, outputs have equal
    weights, and nothing is forgotten. The regressor has no sensor offsets.
    """

    def __init__(self, regressor: Regressor, n_features: int = FEATURES, seed: int = 0) -> None:
        n, m = regressor.n_joints, regressor.n_outputs
        self.regressor = regressor
        self.parametric = ParametricEstimator(regressor, forgetting=1.0, prior="zero", output_weights="equal")
        self._features = RandomFourierFeatures(3 * n + m, n_features, LENGTH_SCALE, seed)
        self._rls = RecursiveLeastSquares(n_features, m, REGULARIZATION)
        self._least_scale = np.concatenate([np.repeat(LEAST_SCALE, n), np.zeros(m)])
        self._inputs = Standardizer(3 * n + m)
        self._last = np.zeros(3 * n + m)  # last input that set the scale
        self._noise = NoiseVariance(m)

    @property
    def _scaled(self) -> bool:
        return self._inputs.n_samples >= SCALING_SAMPLES

    def predict(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Prediction:
        """Predict from position, velocity, acceleration, each (n_joints,). Raises ShapeError, NotFiniteError."""
        x, parametric = self._input(motion_vectors(self.regressor.n_joints, q, v, a))
        if not self._scaled:
            return Prediction(parametric, parametric, np.zeros_like(parametric), self._noise.value)
        z = self._row(x)
        residual, unlearned = self._rls.predict(z), self._noise.value * self._rls.leverage(z)
        return Prediction(parametric + residual, parametric, residual, self._noise.value + unlearned)

    def update(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, y: ArrayLike, known: MotionInputs | None = None,
        stamp: int | None = None, published: Prediction | None = None,
    ) -> None:  # fmt: skip
        """Learn one measurement y (n_outputs,). Raises ShapeError, NotFiniteError, ParameterError.

        Rigid bodies learn from the motion q, v, a (n_joints,), features from the motion as it was `known` when y had to
        be predicted, if given. `stamp` and `published` are not used here, only by the shipped estimators.
        """
        measured = vector("y", y, self.regressor.n_outputs)
        motion = motion_vectors(self.regressor.n_joints, q, v, a)
        x, parametric = self._input(motion if known is None else motion_vectors(self.regressor.n_joints, *known))
        left = measured - parametric
        if self._scaled:
            z = self._row(x)
            self._noise.update(left - self._rls.predict(z), self._rls.leverage(z))
            self._rls.update(z, left)
        else:
            self._set_scale(x)
        self.parametric.learn(self.regressor(*motion), measured)

    def _input(self, motion: tuple[Array, Array, Array]) -> tuple[Array, Array]:
        """Return the features' input (3 n_joints + n_outputs,), and the prediction (n_outputs,) of rigid bodies."""
        parametric = self.regressor(*motion) @ self.parametric.parameters
        return np.concatenate([*motion, parametric]), parametric

    def _row(self, x: Array) -> Array:
        return self._features.standardized(x, self._inputs.mean, np.maximum(self._inputs.scale, self._least_scale))

    def _set_scale(self, x: Array) -> None:
        of_motion = self._least_scale > 0.0
        moved = np.abs(x - self._last)[of_motion] >= LEAST_CHANGE * self._least_scale[of_motion]
        if moved.any() or not self._inputs.n_samples:
            self._inputs.update(x)
            self._last = x
