"""Mean squares of the functions that learners approximate: the error to expect where nothing near was learned."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from icub_learning.arrays import Array, finite
from icub_learning.dynamics.estimators.noise.fading import fade
from icub_learning.errors import StateError
from icub_learning.models import reading_state

HALF_LIFE = 30.0  # [s] in which squares lose half of their weight, at most


class SignalVariance:
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

    def state(self) -> dict[str, Array]:
        """Return all that was learned, as a dict of arrays; see `from_state`."""
        return {"value": self.value.copy(), "weight": np.asarray(self._weight), "age": np.asarray(self._age)}

    @classmethod
    def from_state(cls, state: Mapping[str, Any], n_targets: int) -> "SignalVariance":
        """Rebuild from `state`. Raises StateError."""
        made = cls(n_targets)
        with reading_state("a variance of targets"):
            value = finite("value", state["value"])
            made._weight, made._age = (float(finite(name, state[name]).reshape(())) for name in ("weight", "age"))
        if value.shape != (n_targets,) or (value < 0).any() or made._weight < 0 or made._age < 0:
            raise StateError(f"mean squares {value} must be {n_targets} numbers of at least 0", name="value")
        made.value = value.copy()
        return made
