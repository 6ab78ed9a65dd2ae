"""What kernel regressors share: their settings, scikit-learn's conventions, checks of data, prediction by blocks."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin, clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from icub_learning.arrays import Array, finite, real
from icub_learning.errors import DataError, ParameterError, ShapeError
from icub_learning.kernel_methods.kernels import LARGEST, Kernel, KernelFunction, Seed, blocks, rows_per_block

MethodT = TypeVar("MethodT", bound=Callable[..., Any])


def unchanged_after_errors(method: MethodT) -> MethodT:
    """Decorate a method that learns: if any error ends it, the estimator has what it had before."""

    @wraps(method)
    def guarded(self: Any, *given: Any, **more: Any) -> Any:
        before = self.__dict__.copy()
        try:
            return method(self, *given, **more)
        except Exception:
            self.__dict__ = before
            raise

    return cast(MethodT, guarded)


@dataclass(kw_only=True, eq=False, repr=False)
class KernelSettings:
    """Settings of all kernel estimators: scikit-learn reads them from the dataclass's `__init__`, `fit` checks them."""

    kernel: str | KernelFunction = "gaussian"
    length_scale: float = 1.0
    degree: int = 3
    regularization: float = 1e-6

    def _make_kernel(self) -> Kernel:
        kernel = clone(self.kernel) if hasattr(self.kernel, "get_params") else self.kernel  # whose settings may change
        return Kernel(kernel, self.length_scale, self.degree)


@dataclass(kw_only=True, eq=False, repr=False)
class KernelRegressor(KernelSettings, MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Base of regressors f(x) = sum_j k(x, centers_[j]) dual_coef_[j], for n x T targets.

    A subclass sets `centers_`, `_coefficients` (m, T), `path_levels_` and `_path` (levels, m, T) in `_fit(samples,
    targets, kernel)`. Predictions use the kernel of the fit, `kernel_`, whatever `set_params` sets later. There is no
    intercept: center targets whose mean is not zero. `random_state`, an integer, RandomState or None, seeds all draws.
    """

    random_state: Seed = None
    kernel_: Kernel = field(init=False)  # the kernel of the last fit
    centers_: Array = field(init=False)  # (m, d), the centres of the kernel functions
    path_levels_: NDArray[Any] = field(init=False)  # the levels at which `predict_path` predicts
    _coefficients: Array = field(init=False)
    _path: Array = field(init=False)

    @unchanged_after_errors
    def fit(self, X: ArrayLike, y: ArrayLike) -> "KernelRegressor":
        """Learn from samples X (n, d) and targets y (n,) or (n, T). Raises DataError, ParameterError, ShapeError."""
        self.kernel_ = self._make_kernel()
        samples, targets, self._one_target = read_training_data(self, X, y, order="C", ensure_min_samples=2)
        check_varying(targets.min(axis=0), targets.max(axis=0))
        self._fit(samples, np.ascontiguousarray(targets, dtype=np.float64), self.kernel_)
        return self

    def predict(self, X: ArrayLike) -> Array:
        """Predict targets (n,) or (n, T), shaped as those of `fit`. Raises NotFittedError, DataError."""
        predicted = self._apply(self._check_samples(X), self._coefficients)
        return predicted[:, 0] if self._one_target else predicted

    def predict_path(self, X: ArrayLike) -> Array:
        """Predict with the solution at every level of `path_levels_`: (levels, n, T), T = 1 for a 1-D target."""
        samples = self._check_samples(X)
        levels, m, n_targets = self._path.shape
        predicted = self._apply(samples, self._path.transpose(1, 0, 2).reshape(m, levels * n_targets))
        return np.ascontiguousarray(predicted.reshape(len(samples), levels, n_targets).transpose(1, 0, 2))

    @property
    def dual_coef_(self) -> Array:
        """Coefficients of the centres: (m,) for a 1-D target, else (m, T)."""
        check_is_fitted(self, "_coefficients")
        return self._coefficients[:, 0] if self._one_target else self._coefficients

    def _fit(self, samples: Array, targets: Array, kernel: Kernel) -> None:
        raise NotImplementedError

    def _check_samples(self, X: ArrayLike) -> Array:
        check_is_fitted(self, "_coefficients")
        return read_samples(self, X)

    def _apply(self, samples: Array, coefficients: Array) -> Array:
        """Return sum_j k(x_i, centers_[j]) coefficients[j], (n, columns)."""
        return apply_by_blocks(self.kernel_.against(self.centers_), samples, coefficients)

    def _set_path(self, path: Sequence[Array]) -> None:
        """Keep the coefficients (m, T) after iterations 1, 2, ...; the last ones are the solution."""
        self._path = np.stack(path)
        self._coefficients, self.n_iter_ = self._path[-1], len(path)
        self.path_levels_ = np.arange(1, self.n_iter_ + 1)


class Features(Protocol):
    """Maps rows (r, d) to new features (r, n_features)."""

    n_features: int

    def __call__(self, samples: Array, /) -> Array:
        """Compute the features."""


def apply_by_blocks(features: Features, samples: Array, coefficients: Array) -> Array:
    """Return features(samples) @ coefficients, (n, columns), computing the features of one block of rows at a time."""
    out = np.empty((len(samples), coefficients.shape[1]))
    for rows in blocks(len(samples), rows_per_block(features.n_features)):
        np.matmul(features(samples[rows]), coefficients, out=out[rows])
    return out


def read_training_data(
    estimator: BaseEstimator, X: ArrayLike, y: ArrayLike, *, dtype: Any = np.float64, **checks: Any
) -> tuple[Array, NDArray[Any], bool]:
    """Return samples (n, d), targets (n, T), and whether the targets came as (n,), checked by scikit-learn's rules.

    Samples are converted to `dtype`, or keep their type if it is one of several allowed ones; targets keep theirs.
    `checks` are further keywords of `validate_data`, which gives the estimator `n_features_in_`. Raises DataError.
    """
    try:
        checks = {"multi_output": True, "y_numeric": True, "dtype": dtype, **checks}
        samples, targets = validate_data(estimator, X, y, **checks)
        if targets.dtype.kind not in "fiub":
            raise ValueError(f"y is of type {targets.dtype}, must be of numbers")
        check_magnitude(float(np.abs(targets).max(initial=0.0)))
    except (TypeError, ValueError) as error:  # TypeError: sparse
        raise DataError(str(error), name="X, y", bound="finite numbers, one row of y for each of X") from error
    return samples, targets.reshape(len(samples), -1), targets.ndim == 1


def read_labels(estimator: BaseEstimator, X: ArrayLike, y: ArrayLike, reset: bool = True) -> tuple[Array, NDArray[Any]]:
    """Return samples (n, d) and labels (n,), checked as by `read_training_data`. Raises DataError."""
    try:
        samples, labels = validate_data(estimator, X, y, reset=reset, dtype=np.float64, order="C")
        check_classification_targets(labels)
    except (TypeError, ValueError) as error:  # TypeError: sparse
        raise DataError(str(error), name="X, y", bound="finite numbers and one label for each row") from error
    return samples, labels


def read_samples(estimator: BaseEstimator, X: ArrayLike) -> Array:
    """Check the samples of a prediction by scikit-learn's rules: float64 (n, n_features_in_). Raises DataError."""
    try:
        return np.asarray(validate_data(estimator, X, reset=False, dtype=np.float64, order="C"))
    except (TypeError, ValueError) as error:  # TypeError: sparse
        raise DataError(str(error), name="X", bound=f"finite numbers, (n, {estimator.n_features_in_})") from error


def check_magnitude(largest: float) -> None:
    """Raise DataError if the largest magnitude of targets is beyond 1e100."""
    if not largest <= LARGEST:  # None among objects is NaN here
        raise DataError(f"y holds {largest:g}, must be of magnitude at most {LARGEST:g}: scale y", name="y")


def check_varying(low: Array, high: Array) -> None:
    """Raise DataError for the first constant target, given the least and the largest value of each."""
    constant = np.flatnonzero(low == high)
    if constant.size:
        column = int(constant[0])
        text = f"y: target {column} is constant at {low[column] + 0.0:g}, but must take two values at least"
        raise DataError(text, name="y", value=float(low[column]), bound="two different values in each target")


def check_signs(targets: Array, loss: str) -> None:
    """Raise DataError for the first target that is not -1 or +1."""
    if not (np.abs(targets) == 1.0).all():
        wrong = float(targets[np.abs(targets) != 1.0][0])
        text = f"y holds {wrong:g}, but must be -1 or +1 for the {loss} loss; see OneVsAllClassifier"
        raise DataError(text, name="y", value=wrong, bound="-1 or +1")


def share_of_signs(scores: Array, y: ArrayLike, sample_weight: ArrayLike | None) -> float:
    """Return the share of targets -1 and +1, (n,) or (n, T), whose sign the scores have."""
    right = (np.asarray(scores) > 0) == (np.asarray(y) > 0)
    return float(np.average(right.reshape(len(right), -1).mean(axis=1), weights=cast(Any, sample_weight)))


def check_regularization(value: float) -> float:
    """Return lambda > 0. Raises ParameterError."""
    return real("regularization", value, 0.0, low_open=True)


def check_choice(name: str, value: Any, choices: Sequence[str], purpose: str = "") -> None:
    """Raise ParameterError unless `value` is one of the choices."""
    if value not in choices:
        raise ParameterError(name, value, f"one of {', '.join(choices)}{purpose}")


def check_levels(name: str, values: Iterable[float] | None, default: ArrayLike) -> Array:
    """Return the positive, strictly monotonic levels of a path, or `default`. Raises ParameterError, ShapeError."""
    if values is None:
        return finite(name, default)
    levels = finite(name, list(values) if isinstance(values, Iterable) else values)
    if levels.ndim != 1 or not levels.size:
        raise ShapeError(name, levels.shape, "a sequence of at least one number")
    steps = np.diff(levels)
    if levels.min() <= 0 or not ((steps > 0).all() or (steps < 0).all()):
        raise ParameterError(name, levels.tolist(), "positive numbers in strictly increasing or decreasing order")
    return levels


def check_counts(path: Iterable[float] | None, most: int, bound: str = "") -> NDArray[np.int64]:
    """Return the whole numbers of a path, by default 1..most. Raises ParameterError, ShapeError."""
    levels = check_levels("path", path, np.arange(1, most + 1))
    if levels.max() > most or (levels != np.round(levels)).any():
        raise ParameterError("path", levels.tolist(), f"whole numbers from 1 to {bound or most}")
    return levels.astype(np.int64)
