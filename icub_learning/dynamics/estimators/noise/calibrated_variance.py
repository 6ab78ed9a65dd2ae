"""Variance of prediction errors whose two-sigma band holds the share of errors that it should."""

from math import exp

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics import _fading
from icub_learning.dynamics.estimators.noise.fading import fade
from icub_learning.models.declared import NOT_NEGATIVE, POSITIVE, VARIANCE, Declared, entries

HALF_LIFE = 10.0  # [s] in which squared errors lose half of their weight, at most
MISSES = 0.05  # share of errors that should lie beyond two standard deviations
GAIN = 5.0  # [1/s] speed of the calibration, in logarithms of the variance
RANGE = (1e-4, 1e4)  # of the calibrating factor


class CalibratedVariance(Declared):
    """Fading mean of squared errors, times a factor that keeps 95 % of the errors within two standard deviations.

    Of each squared error the share counts that noise has in the variance that was told, beside what the novelty of the
    motion adds (see SignalVariance). Errors of robots are neither Gaussian nor steady (friction changes its sign,
    motions come and go), so their mean square alone does not say where 95 % of them lie. The factor c is therefore
    tracked: log c grows by a step times (1 - 0.05) with each error outside the band and falls by the step times 0.05
    with each one inside, as in adaptive conformal inference (Gibbs and Candès, "Adaptive conformal inference under
    distribution shift", 2021). As log c moves by what the misses exceed 0.05 by, their share differs from 0.05 by no
    more than the change of log c over the sum of the steps, whatever the errors do, as long as c stays in its range.

    Args:
        n_outputs: m.
    """

    STATE = entries(
        mean_square=VARIANCE, factor=POSITIVE, weight=NOT_NEGATIVE, age=NOT_NEGATIVE, n_samples=NOT_NEGATIVE
    )

    def __init__(self, n_outputs: int) -> None:
        self.n_samples = 0
        self._mean_square = np.full(n_outputs, np.inf)
        self._factor = np.ones(n_outputs)
        self._weight = 0.0  # of all errors in the mean
        self._age = 0.0  # [s] since the first error

    @property
    def value(self) -> Array:
        """Variance (m,) of errors in motions that are known; infinite before the first error."""
        return self._mean_square * self._factor

    @property
    def factor(self) -> Array:
        """The calibrating factor (m,), of the value and of what novelty adds to it."""
        return self._factor

    def update(self, errors: Array, added: Array, elapsed: float) -> None:
        """Update the variance with the errors of a prediction.

        Args:
            errors: (m,).
            added: (m,), what the novelty of its motion adds to the variance, before calibration.
            elapsed: time since the last errors [s].
        """
        known, step = self.n_samples > 0, min(GAIN * elapsed, 1.0)
        self._age += elapsed
        self._weight = fade(elapsed, self._age, HALF_LIFE) * self._weight + 1.0
        self.n_samples += 1
        steps = exp(-step * MISSES), exp(step * (1.0 - MISSES))
        state = self._mean_square, self._factor
        _fading.calibrate(*state, errors, added, len(errors), known, self._weight, *steps, *RANGE)

    def merge(self, other: "CalibratedVariance", n_common: int = 0) -> None:
        """Take the other one's variance where nothing is known yet: errors fade, so one's own tell more.

        Args:
            other: the other variance.
            n_common: how many of its samples this one has too.
        """
        if not self.n_samples:
            self._mean_square, self._factor = other._mean_square.copy(), other._factor.copy()
            self._weight, self._age = other._weight, other._age
        self.n_samples += other.n_samples - n_common
