"""By how much more a motion asks of a learner than the motions it has learned from."""

import numpy as np

from icub_learning.arrays import Array
from icub_learning.models.declared import ANY, NOT_NEGATIVE, Declared, entries

LEAST = 1e-300  # a leverage, where it is 0


class UsualLeverage(Declared):
    """Geometric mean of the leverages of past samples, each as if as many samples had been learned then as now.

    Where a model lacks something, its errors are no noise: they come back with each repetition of a motion, and a
    thousand repetitions tell no more about the parameters than one. So the leverage, which counts samples as
    independent, says too little about a new motion. But it says how much less the samples tell about that motion than
    about the usual ones, of which the errors are known: by the leverage over the usual one.

    The mean is that of logarithms, so that a second of a new motion, of thousandfold leverage, does not become usual.

    Args:
        n_outputs: m.
    """

    STATE = entries(mean=ANY, weight=NOT_NEGATIVE)

    def __init__(self, n_outputs: int) -> None:
        self._mean = np.zeros(n_outputs)  # of the logarithm of leverage times number of samples
        self._weight = 0.0  # of all samples, fading as they do

    @property
    def value(self) -> Array:
        """Leverage (m,) that is usual at present; infinite before the first sample."""
        return np.exp(self._mean) / self._weight if self._weight else np.full(len(self._mean), np.inf)

    def update(self, leverages: Array, forgetting: float) -> None:
        """Take the leverages (m,) of one sample before it was learned; past ones fade by `forgetting`, in (0, 1]."""
        self._weight = forgetting * self._weight + 1.0
        logarithms = np.log(np.maximum(self._weight * leverages, LEAST))
        self._mean = self._mean + (logarithms - self._mean) / self._weight

    def merge(self, other: "UsualLeverage") -> None:
        """Take the samples of another one too."""
        weight = self._weight + other._weight
        if weight:
            self._mean = (self._weight * self._mean + other._weight * other._mean) / weight
            self._weight = weight


def unlearned_share(leverages: Array, usual: Array) -> Array:
    """Return the variance (m,) of what was not learned of a motion over that of the errors in usual motions.

    That is the leverage (m,), as for independent samples, or what it exceeds the `usual` one by, as for errors that
    come back with the motion; the larger one, as errors do not tell of which kind they are.
    """
    return np.maximum(leverages, leverages / np.maximum(usual, LEAST) - 1.0)
