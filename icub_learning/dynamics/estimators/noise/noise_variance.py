"""Running estimate of the noise variance of the measurements that a recursive learner predicts."""

import numpy as np

from icub_learning.arrays import Array
from icub_learning.models.declared import NOT_NEGATIVE, VARIANCE, Declared, entries

MEMORY_SAMPLES = 1000  # the average runs over about this many samples
EARLY_SHARE = 0.25  # and over no more than this share of all: the errors of the first ones are those of an empty model


class NoiseVariance(Declared):
    """Running mean of the squared innovations, each divided by 1 + its leverage.

    For a linear model with noise variance s^2, the error of a prediction made before learning has the variance
    s^2 (1 + z^T A^-1 z); dividing by the bracket makes each squared error an estimate of s^2. The mean runs over a
    quarter of all samples at first: sample i of n counts by about (i / n)^3, so that the errors made before anything
    was known, however large, are soon outgrown. Later weights fade exponentially with a memory of MEMORY_SAMPLES.

    Args:
        n_outputs: number of outputs, or (k, number of outputs) of k learners of the same samples.

    Attributes:
        n_samples: number of innovations so far.
        value: (n_outputs,), squared units of the outputs; infinite before the first innovation.
    """

    STATE = entries(value=VARIANCE, n_samples=NOT_NEGATIVE)

    def __init__(self, n_outputs: int | tuple[int, ...]) -> None:
        self.n_samples = 0
        self.value = np.full(n_outputs, np.inf)

    @property
    def known(self) -> Array:
        """The variance (n_outputs,), zero before the first innovation."""
        return self.value if self.n_samples else np.zeros_like(self.value)

    def update(self, innovation: Array, leverage: float | Array) -> None:
        """Add one innovation (n_outputs,): the error of a prediction that had the given leverage."""
        self.add(innovation**2 / (1.0 + leverage))

    def add(self, estimate: Array) -> None:
        """Add what one innovation tells of the variance, (n_outputs,): its square over 1 + its leverage."""
        self.n_samples += 1
        if self.n_samples == 1:
            self.value = estimate
        else:
            memory = min(max(EARLY_SHARE * self.n_samples, 1.0), MEMORY_SAMPLES)
            self.value = self.value + (estimate - self.value) / memory

    def merge(self, other: "NoiseVariance", n_common: int = 0) -> None:
        """Average both estimates, weighted by their numbers of samples (at most MEMORY_SAMPLES).

        Args:
            other: the other estimate.
            n_common: how many of its samples this one has too.
        """
        fresh = other.n_samples - n_common
        if fresh <= 0:
            return
        if self.n_samples:
            mine, theirs = (min(count, MEMORY_SAMPLES) for count in (self.n_samples, fresh))
            self.value = (mine * self.value + theirs * other.value) / (mine + theirs)
        else:
            self.value = other.value.copy()
        self.n_samples += fresh
