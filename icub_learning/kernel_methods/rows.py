"""Training data as blocks of rows: arrays in memory or in a file, by threads, or Dask arrays, by a cluster."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import threadpool_info, threadpool_limits

from icub_learning.arrays import Array
from icub_learning.errors import DataError

LEAST_ROWS_A_THREAD = 2048  # below this, starting a thread costs more than it saves
FAN_IN = 8  # partial sums that one task of a Dask graph adds up

T = TypeVar("T")


class Sum(Protocol):
    """A sum over the rows, computed in one pass; picklable, so that it can travel to where the data are."""

    def start(self) -> tuple[Array, ...]:
        """Zeros to add to."""

    def add(self, totals: tuple[Array, ...], samples: Array, targets: Array) -> None:
        """Add the contribution of rows, samples (r, d) and targets (r, T), to `totals` in place."""


class ArrayRows:
    """Rows of arrays, in memory or memory-mapped; float32 is converted block by block."""

    def __init__(self, samples: NDArray[Any], targets: NDArray[Any]) -> None:
        self.samples = samples
        self.targets = targets
        self.n, self.n_inputs = samples.shape
        self.n_targets = targets.shape[1]
        self.n_threads = max(1, min(blas_threads(), self.n // LEAST_ROWS_A_THREAD))

    def take(self, indices: NDArray[np.int64]) -> Array:
        """Return the samples of the given rows, in the given order."""
        return np.ascontiguousarray(self.samples[indices], dtype=np.float64)

    def sum(self, part: Sum) -> tuple[Array, ...]:
        """Return `part` summed over all rows: one stripe of rows for each thread, in which BLAS is single-threaded."""

        def stripe(start: int, stop: int) -> tuple[Array, ...]:
            totals = part.start()
            part.add(totals, self.samples[start:stop], self.targets[start:stop])
            return totals

        return add_totals(self.in_stripes(stripe))

    def map(self, function: Callable[[Array], Array]) -> Array:
        """Return `function` of the samples, which gives one row for each of theirs."""
        return np.concatenate(self.in_stripes(lambda start, stop: function(self.samples[start:stop])))

    def in_stripes(self, work: Callable[[int, int], T]) -> list[T]:
        """Return what `work` returns for stripes of rows (start, stop), one for each thread, in order."""
        if self.n_threads == 1:
            return [work(0, self.n)]
        edges = np.linspace(0, self.n, self.n_threads + 1).astype(int).tolist()
        with threadpool_limits(1, "blas"), ThreadPoolExecutor(self.n_threads) as pool:
            return list(pool.map(work, edges[:-1], edges[1:]))


class DaskRows:
    """Rows of Dask arrays: each block is reduced where it lies, and only sums travel.

    The current `distributed.Client` runs the work, or Dask's threads if there is none. Blocks lost with a worker are
    computed again.
    """

    def __init__(self, samples: Any, targets: Any) -> None:
        import dask.array

        if samples.ndim != 2 or targets is None or targets.ndim not in (1, 2):
            text = f"X has {samples.ndim} dimensions and must have 2; y must have 1 or 2"
            raise DataError(text, name="X, y", bound="X (n, d), y (n,) or (n, T)")
        if np.isnan(samples.shape[0]):
            samples = samples.compute_chunk_sizes()
        samples = samples.rechunk({1: -1})
        if not isinstance(targets, dask.array.Array):
            targets = dask.array.from_array(np.asarray(targets), chunks=-1)
        if np.isnan(targets.shape[0]):
            targets = targets.compute_chunk_sizes()
        if len(targets) != len(samples):
            text = f"X and y are of inconsistent lengths {len(samples)} and {len(targets)}"
            raise DataError(text, name="y", value=len(targets), bound=f"{len(samples)} rows")
        if samples.dtype.kind not in "fiub" or targets.dtype.kind not in "fiub":
            raise DataError(f"X and y are of type {samples.dtype} and {targets.dtype}, but must be real numbers")
        targets = targets.reshape(len(targets), -1).rechunk({0: samples.chunks[0], 1: -1})
        self.n, self.n_inputs = map(int, samples.shape)
        self.n_targets = targets.shape[1]
        self._samples = samples
        self._blocks = list(
            zip(samples.to_delayed().ravel().tolist(), targets.to_delayed().ravel().tolist(), strict=True)
        )

    def take(self, indices: NDArray[np.int64]) -> Array:
        """Return the samples of the given rows, in the given order."""
        order = np.argsort(indices)
        found = np.asarray(self._samples[indices[order]].compute(), dtype=np.float64)
        out = np.empty_like(found)
        out[order] = found
        return out

    def sum(self, part: Sum) -> tuple[Array, ...]:
        """Return `part` summed over all rows: one task for each block, then sums of sums."""
        from dask import delayed

        shared = delayed(part, pure=False, traverse=False)
        sums = [delayed(_sum_block, pure=False)(shared, samples, targets) for samples, targets in self._blocks]
        while len(sums) > 1:
            sums = [delayed(add_totals, pure=False)(sums[k : k + FAN_IN]) for k in range(0, len(sums), FAN_IN)]
        total: tuple[Array, ...] = sums[0].compute()
        return total

    def extremes(self) -> tuple[Array, Array, NDArray[np.bool_]]:
        """Return the least and the largest value of each target, and whether all samples and all targets are finite."""
        from dask import compute, delayed

        parts = compute(*[delayed(_extremes, pure=False)(samples, targets) for samples, targets in self._blocks])
        low, high, finite = (np.stack(values) for values in zip(*parts, strict=True))
        return low.min(axis=0), high.max(axis=0), np.asarray(finite.all(axis=0))

    def map(self, function: Callable[[Array], Array]) -> Array:
        """Return `function` of the samples, which gives one row for each of theirs."""
        from dask import compute, delayed

        shared = delayed(function, pure=False, traverse=False)
        parts = [delayed(_call, pure=False)(shared, samples) for samples, _ in self._blocks]
        return np.concatenate(compute(*parts))


def is_dask(data: Any) -> bool:
    """Return whether `data` is a Dask array, without importing Dask."""
    return type(data).__module__.partition(".")[0] == "dask"


def add_totals(totals: Sequence[tuple[Array, ...]]) -> tuple[Array, ...]:
    """Return the sum of tuples of arrays; the first may be overwritten."""
    first, *others = totals
    total = tuple(array if array.flags.writeable else array.copy() for array in first)
    for one in others:
        for into, array in zip(total, one, strict=True):
            into += array
    return total


def blas_threads() -> int:
    """Return how many threads BLAS may use at present."""
    return max((pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"), default=1)


def _sum_block(part: Sum, samples: ArrayLike, targets: ArrayLike) -> tuple[Array, ...]:
    totals = part.start()
    part.add(totals, np.asarray(samples), np.asarray(targets))
    return totals


def _extremes(samples: ArrayLike, targets: ArrayLike) -> tuple[Array, Array, NDArray[np.bool_]]:
    values = np.asarray(targets)
    finite = np.array([np.isfinite(samples).all(), np.isfinite(values).all()])
    low = values.min(axis=0, initial=np.inf).astype(np.float64)
    return low, values.max(axis=0, initial=-np.inf).astype(np.float64), finite


def _call(function: Callable[[Array], Array], samples: ArrayLike) -> Array:
    return function(np.asarray(samples))
