"""Base of regressors whose training data come by blocks of rows, from memory, from a file or from a Dask cluster."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted, validate_data

from icub_learning.errors import DataError
from icub_learning.kernel_methods.estimator import KernelRegressor, check_varying
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
        """Predict (n,) or (n, T), as the targets of `fit` were; for a Dask array, a Dask array not yet computed.

        Raises NotFittedError, DataError.
        """
        if not is_dask(X):
            return super().predict(X)
        check_is_fitted(self, "_coefficients")
        if X.ndim != 2 or X.shape[1] != self.n_features_in_:
            raise DataError(
                f"X has shape {X.shape}, but must be (n, {self.n_features_in_})",
                name="X",
                value=X.shape,
                bound=f"(n, {self.n_features_in_})",
            )
        X = X.rechunk({1: -1})
        if self._one_target:
            return X.map_blocks(super().predict, drop_axis=1, meta=np.empty(0))
        return X.map_blocks(super().predict, chunks=(X.chunks[0], (self._n_targets,)), meta=np.empty((0, 0)))

    def _fit_rows(self, rows: TrainingRows, kernel: Kernel) -> None:
        raise NotImplementedError

    def _read_arrays(self, X: ArrayLike, y: ArrayLike) -> ArrayRows:
        if y is None:
            raise DataError("requires y to be passed, but the target y is None", name="y", bound="(n,) or (n, T)")
        try:
            # float32 passes, so that a file of it is not copied into memory as a whole.
            samples, targets = validate_data(
                self, X, y, multi_output=True, y_numeric=True, dtype=[np.float64, np.float32], ensure_min_samples=2
            )
        except ValueError as error:
            raise DataError(str(error), name="X, y", bound="finite numbers, one row of y for each of X") from error
        self._one_target = targets.ndim == 1
        targets = targets.reshape(len(samples), -1)
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
