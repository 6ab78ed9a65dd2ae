"""How many errors that follow each other are worth one: errors of robots are alike for some hundredths of a second."""

from math import exp

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics import _fading
from icub_learning.dynamics.estimators.noise.calibrated_variance import HALF_LIFE
from icub_learning.dynamics.estimators.noise.fading import fade
from icub_learning.models.declared import ANY, NOT_NEGATIVE, Declared, entries

# [s] time constant of the mean that tells lasting errors from white ones. With 0.3 and 1 s in its place the four
# recordings of docs/decisions/2026-11-24-one-model.md come out alike.
SMOOTHING = 0.1
LEAST = 1e-300  # a variance, where there is none


class SerialCorrelation(Declared):
    """Long-run variance of errors over their variance: 1 for white errors, n where n of them are alike.

    A mean of N correlated errors has the variance of one of N / n independent ones, and so has all that least squares
    learns from them (Newey and West, "A simple, positive semi-definite, heteroskedasticity and autocorrelation
    consistent covariance matrix", 1987). The long-run variance is found from an exponential mean of the errors, whose
    variance is known for white ones.

    Args:
        n_outputs: m.
    """

    STATE = entries(
        white=NOT_NEGATIVE,
        weight=NOT_NEGATIVE,
        age=NOT_NEGATIVE,
        mean=ANY,
        long_run=NOT_NEGATIVE,
        variance=NOT_NEGATIVE,
    )

    def __init__(self, n_outputs: int) -> None:
        self._mean = np.zeros(n_outputs)  # of the latest errors
        self._white = 0.0  # variance of that mean over the variance of errors, were they white
        self._long_run, self._variance = np.zeros(n_outputs), np.zeros(n_outputs)  # fading means
        self._weight, self._age = 0.0, 0.0

    @property
    def value(self) -> Array:
        """How many errors are worth one (m,), at least 1; 1 before the first error."""
        return np.maximum(self._long_run / np.maximum(self._variance, LEAST), 1.0)

    def update(self, errors: Array, elapsed: float) -> None:
        """Take the errors (m,) of one sample, `elapsed` s after the last."""
        kept = exp(-elapsed / SMOOTHING)
        self._white = kept**2 * self._white + (1.0 - kept) ** 2
        if not self._white:  # no time has passed
            return
        self._age += elapsed
        self._weight = fade(elapsed, self._age, HALF_LIFE) * self._weight + 1.0
        means = self._mean, self._long_run, self._variance
        _fading.correlate(*means, errors, len(errors), kept, self._white, self._weight)
