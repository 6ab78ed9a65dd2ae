"""The kernel matrix of samples and centres, kept in single precision so that each iteration only reads it."""

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array
from icub_learning.kernel_methods.kernels import Kernel, blocks, rows_per_block
from icub_learning.kernel_methods.memory import available_bytes
from icub_learning.kernel_methods.rows import ArrayRows, add_totals

BOUNDED = ("gaussian", "matern")  # kernels whose values lie between 0 and 1
SHARE = 0.25  # of the available memory that the matrix may take
CHECKED_ROWS = 4096  # on which rounding is measured


class StoredKernel:
    """The kernel matrix K_nm (n, m) of samples and centres, in single precision.

    It is computed once, in double precision and together with K_nm^T Y; products then only read it. They are summed
    over blocks in double. A block is read twice, the second time from the cache, so that a product costs one pass
    through memory instead of n m kernels.

    Args:
        rows: the samples and targets.
        kernel: one of BOUNDED.
        centers: (m, d).

    Attributes:
        moment: (m, T), K_nm^T Y, in double precision.

    Raises:
        MemoryError: the matrix does not fit.
    """

    def __init__(self, rows: ArrayRows, kernel: Kernel, centers: Array) -> None:
        self._rows = rows
        self._against = against = kernel.against(centers)
        self._matrix: NDArray[np.float32] = np.empty((rows.n, len(centers)), dtype=np.float32)

        def fill(start: int, stop: int) -> tuple[Array]:
            moment = np.zeros((len(centers), rows.n_targets))
            buffer = np.empty((rows_per_block(len(centers)), len(centers)))
            for part in blocks(stop - start, len(buffer)):
                some = slice(start + part.start, start + part.stop)
                x = np.asarray(rows.samples[some], dtype=np.float64)
                block = against(x, buffer[: len(x)])
                moment += block.T @ rows.targets[some]
                self._matrix[some] = block
            return (moment,)

        (self.moment,) = add_totals(rows.in_stripes(fill))

    @staticmethod
    def make(rows: object, kernel: Kernel, centers: Array) -> "StoredKernel | None":
        """Return the matrix; None if rows are elsewhere, the kernel is not bounded, or memory is short."""
        if not isinstance(rows, ArrayRows) or kernel.kernel not in BOUNDED:
            return None
        if 4 * rows.n * len(centers) > SHARE * available_bytes():
            return None
        try:
            return StoredKernel(rows, kernel, centers)
        except MemoryError:  # a limit of this process that the system does not tell
            return None

    def product(self, vectors: Array) -> Array:
        """Return K_nm^T K_nm vectors, (m, T), for vectors (m, T), rounded in single precision."""
        scale, single = _scaled(vectors)

        def multiply(start: int, stop: int) -> tuple[Array]:
            total = np.zeros_like(vectors)
            for part in blocks(stop - start, 2 * rows_per_block(len(single))):
                block = self._matrix[start + part.start : start + part.stop]
                total += block.T @ (block @ single)
            return (total,)

        (total,) = add_totals(self._rows.in_stripes(multiply))
        return np.asarray(total * scale)

    def rounding(self, vectors: Array) -> Array:
        """Return the error of `product` (m, T), estimated from above.

        It is computed on evenly spaced rows, and enlarged as if the errors of the others had the same signs.
        """
        rows = self._rows
        places = np.unique(np.linspace(0, rows.n - 1, min(rows.n, CHECKED_ROWS)).astype(np.int64))
        double = self._against(rows.take(places))
        scale, single = _scaled(vectors)
        block = self._matrix[places]
        error: Array = (block.T @ (block @ single)) * scale - double.T @ (double @ vectors)
        return np.asarray(error * (rows.n / len(places)))


def _scaled(vectors: Array) -> tuple[Array, NDArray[np.float32]]:
    """Return the columns' largest magnitudes (T,), and the columns divided by them: nothing overflows or vanishes."""
    scale: Array = np.maximum(np.abs(vectors).max(axis=0), np.finfo(float).tiny)
    return scale, (vectors / scale).astype(np.float32)
