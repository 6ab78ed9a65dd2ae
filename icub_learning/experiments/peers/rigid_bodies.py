"""Rigid bodies with friction by recursive least squares on base parameters, the classical way to learn on line."""

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics.regressors.regressor import Regressor, base_columns
from icub_learning.recursive import RecursiveLeastSquares


class RigidBodies:
    """Recursive least squares of base parameters (Gautier and Khalil 1992), with exponential forgetting.

    The regressor has friction and offsets. Rows are scaled by the deviations of the outputs, `scale` (n_outputs,), and
    columns by `motions` (n, 3 n_joints), so that outputs of different units count alike and one number regularizes all.
    """

    def __init__(
        self, regressor: Regressor, motions: Array, scale: Array, regularization: float, forgetting: float
    ) -> None:
        self._regressor, self._scale = regressor, scale
        self._columns = base_columns(regressor.base_projection)
        rows = np.array([self._scaled(motion) for motion in motions[:: max(1, len(motions) // 200)]])
        length = np.sqrt((rows**2).mean(axis=(0, 1)))
        self._length = np.where(length > 1e-9 * length.max(), length, np.inf)
        self._rls = RecursiveLeastSquares(len(self._columns), 1, regularization, forgetting)

    def _scaled(self, motion: Array) -> Array:
        return np.asarray(self._regressor(*np.split(motion, 3))[:, self._columns] / self._scale[:, None])

    def predict(self, motion: Array) -> Array:
        return np.asarray(self._rls.predict(self._scaled(motion) / self._length)[:, 0] * self._scale)

    def learn(self, motion: Array, y: Array) -> None:
        self._rls.update(self._scaled(motion) / self._length, (y / self._scale)[:, None], same_instant=True)
