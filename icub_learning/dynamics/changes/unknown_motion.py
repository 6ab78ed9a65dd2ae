"""How likely errors are if nothing was added to them, and the body does not know the motion."""

from math import exp

import numpy as np
from scipy.linalg import solve_triangular

from icub_learning.arrays import Array
from icub_learning.dynamics.changes.error_model import NEW


class UnknownMotion:
    """Errors in a motion that the body does not know: as large as it tells, and alike for NEW seconds.

    They are e = s z + n: s are the standard deviations that the body tells beyond the usual ones, z a process of
    Ornstein and Uhlenbeck of unit variance with a correlation time of NEW for each output, and n noise with the
    covariance of the usual errors. Where the motion becomes known, s vanishes, and what was added to the errors shows.
    A Kalman filter finds the log likelihood of all errors (prediction error decomposition).

    Args:
        usual: (m, m) covariance of the usual errors of a block.
        period: time of one block [s].

    Attributes:
        log_likelihood: logarithm of the density of all errors, less the constant -m/2 ln(2 pi) of each block.
    """

    def __init__(self, usual: Array, period: float) -> None:
        self._usual, self._period = usual, period
        self._mean, self._covariance = np.zeros(len(usual)), np.eye(len(usual))  # of z
        self.log_likelihood = 0.0

    def add(self, error: Array, novelty: Array | None, passed: float) -> None:
        """Add the error (m,) of one block.

        Args:
            error: beyond the offset that was there before.
            novelty: (m,) variance that the body tells beyond the usual one; None: nothing.
            passed: periods since the block before.
        """
        kept = exp(-passed * self._period / NEW)
        self._mean = kept * self._mean
        self._covariance = kept**2 * self._covariance + (1.0 - kept**2) * np.eye(len(error))
        s = np.zeros_like(error) if novelty is None else np.sqrt(novelty)
        shown = self._covariance * s  # z with the errors
        root = np.linalg.cholesky(s[:, None] * shown + self._usual)
        both = np.column_stack([error - s * self._mean, shown.T])
        whitened = solve_triangular(root, both, lower=True, check_finite=False)
        white, gain = whitened[:, 0], whitened[:, 1:]  # the innovations, and the transposed gain of them
        self._mean = self._mean + gain.T @ white
        self._covariance = self._covariance - gain.T @ gain
        self.log_likelihood -= float(0.5 * white @ white + np.log(root.diagonal()).sum())
