"""Standardization of a learner's inputs by mean and scale of its first samples."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array, finite, integer, vector
from icub_learning.errors import ParameterError
from icub_learning.features import Standardizer
from icub_learning.models import nested, part, scalar

LEAST_CHANGE = 0.1  # of an input, relative to its minimum scale, by which a moving robot is told from a resting one


class WarmUp:
    """Mean and scale of the first `n_samples` inputs of a moving robot.

    A robot often stands still at first. What it senses then would set a scale on which all motion lies far outside, so
    inputs that do not differ from the last one that counted do not count.

    They stay fixed afterwards: a scale that changed under the features would invalidate what was learned. No scale is
    below `minimum_scale`, so that noise is not magnified while the robot stands still.

    Args:
        minimum_scale: (n_inputs,), units of the inputs.
        n_samples: number of inputs that set mean and scale.

    Raises:
        ParameterError: n_samples is no positive integer.
    """

    def __init__(self, minimum_scale: Array, n_samples: int) -> None:
        self.n_inputs = len(minimum_scale)
        self.n_samples = integer("n_warm_up", n_samples, 1)
        self.minimum_scale = minimum_scale
        self._standardizer = Standardizer(self.n_inputs)
        self.mean, self.scale = np.zeros(self.n_inputs), np.ones(self.n_inputs)
        self._last = np.zeros(self.n_inputs)  # the last input that counted

    @property
    def done(self) -> bool:
        """Whether mean and scale are set."""
        return self._standardizer.n_samples >= self.n_samples

    @property
    def n_seen(self) -> int:
        """Number of inputs that counted."""
        return self._standardizer.n_samples

    def add(self, x: Array) -> bool:
        """Add one input (n_inputs,); return whether it counts. Raises ParameterError (too large), unchanged then."""
        known = self.minimum_scale > 0.0
        change = np.abs(x - self._last)[known]
        if self.n_seen and len(change) and (change < LEAST_CHANGE * self.minimum_scale[known]).all():
            return False
        self._standardizer.update(x)
        self._last = np.array(x)
        if self.done:
            self.mean = self._standardizer.mean.copy()
            self.scale = np.maximum(self._standardizer.scale, self.minimum_scale)
        return True

    def __call__(self, x: Array) -> Array:
        """Return x (n_inputs,) standardized."""
        return (x - self.mean) / self.scale

    def set_scale(self, mean: ArrayLike, scale: ArrayLike) -> None:
        """Set mean and scale (n_inputs,) to given values."""
        self.mean, self.scale = vector("mean", mean, self.n_inputs), vector("scale", scale, self.n_inputs)
        if (self.scale <= 0).any():
            raise ParameterError("scale", float(self.scale.min()), "above 0")
        self._standardizer.n_samples = max(self._standardizer.n_samples, self.n_samples)

    def check_same(self, other: "WarmUp") -> None:
        """Raise ParameterError if mean and scale differ."""
        for name in ("mean", "scale"):
            if not np.array_equal(getattr(self, name), getattr(other, name)):
                raise ParameterError(
                    name, "different", "the same in both models: start both robots from one saved model or one scale"
                )

    def state(self) -> dict[str, Array]:
        """Return all values as a dict of arrays; see `from_state`."""
        return {
            "minimum_scale": self.minimum_scale.copy(),
            "mean": self.mean.copy(),
            "scale": self.scale.copy(),
            "n_warm_up": np.asarray(self.n_samples),
            **nested("standardizer", self._standardizer.state()),
            **({} if self.done else {"last_counted": self._last.copy()}),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "WarmUp":
        """Rebuild from `state`. Raises StateError, KeyError, ParameterError, ShapeError, NotFiniteError."""
        made = cls(finite("minimum_scale", state["minimum_scale"]).reshape(-1), int(scalar(state, "n_warm_up")))
        made._standardizer = Standardizer.from_state(part(state, "standardizer"))
        made.mean = vector("mean", state["mean"], made.n_inputs)
        made.scale = vector("scale", state["scale"], made.n_inputs)
        if not made.done:
            made._last = vector("last_counted", state["last_counted"], made.n_inputs)
        return made
