"""What all kernel regressors share: scikit-learn's conventions, checks of data, prediction by blocks, paths."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from icub_learning.arrays import Array, finite, integer, real
from icub_learning.errors import DataError, ParameterError, ShapeError
from icub_learning.kernel_methods.kernels import Kernel, blocks, rows_per_block, sample_rows

DEFAULT_CENTERS = 100


class KernelRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Base of regressors f(x) = sum_j k(x, centers_[j]) dual_coef_[j], for n x T targets.

    A subclass takes its settings as keywords, sets `centers_`, `_coefficients` (m, T), `path_levels_` and
    `_path` (levels, m, T) in `_fit(X, Y)`, and leaves the rest to this class. There is no intercept, as in the
    sources: center the target where its mean is not zero.
    """

    kernel: Any
    length_scale: float
    degree: int
    random_state: Any
    centers_: Array
    path_levels_: Any
    _coefficients: Array
    _path: Array

    def fit(self, X: ArrayLike, y: ArrayLike) -> "KernelRegressor":
        """Learn from samples X (n, d) and targets y (n,) or (n, T).

        Raises:
            DataError: X or y is not numeric, not finite, of unequal length, or a target is constant.
            ParameterError, ShapeError: a setting is outside its range; the message names the bound.
        """
        kernel = self._make_kernel()
        samples, targets = self._check_data(X, y)
        self._fit(samples, targets, kernel)
        return self

    def predict(self, X: ArrayLike) -> Array:
        """Predict (n,) or (n, T), as the targets of `fit` were. Raises NotFittedError, DataError."""
        samples = self._check_samples(X)
        predicted = self._apply(samples, self._coefficients)
        return predicted[:, 0] if self._one_target else predicted

    def predict_path(self, X: ArrayLike) -> Array:
        """Predict with the solution at every level of `path_levels_`: (levels, n, T), T = 1 for a 1-D target."""
        samples = self._check_samples(X)
        levels, m, n_targets = self._path.shape
        flat = self._path.transpose(1, 0, 2).reshape(m, levels * n_targets)
        predicted = self._apply(samples, flat)
        return np.ascontiguousarray(predicted.reshape(len(samples), levels, n_targets).transpose(1, 0, 2))

    @property
    def dual_coef_(self) -> Array:
        """Coefficients of the centres: (m,) for a 1-D target, else (m, T)."""
        check_is_fitted(self, "_coefficients")
        return self._coefficients[:, 0] if self._one_target else self._coefficients

    def _fit(self, samples: Array, targets: Array, kernel: Kernel) -> None:
        raise NotImplementedError

    def _make_kernel(self) -> Kernel:
        return Kernel(self.kernel, self.length_scale, self.degree)

    def _check_data(self, X: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
        """Samples (n, d) and targets (n, T), both float64; sets n_features_in_ and the shape of predictions."""
        if y is None:
            raise DataError("requires y to be passed, but the target y is None", name="y", bound="(n,) or (n, T)")
        try:
            samples, targets = validate_data(
                self, X, y, multi_output=True, y_numeric=True, dtype=np.float64, order="C", ensure_min_samples=2
            )
        except ValueError as error:
            raise DataError(str(error), name="X, y", bound="finite numbers, one row of y for each of X") from error
        self._one_target = targets.ndim == 1
        targets = np.ascontiguousarray(targets.reshape(len(samples), -1), dtype=np.float64)
        check_varying(targets.min(axis=0), targets.max(axis=0))
        return samples, targets

    def _check_samples(self, X: ArrayLike) -> Array:
        check_is_fitted(self, "_coefficients")
        try:
            return validate_data(self, X, reset=False, dtype=np.float64, order="C")
        except ValueError as error:
            raise DataError(str(error), name="X", bound=f"finite numbers, (n, {self.n_features_in_})") from error

    def _apply(self, samples: Array, coefficients: Array) -> Array:
        """sum_j k(x_i, centers_[j]) coefficients[j], (n, columns), without holding the whole kernel matrix."""
        against = self._make_kernel().against(self.centers_)
        out = np.empty((len(samples), coefficients.shape[1]))
        for rows in blocks(len(samples), rows_per_block(len(self.centers_))):
            np.matmul(against(samples[rows]), coefficients, out=out[rows])
        return out


def check_varying(low: Array, high: Array) -> None:
    """Raise DataError for the first constant target, of which there is nothing to learn."""
    constant = np.flatnonzero(low == high)
    if constant.size:
        column = int(constant[0])
        raise DataError(
            f"y: target {column} is constant at {low[column] + 0.0:g}, but must take two values at least",
            name="y",
            value=float(low[column]),
            bound="two different values in each target",
        )


def check_regularization(value: Any) -> float:
    """lambda > 0. Raises ParameterError."""
    return real("regularization", value, 0.0, low_open=True)


def check_levels(name: str, values: Iterable[float] | None, default: ArrayLike) -> Array:
    """The positive, strictly monotonic levels of a path, or `default`. Raises ParameterError, ShapeError."""
    if values is None:
        return finite(name, default)
    levels = finite(name, list(values))
    if levels.ndim != 1 or not levels.size:
        raise ShapeError(name, levels.shape, "a sequence of at least one number")
    steps = np.diff(levels)
    if levels.min() <= 0 or not ((steps > 0).all() or (steps < 0).all()):
        raise ParameterError(name, levels.tolist(), "positive numbers in strictly increasing or decreasing order")
    return levels


def check_n_centers(n_centers: Any, n: int) -> int:
    """m <= n. The default becomes n where there are fewer samples; any other number beyond n is refused."""
    m = integer("n_centers", n_centers, 1)
    if m > n:
        if m != DEFAULT_CENTERS:
            raise ParameterError("n_centers", m, f"at most the number of samples, {n}")
        m = n
    return m


def check_centers(centers: ArrayLike, n_inputs: int) -> Array:
    """Given centres as a float64 array (m, d). Raises ShapeError, NotFiniteError."""
    given = finite("centers", centers)
    if given.ndim != 2 or given.shape[1] != n_inputs or not len(given):
        raise ShapeError("centers", given.shape, f"(m, {n_inputs}) with m >= 1")
    return given.copy()


def draw_uniform(samples: Array, m: int, random: Any) -> Array:
    """m rows of `samples` drawn uniformly without replacement, in random order."""
    return np.ascontiguousarray(samples[sample_rows(random, len(samples), m)], dtype=np.float64)
