"""The kernel matrix of samples and centres, kept in fixed point so that each iteration only reads it."""

import math
import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array
from icub_learning.kernel_methods.kernels import KernelAgainst, blocks, rows_per_block
from icub_learning.kernel_methods.memory import available_bytes
from icub_learning.kernel_methods.rows import ArrayRows, add_totals
from icub_learning.kernel_methods.subsampling import _stored

BOUNDED = ("gaussian", "matern")  # kernels whose values lie between 0 and 1
UNIT = 1 / (256 * 65535)  # spacing of kept values
COARSE_UNIT = 1 / 65535  # spacing of values that are read by their leading 16 bits alone
BYTES = 3  # bytes of one kept value
SHARE = 0.25  # share of the available memory that the matrix may take
BLOCK_BYTES = 2**19  # [bytes] a block of doubles, which stays in the second-level cache from one step to the next
CHECKED_ROWS = 1024  # rows on which rounding is measured, if there are more than four times as many


class StoredKernel:
    """The matrix K_nm (n, m) of samples and centres, for a kernel in BOUNDED, to 24 bits after the point.

    It is computed once, in double precision and together with the `moment` K_nm^T Y (m, T); products, summed in double,
    read all 24 bits or the leading 16, which takes half the time. Raises MemoryError: the matrix does not fit.
    """

    def __init__(self, rows: ArrayRows, against: KernelAgainst) -> None:
        self._rows, self._against, m = rows, against, against.n_features
        self._high: NDArray[np.uint16] = _small_pages((rows.n, m), np.uint16)
        self._low: NDArray[np.int8] = _small_pages((rows.n, m), np.int8)

        # The exponential of a Gaussian kernel and its rounding to fixed point are one pass over a block.
        fused = against.kernel.kernel == "gaussian"
        compute = against.exponents if fused else against

        def fill(start: int, stop: int) -> tuple[Array]:
            moment = np.zeros((m, rows.n_targets))
            buffer = np.empty((min(rows_per_block(m, BLOCK_BYTES), stop - start), m))
            for part in blocks(stop - start, len(buffer)):
                some = slice(start + part.start, start + part.stop)
                x = np.asarray(rows.samples[some], dtype=np.float64)
                block = compute(x, buffer[: len(x)])
                _stored.keep(self._high[some], self._low[some], block, len(x), m, fused)
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

    def product(self, vectors: Array, coarse: bool = False) -> Array:
        """Return K_nm^T K_nm vectors, (m, T), for vectors (m, T); `coarse` reads the leading 16 bits alone."""
        scale = np.maximum(np.abs(vectors).max(axis=0), np.finfo(float).tiny)  # no product overflows or vanishes
        scaled = vectors / scale
        one = np.ascontiguousarray(scaled[:, 0]) if scaled.shape[1] == 1 else None

        def multiply(start: int, stop: int) -> tuple[Array]:
            high, low = self._high[start:stop], None if coarse else self._low[start:stop]
            count, m = high.shape
            total = np.zeros(scaled.shape)
            if one is not None:
                _stored.add_product(total, one, np.empty(m), high, low, count, m)
                return (total,)
            buffer = np.empty((min(rows_per_block(m, BLOCK_BYTES), count), m))
            for part in blocks(count, len(buffer)):
                block = buffer[: part.stop - part.start]
                _stored.expand(block, high[part], None if low is None else low[part], len(block), m)
                total += block.T @ (block @ scaled)
            return (total,)

        (total,) = add_totals(self._rows.in_stripes(multiply))
        return np.asarray(total * scale)

    def rounding(self, vectors: Array) -> Array:
        """Return an upper estimate of the error of `product` (m, T), from spaced rows as if all errors had one sign."""
        rows, m = self._rows, self._high.shape[1]
        # Of few rows, a subset could miss the errors of the rest; of many, the scaling leaves a margin.
        count = CHECKED_ROWS if rows.n > 4 * CHECKED_ROWS else rows.n
        places = np.linspace(0, rows.n - 1, count).astype(np.int64)
        samples = rows.take(places)
        size = min(rows_per_block(m, BLOCK_BYTES), len(places))
        double, kept, error = np.empty((size, m)), np.empty((size, m)), np.zeros(vectors.shape)
        for part in blocks(len(places), size):
            exact = self._against(samples[part], double[: part.stop - part.start])
            block, some = kept[: len(exact)], places[part]
            _stored.expand(block, self._high[some], self._low[some], len(block), m)
            error += block.T @ (block @ vectors) - exact.T @ (exact @ vectors)
        return np.asarray(error * (rows.n / len(places)))


def _small_pages(shape: tuple[int, int], dtype: Any) -> NDArray[Any]:
    """Return zeros in pages of normal size: finding the huge pages that NumPy requests took longer than a fit."""
    size = np.dtype(dtype).itemsize * math.prod(shape)
    try:
        memory = mmap.mmap(-1, max(size, 1))
    except OSError as error:
        raise MemoryError(f"{size} bytes for a kernel matrix") from error
    return np.asarray(np.ndarray(shape, dtype, memory))
