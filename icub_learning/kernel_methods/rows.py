"""Training data read in blocks of rows: arrays in memory or a file, read by threads, or Dask arrays, by a cluster."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_info, threadpool_limits

from icub_learning.arrays import Array
from icub_learning.errors import DataError
from icub_learning.kernel_methods.estimator import (
    KernelRegressor,
    check_magnitude,
    check_varying,
    read_training_data,
    unchanged_after_errors,
)
from icub_learning.kernel_methods.kernels import Kernel

LEAST_ROWS_A_THREAD = 2048  # below this, starting a thread costs more than it saves
FAN_IN = 8  # partial sums that one task of a Dask graph adds up

T = TypeVar("T")
# A sum over rows, samples (r, d) and targets (r, T); picklable, so that it can travel to where the data are.
Sum = Callable[[NDArray[Any], NDArray[Any]], tuple[Array, ...]]


class ArrayRows:
    """Rows of arrays, in memory or memory-mapped; float32 is converted block by block."""

    def __init__(self, samples: NDArray[Any], targets: NDArray[Any]) -> None:
        self.samples, self.targets = samples, targets
        self.n, self.n_inputs = samples.shape
        self.n_targets = targets.shape[1]
        of_blas = max((pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"), default=1)
        self.n_threads = max(1, min(of_blas, self.n // LEAST_ROWS_A_THREAD))

    def take(self, indices: NDArray[np.int64]) -> Array:
        """Return the samples of the given rows, in the given order."""
        return np.ascontiguousarray(self.samples[indices], dtype=np.float64)

    def sum(self, part: Sum) -> tuple[Array, ...]:
        """Return `part` summed over all rows: one stripe of rows for each thread, in which BLAS is single-threaded."""
        return add_totals(self.in_stripes(lambda start, stop: part(self.samples[start:stop], self.targets[start:stop])))

    def map(self, function: Callable[[Array], Array]) -> Array:
        """Return `function` of all samples; it returns one row for each sample."""
        return np.concatenate(self.in_stripes(lambda start, stop: function(self.samples[start:stop])))

    def in_stripes(self, work: Callable[[int, int], T]) -> list[T]:
        """Return the results of `work(start, stop)` for stripes of rows, one for each thread, in order."""
        if self.n_threads == 1:
            return [work(0, self.n)]
        edges = np.linspace(0, self.n, self.n_threads + 1).astype(int).tolist()
        with threadpool_limits(1, "blas"), ThreadPoolExecutor(self.n_threads) as pool:
            return list(pool.map(work, edges[:-1], edges[1:]))


class DaskRows:
    """Rows of Dask arrays: the current client reduces each block where it lies, and only sums are sent."""

    def __init__(self, samples: Any, targets: Any) -> None:
        import dask.array

        if targets is not None and not isinstance(targets, dask.array.Array):
            targets = dask.array.from_array(np.asarray(targets), chunks=-1)
        if samples.ndim != 2 or targets is None or targets.ndim not in (1, 2):
            text = f"X has {samples.ndim} dimensions and must have 2; y must have 1 or 2"
            raise DataError(text, name="X, y", bound="X (n, d), y (n,) or (n, T)")
        if np.isnan(samples.shape[0]):
            samples = samples.compute_chunk_sizes()
        samples = samples.rechunk({1: -1})
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
        self._samples, self._targets = samples, targets
        self._blocks = list(zip(*(data.to_delayed().ravel().tolist() for data in (samples, targets)), strict=True))

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
        sums = [delayed(_call, pure=False)(shared, *block) for block in self._blocks]
        while len(sums) > 1:
            sums = [delayed(add_totals, pure=False)(sums[k : k + FAN_IN]) for k in range(0, len(sums), FAN_IN)]
        return tuple(sums[0].compute())

    def extremes(self) -> tuple[Array, Array, NDArray[np.bool_]]:
        """Return the least and the largest value of each target, and whether all samples and all targets are finite."""
        from dask import compute
        from dask.array import isfinite

        x, y = self._samples, self._targets.astype(np.float64)
        low, high, *finite = compute(y.min(axis=0), y.max(axis=0), isfinite(x).all(), isfinite(y).all())
        return low, high, np.array(finite)

    def map(self, function: Callable[[Array], Array]) -> Array:
        """Return `function` of all samples; it returns one row for each sample."""
        from dask import compute, delayed

        shared = delayed(function, pure=False, traverse=False)
        parts = [delayed(_call, pure=False)(shared, samples) for samples, _ in self._blocks]
        return np.concatenate(compute(*parts))


TrainingRows = ArrayRows | DaskRows


class StreamingRegressor(KernelRegressor):
    """Base: a subclass defines `_fit_rows(rows, kernel)` and reads the data by `rows.take` and `rows.sum` alone."""

    @unchanged_after_errors
    def fit(self, X: Any, y: Any) -> "StreamingRegressor":
        """Learn from arrays, memory-mapped arrays or Dask arrays; see `KernelRegressor.fit`."""
        self.kernel_ = self._make_kernel()
        self._fit_rows(self._read_dask(X, y) if is_dask(X) else self._read_arrays(X, y), self.kernel_)
        return self

    def predict(self, X: Any) -> Any:
        """Predict (n,) or (n, T), shaped as the targets of `fit`, lazily for Dask. Raises NotFittedError, DataError."""
        if not is_dask(X):
            return super().predict(X)
        check_is_fitted(self, "_coefficients")
        if X.ndim != 2 or X.shape[1] != self.n_features_in_:
            bound = f"(n, {self.n_features_in_})"
            raise DataError(f"X has shape {X.shape}, but must be {bound}", name="X", value=X.shape, bound=bound)
        X = X.rechunk({1: -1})
        if self._one_target:
            return X.map_blocks(self._predict_block, drop_axis=1, meta=np.empty(0))
        return X.map_blocks(self._predict_block, chunks=(X.chunks[0], (self._n_targets,)), meta=np.empty((0, 0)))

    def _predict_block(self, block: Array) -> Any:
        return super().predict(block) if len(block) else np.empty(0 if self._one_target else (0, self._n_targets))

    def _fit_rows(self, rows: TrainingRows, kernel: Kernel) -> None:
        raise NotImplementedError

    def _read_arrays(self, X: ArrayLike, y: ArrayLike) -> ArrayRows:
        # float32 stays as it is, so that a file of float32 is not copied into memory as a whole.
        types = [np.float64, np.float32]
        samples, targets, self._one_target = read_training_data(self, X, y, dtype=types, ensure_min_samples=2)
        if targets.dtype.kind != "f":
            targets = targets.astype(np.float64)
        self._n_targets = targets.shape[1]
        check_varying(targets.min(axis=0), targets.max(axis=0))
        return ArrayRows(samples, targets)

    def _read_dask(self, X: Any, y: Any) -> DaskRows:
        rows = DaskRows(X, y)
        if rows.n < 2:
            raise DataError(f"n_samples={rows.n}, but must be 2 at least", name="X", value=rows.n, bound="2 rows")
        low, high, finite = rows.extremes()
        for name, good in zip(("X", "y"), finite, strict=True):
            if not good:
                raise DataError(f"Input {name} contains NaN or infinity", name=name, bound="finite")
        self._one_target, self._n_targets = np.ndim(y) == 1, rows.n_targets
        self.n_features_in_ = rows.n_inputs
        check_magnitude(float(max(-low.min(), high.max())))
        check_varying(low, high)
        return rows


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


def _call(function: Callable[..., Any], *arrays: ArrayLike) -> Any:
    return function(*map(np.asarray, arrays))
