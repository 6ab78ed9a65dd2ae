"""The kernel matrix of samples and centres, kept in single precision so that each iteration only reads it."""

import mmap
from copy import copy

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array
from icub_learning.kernel_methods.kernels import KernelAgainst, blocks, rows_per_block
from icub_learning.kernel_methods.memory import available_bytes
from icub_learning.kernel_methods.rows import ArrayRows, add_totals

BOUNDED = ("gaussian", "matern")  # kernels whose values lie between 0 and 1; of others too many digits cancel
BYTES = 4  # bytes of one kept value
SHARE = 0.25  # share of the available memory that the matrix may take
BLOCK_BYTES = 2**20  # [bytes] a block of doubles; its single precision stays in the cache between its two products


class StoredKernel:
    """The matrix K_nm (n, m) of samples and centres, for a kernel in BOUNDED, in single precision.

    It is computed once, in double precision and together with the `moment` K_nm^T Y (m, T). Raises MemoryError.
    """

    def __init__(self, rows: ArrayRows, against: KernelAgainst) -> None:
        self._rows, m = rows, against.n_features
        self._values = _small_pages(rows.n, m)
        self._size = rows_per_block(m, BLOCK_BYTES)

        def fill(start: int, stop: int) -> tuple[Array]:
            moment = np.zeros((m, rows.n_targets))
            buffer = np.empty((min(self._size, stop - start), m))
            for part in blocks(stop - start, self._size):
                some = slice(start + part.start, start + part.stop)
                x = np.asarray(rows.samples[some], dtype=np.float64)
                block = against(x, buffer[: len(x)])
                self._values[some] = block
                moment += block.T @ rows.targets[some]
            return (moment,)

        (self.moment,) = add_totals(rows.in_stripes(fill))

    @staticmethod
    def make(rows: object, against: KernelAgainst) -> "StoredKernel | None":
        """Return the matrix, or None for Dask rows, for a kernel that is not in BOUNDED, or if memory is short."""
        if not isinstance(rows, ArrayRows) or against.kernel.kernel not in BOUNDED:
            return None
        if BYTES * rows.n * against.n_features > SHARE * available_bytes():
            return None
        try:
            return StoredKernel(rows, against)
        except MemoryError:  # a memory limit of this process that `available_bytes` does not see
            return None

    def thinned(self, rows: ArrayRows, step: int) -> "StoredKernel":
        """Return the matrix of every `step`-th row, a view, for `product` alone."""
        some = copy(self)
        some._rows, some._values = rows, self._values[::step]
        return some

    def product(self, vectors: Array) -> Array:
        """Return K_nm^T K_nm vectors, (m, T), for vectors (m, T): blocks in single precision, their sum in double."""
        scale = np.maximum(np.abs(vectors).max(axis=0), np.finfo(float).tiny)  # no product overflows or vanishes
        scaled = (vectors / scale).astype(np.float32)

        def multiply(start: int, stop: int) -> tuple[Array]:
            total = np.zeros(scaled.shape)
            for part in blocks(stop - start, self._size):
                block = self._values[start + part.start : start + part.stop]
                total += block.T @ (block @ scaled)
            return (total,)

        (total,) = add_totals(self._rows.in_stripes(multiply))
        return np.asarray(total * scale)


def _small_pages(rows: int, columns: int) -> NDArray[np.float32]:
    """Return zeros (rows, columns) in memory pages of normal size: huge ones, as NumPy asks for, take long to clear."""
    size = BYTES * rows * columns
    try:
        return np.frombuffer(mmap.mmap(-1, size), np.float32).reshape(rows, columns)
    except OSError as error:
        raise MemoryError(f"{size} bytes for a kernel matrix") from error
