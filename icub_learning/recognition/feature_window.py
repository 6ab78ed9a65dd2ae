"""Checks of feature vectors, and the window of the newest ones, whose scores recognition averages."""

from collections import deque

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array, finite, integer, real
from icub_learning.errors import NotFiniteError, SampleError, ShapeError

LARGEST_FEATURE = 1e6  # largest magnitude of a feature, far above any network's; a larger one would dominate the model
NANOSECONDS = 1_000_000_000  # nanoseconds in one second


def check_features(values: ArrayLike) -> Array:
    """Return features as (d,) float64. Raises SampleError: "array_size", "not_finite" or "out_of_range"."""
    try:
        x = finite("features", values)
    except (NotFiniteError, ShapeError) as error:
        reason = "not_finite" if isinstance(error, NotFiniteError) else "array_size"
        raise SampleError(reason, str(error), name=error.name, value=error.value, bound=error.bound) from None
    if x.size == 0 or np.ndim(values) != 1:
        text = f"features have shape {np.shape(values)}, not (d,)"
        raise SampleError("array_size", text, name="features", value=np.shape(values))
    largest = float(np.abs(x).max())
    if largest > LARGEST_FEATURE:
        text = f"a feature has the magnitude {largest:g}, more than {LARGEST_FEATURE:g}"
        raise SampleError("out_of_range", text, name="features", value=largest, bound=f"at most {LARGEST_FEATURE:g}")
    return x


class FeatureWindow:
    """The newest feature vectors of one network: at most `size`, none older than the newest by more than max_age [s].
    It keeps features, not scores, so that the current model scores all of them. Raises ParameterError."""

    def __init__(self, size: int, max_age: float) -> None:
        self._max_age = round(real("max_age", max_age, 0.0) * NANOSECONDS)
        self._rows: deque[tuple[int, Array]] = deque(maxlen=integer("smoothing_window", size, 1))
        self._source = ""

    def add(self, stamp: int, source: str, x: Array) -> Array:
        """Add a vector x (d,), return all (k, d); the window is emptied if time goes back or the network changes."""
        rows = self._rows
        if rows and (stamp < rows[-1][0] or source != self._source or x.size != rows[-1][1].size):
            rows.clear()
        self._source = source
        rows.append((stamp, x))
        while stamp - rows[0][0] > self._max_age:
            rows.popleft()
        return np.stack([row for _, row in rows])

    def clear(self) -> None:
        """Remove all vectors."""
        self._rows.clear()
