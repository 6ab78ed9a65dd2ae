"""Memory for the arrays of a computation that is done again and again, taken once."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array

CHUNK = 32  # rows of a large matrix that are worked on at once, where a result as large as the matrix is not needed


class Workspace:
    """One block of memory that is cut into arrays, so that computing anew takes no more memory than before.

    Blocks of megabytes that are allocated and freed each time make the resident memory of a process go up and down,
    since the C library keeps some of them. What does not fit is allocated as any array is.

    Args:
        size: numbers in the block.
    """

    def __init__(self, size: int) -> None:
        self._memory = np.full(size, 0.0)  # zeros would not take it
        self._used = 0

    def take(self, n_rows: int, n_columns: int) -> Array:
        """Return an array (n_rows, n_columns) of arbitrary numbers, valid until `clear` or the end of `scratch`."""
        start, self._used = self._used, self._used + n_rows * n_columns
        if self._used > len(self._memory):
            self._used = start
            return np.empty((n_rows, n_columns))
        return self._memory[start : self._used].reshape(n_rows, n_columns)

    @contextmanager
    def scratch(self) -> Iterator[None]:
        """Give the memory of all arrays that are taken in this block back when it ends."""
        used = self._used
        try:
            yield
        finally:
            self._used = used

    def clear(self) -> None:
        """Give the memory of all arrays back."""
        self._used = 0


def chunks(n: int) -> Iterator[slice]:
    """Yield slices that together are all of n rows, at most CHUNK in each."""
    for start in range(0, n, CHUNK):
        yield slice(start, min(start + CHUNK, n))


def gathered(matrix: Array, rows: NDArray[np.intp], columns: NDArray[np.intp], out: Array) -> Array:
    """Return rows and columns of a matrix, written to `out`; indexing by both would allocate it."""
    for row, target in zip(rows, out, strict=True):
        np.take(matrix[row], columns, out=target, mode="clip")  # other modes copy first
    return out
