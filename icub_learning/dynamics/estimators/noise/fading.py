"""Means over errors and signals that fade with time, those of the start sooner."""

from copy import deepcopy
from typing import TypeVar

import numpy as np

from icub_learning.arrays import Array
from icub_learning.models.declared import NOT_NEGATIVE, Declared, entries

YOUNG = 0.25  # half-life, or memory, over the age: the large errors of the start are soon forgotten
HALF_LIFE = 30.0  # [s] in which squares of signals and of their differences lose half of their weight
FadingT = TypeVar("FadingT", bound="FadingMean")


def fade(elapsed: float, age: float, half_life: float) -> float:
    """Return the factor by which the weight of earlier samples falls in `elapsed` [s], `age` [s] after the first one.

    A sample loses half of its weight in `half_life` [s] at most. The age is above 0.
    """
    return float(0.5 ** (elapsed / min(half_life, YOUNG * age)))


class FadingMean(Declared):
    """A mean over samples of which each loses half of its weight in some time; nothing is known before the first."""

    def __init__(self) -> None:
        self._weight = 0.0  # of all samples
        self._age = 0.0  # [s] since the first sample

    def _count(self, elapsed: float, half_life: float) -> None:
        """Count one sample, `elapsed` [s] after the last; earlier ones lose half of their weight in `half_life` [s]."""
        self._age += elapsed
        self._weight = fade(elapsed, self._age, half_life) * self._weight + 1.0

    def merge(self: FadingT, other: FadingT) -> None:
        """Take what another one knows where nothing is known yet: what one has seen of late tells more."""
        if not self._weight:
            vars(self).update(deepcopy(vars(other)))


class SignalVariance(FadingMean):
    """Mean squares of the functions that learners approximate: the error to expect where nothing near was learned.

    A learner with weights w of N(0, s^2) for features z with z'z = 1 expects s^2 of its function's square before it has
    learned anything, and s^2 n(z) of its squared error afterwards, where n(z) = r z' A^-1 z is the share of z that lies
    outside of what was learned under the regularization r (Rasmussen and Williams, "Gaussian processes for machine
    learning", 2006, eq. 2.11 with r = noise variance / s^2). s^2 is found from the targets, as in empirical Bayes.

    Args:
        n_targets: k.

    Attributes:
        value: (k,), 0 before the first sample.
    """

    STATE = entries(value=NOT_NEGATIVE, weight=NOT_NEGATIVE, age=NOT_NEGATIVE)

    def __init__(self, n_targets: int) -> None:
        super().__init__()
        self.value = np.zeros(n_targets)

    def update(self, targets: Array, elapsed: float) -> None:
        """Take the targets (k,) of one sample, `elapsed` s after the last."""
        self._count(elapsed, HALF_LIFE)
        self.value = self.value + (targets * targets - self.value) / self._weight
