"""What prediction errors tell: how large they are, and how many successive ones are worth one independent one."""

from math import exp

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics import _fading
from icub_learning.dynamics.estimators.noise.fading import LEAST, FadingMean
from icub_learning.models.declared import ANY, NOT_NEGATIVE, POSITIVE, VARIANCE, entries
from icub_learning.recursive.layered_aggregation import USUAL_HALF_LIFE

MISSES = 0.05  # share of errors that should lie beyond two standard deviations
# [1/s] speed of the calibration, in logarithms of the variance. Of 5, 10, 20 and 40, on five recordings and on
# simulation.zoo.DEVELOPMENT: 5 leaves coverages up to 0.985, and with 20 light loads are seen later.
GAIN = 10.0
RANGE = (1e-4, 1e4)  # bounds of the calibrating factor
# [s] time constant of the mean that tells lasting errors from white ones (0.3, 1 s: alike, 2026-11-24-one-model.md)
SMOOTHING = 0.1


class CalibratedVariance(FadingMean):
    """Fading mean of squared errors, times a factor that keeps 95 % of the errors within two standard deviations.

    Each squared error counts with the share of noise in the predicted variance; the rest is what the novelty of the
    motion adds (see SignalVariance). Errors of robots are neither Gaussian nor steady, so the factor c is tracked:
    log c grows by a step times (1 - 0.05) with each error outside the band and falls by the step times 0.05 with each
    one inside, as in adaptive conformal inference (Gibbs and Candès, "Adaptive conformal inference under distribution
    shift", 2021). The share of misses differs from 0.05 by no more than the change of log c over the sum of the steps.

    Args:
        n_outputs: number m of outputs.
    """

    STATE = entries(**FadingMean.STATE, mean_square=VARIANCE, factor=POSITIVE)

    def __init__(self, n_outputs: int) -> None:
        super().__init__()
        self._mean_square = np.full(n_outputs, np.inf)
        self.factor = np.ones(n_outputs)  # (m,) the calibrating factor on the value and on what novelty adds to it

    @property
    def value(self) -> Array:
        """Variance (m,) of errors in motions that are known; infinite before the first error."""
        return self._mean_square * self.factor

    def update(self, errors: Array, added: Array, elapsed: float) -> None:
        """Update the variance with the errors (m,) of a prediction, `elapsed` [s] after the last.

        `added` (m,) is what the novelty of its motion adds to the variance, before calibration.
        """
        known, step = self._weight > 0.0, min(GAIN * elapsed, 1.0)
        self._count(elapsed, USUAL_HALF_LIFE)
        steps = exp(-step * MISSES), exp(step * (1.0 - MISSES))
        state = self._mean_square, self.factor
        _fading.calibrate(*state, errors, added, len(errors), known, self._weight, *steps, *RANGE)


class SerialCorrelation(FadingMean):
    """Long-run variance of errors over their variance: 1 for white errors, n where n of them are alike.

    A mean of N correlated errors has the variance of one of N / n independent ones, and so has all that least squares
    learns from them (Newey and West, "A simple, positive semi-definite, heteroskedasticity and autocorrelation
    consistent covariance matrix", 1987). The long-run variance of m outputs is found from an exponential mean of the
    errors, whose variance is known for white ones.
    """

    STATE = entries(**FadingMean.STATE, white=NOT_NEGATIVE, mean=ANY, long_run=NOT_NEGATIVE, variance=NOT_NEGATIVE)

    def __init__(self, n_outputs: int) -> None:
        super().__init__()
        self._mean = np.zeros(n_outputs)  # exponential mean of the errors
        self._white = 0.0  # variance of that mean over the variance of the errors, if these were white
        self._long_run, self._variance = np.zeros(n_outputs), np.zeros(n_outputs)  # fading means

    @property
    def value(self) -> Array:
        """Number of errors that are worth one independent one (m,), at least 1; 1 before the first error."""
        return np.maximum(self._long_run / np.maximum(self._variance, LEAST), 1.0)

    def update(self, errors: Array, elapsed: float) -> None:
        """Take the errors (m,) of one sample, `elapsed` s after the last."""
        kept = exp(-elapsed / SMOOTHING)
        self._white = kept**2 * self._white + (1.0 - kept) ** 2
        if not self._white:  # no time has passed
            return
        self._count(elapsed, USUAL_HALF_LIFE)
        means = self._mean, self._long_run, self._variance
        _fading.correlate(*means, errors, len(errors), kept, self._white, self._weight)
