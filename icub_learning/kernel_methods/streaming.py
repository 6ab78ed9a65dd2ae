"""Base of regressors that read their training data in blocks of rows: from memory, a file or a Dask cluster."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from icub_learning.errors import DataError
from icub_learning.kernel_methods.estimator import KernelRegressor, check_varying, read_training_data
from icub_learning.kernel_methods.kernels import Kernel
from icub_learning.kernel_methods.rows import ArrayRows, DaskRows, is_dask

TrainingRows = ArrayRows | DaskRows


class StreamingRegressor(KernelRegressor):
    """Base: a subclass defines `_fit_rows(rows, kernel)` and reads the data by `rows.take` and `rows.sum` alone."""

    def fit(self, X: Any, y: Any) -> "StreamingRegressor":
        """Learn from samples X (n, d) and targets y (n,) or (n, T): arrays, memory-mapped arrays or Dask arrays.

        Raises:
            DataError: X or y is not numeric, not finite, of unequal length, or a target is constant.
            ParameterError, ShapeError: a setting is outside its range; the message names the bound.
        """
        kernel = self._make_kernel()
        rows = self._read_dask(X, y) if is_dask(X) else self._read_arrays(X, y)
        self._fit_rows(rows, kernel)
        return self

    def predict(self, X: Any) -> Any:
        """Predict (n,) or (n, T), as `fit` had targets, lazily for a Dask array. Raises NotFittedError, DataError."""
        if not is_dask(X):
            return super().predict(X)
        check_is_fitted(self, "_coefficients")
        if X.ndim != 2 or X.shape[1] != self.n_features_in_:
            bound = f"(n, {self.n_features_in_})"
            raise DataError(f"X has shape {X.shape}, but must be {bound}", name="X", value=X.shape, bound=bound)
        X = X.rechunk({1: -1})
        if self._one_target:
            return X.map_blocks(super().predict, drop_axis=1, meta=np.empty(0))
        return X.map_blocks(super().predict, chunks=(X.chunks[0], (self._n_targets,)), meta=np.empty((0, 0)))

    def _fit_rows(self, rows: TrainingRows, kernel: Kernel) -> None:
        raise NotImplementedError

    def _read_arrays(self, X: ArrayLike, y: ArrayLike) -> ArrayRows:
        # float32 passes, so that a file of it is not copied into memory as a whole.
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
        self._one_target, self._n_targets = y.ndim == 1, rows.n_targets
        self.n_features_in_ = rows.n_inputs
        check_varying(low, high)
        return rows
