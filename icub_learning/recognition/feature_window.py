"""The newest feature vectors: checked one by one, and kept together as long as they belong together."""

from collections import deque

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array, finite, integer, real
from icub_learning.errors import NotFiniteError, SampleError, ShapeError

LARGEST_FEATURE = 1e6  # no network's feature comes near; one such would drown all that was learned
NANOSECONDS = 1_000_000_000


def check_features(values: ArrayLike) -> Array:
    """Return a feature vector as (d,) float64.

    Raises:
        SampleError: with reason "array_size" (empty, or no vector), "not_finite" or "out_of_range".
    """
    try:
        x = finite("features", values)
    except NotFiniteError as error:
        raise SampleError("not_finite", str(error), name=error.name, value=error.value, bound=error.bound) from None
    except ShapeError as error:
        raise SampleError("array_size", str(error), name=error.name, value=error.value, bound=error.bound) from None
    if x.size == 0 or np.ndim(values) != 1:
        shape = np.shape(values)
        raise SampleError("array_size", f"features have shape {shape}, not (d,)", name="features", value=shape)
    largest = float(np.abs(x).max())
    if largest > LARGEST_FEATURE:
        text = f"a feature has the magnitude {largest:g}, more than {LARGEST_FEATURE:g}"
        raise SampleError("out_of_range", text, name="features", value=largest, bound=f"at most {LARGEST_FEATURE:g}")
    return x


class FeatureWindow:
    """The newest vectors of one network, none much older than the newest.

    It keeps features, not scores: so all of them are seen by the model of this moment, with the names of this moment.

    Args:
        size: most vectors kept.
        max_age: of a vector, before the newest one [s].

    Raises:
        ParameterError: an argument is outside its range.
    """

    def __init__(self, size: int, max_age: float) -> None:
        self._max_age = round(real("max_age", max_age, 0.0) * NANOSECONDS)
        self._rows: deque[tuple[int, Array]] = deque(maxlen=integer("smoothing_window", size, 1))
        self._source = ""

    def add(self, stamp: int, source: str, x: Array) -> Array:
        """Take in the newest vector (d,) with its stamp [ns] and network; returns all that belong to it, (k, d)."""
        rows = self._rows
        if rows and (stamp < rows[-1][0] or source != self._source or x.size != rows[-1][1].size):
            rows.clear()  # time was set back, or the features mean something else
        self._source = source
        rows.append((stamp, x))
        while stamp - rows[0][0] > self._max_age:
            rows.popleft()
        return np.stack([row for _, row in rows])

    def clear(self) -> None:
        """Forget all vectors."""
        self._rows.clear()
