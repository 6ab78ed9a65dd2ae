"""Mean squares of the functions that learners approximate: the error to expect where nothing near was learned."""

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics.estimators.noise.fading import fade
from icub_learning.models.declared import NOT_NEGATIVE, Declared, entries

HALF_LIFE = 30.0  # [s] in which squares lose half of their weight, at most


class SignalVariance(Declared):
    """Fading mean of the squares of targets.

    A learner with weights w of N(0, s^2) for features z with z'z = 1 expects s^2 of its function's square before it has
    learned anything, and s^2 n(z) of its squared error afterwards, where n(z) = r z' A^-1 z is the share of z that lies
    outside of what was learned under the regularization r (Rasmussen and Williams, "Gaussian processes for machine
    learning", 2006, eq. 2.11 with r = noise variance / s^2). s^2 is not known in advance: it is found from the targets,
    as in empirical Bayes.

    Args:
        n_targets: k.

    Attributes:
        value: (k,), 0 before the first sample.
    """

    STATE = entries(value=NOT_NEGATIVE, weight=NOT_NEGATIVE, age=NOT_NEGATIVE)

    def __init__(self, n_targets: int) -> None:
        self.value = np.zeros(n_targets)
        self._weight, self._age = 0.0, 0.0

    def update(self, targets: Array, elapsed: float) -> None:
        """Take the targets (k,) of one sample, `elapsed` s after the last."""
        self._age += elapsed
        self._weight = fade(elapsed, self._age, HALF_LIFE) * self._weight + 1.0
        self.value = self.value + (targets * targets - self.value) / self._weight

    def merge(self, other: "SignalVariance") -> None:
        """Take the other's mean square if this one has seen no sample yet."""
        if not self._weight:
            self.value, self._weight, self._age = other.value.copy(), other._weight, other._age
