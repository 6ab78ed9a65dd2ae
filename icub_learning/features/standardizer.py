"""Running mean and scale of a stream of samples."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array, integer, rows
from icub_learning.errors import ParameterError
from icub_learning.models.declared import ANY, NOT_NEGATIVE, Declared, entries

CONSTANT = 1e-12  # standard deviation over the mean up to which an input varies by rounding only
LARGEST_VALUE = 1e100  # largest magnitude of an input: squares of larger ones and their sums could overflow


class Standardizer(Declared):
    """Scales each input to zero mean and unit variance over the samples seen so far.

    Mean and variance follow by Welford's recurrence (exact, one pass, no cancellation). The scale is the population
    standard deviation, or 1 for a constant input (whose deviation is at most 1e-12 of its mean), so that `transform`
    is always defined and rounding is never magnified. Raises ParameterError: n_inputs is not a positive integer.
    """

    STATE = entries(mean=ANY, squares=NOT_NEGATIVE, n_samples=NOT_NEGATIVE)

    def __init__(self, n_inputs: int) -> None:
        self.n_inputs = integer("n_inputs", n_inputs, 1)
        self.n_samples = 0
        self.mean = np.zeros(self.n_inputs)  # unit of the input
        self._squares = np.zeros(self.n_inputs)  # sum of squared deviations from the mean
        self.scale = np.ones(self.n_inputs)  # unit of the input

    def update(self, x: ArrayLike) -> None:
        """Include one sample (n_inputs,) or several (k, n_inputs). Raises ShapeError, NotFiniteError, ParameterError (a
        magnitude above 1e100); nothing changes then."""
        x_rows, _ = rows("x", x, self.n_inputs)
        if x_rows.size and np.abs(x_rows).max() > LARGEST_VALUE:
            raise ParameterError("x", float(np.abs(x_rows).max()), f"of magnitude at most {LARGEST_VALUE:g}")
        for row in x_rows:
            self.n_samples += 1
            before = row - self.mean
            self.mean += before / self.n_samples
            self._squares += before * (row - self.mean)
        self._refresh_scale()

    def transform(self, x: ArrayLike) -> Array:
        """Return (x - mean) / scale, of the shape of x. Raises ShapeError, NotFiniteError."""
        x_rows, single = rows("x", x, self.n_inputs)
        standardized = (x_rows - self.mean) / self.scale
        return standardized[0] if single else standardized

    @classmethod
    def _new(cls, state: Mapping[str, Any], *sizes: Any) -> "Standardizer":
        return cls(np.size(state["mean"]))

    def restored(self, state: Mapping[str, Any]) -> "Standardizer":
        """Return a standardizer with what `state` saved. Raises StateError that names the entry which does not fit."""
        made = super().restored(state)
        made._refresh_scale()
        return made

    def _refresh_scale(self) -> None:
        deviation = np.sqrt(self._squares / max(self.n_samples, 1))
        constant = deviation <= CONSTANT * np.abs(self.mean)  # computed inputs that should be constant vary by rounding
        self.scale = np.where(constant, 1.0, deviation)
