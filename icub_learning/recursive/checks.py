"""Checks of the samples and settings that recursive learners are given."""

from sys import float_info

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array, finite, rows
from icub_learning.errors import ParameterError, ShapeError
from icub_learning.recursive import _cholesky

LARGEST_VALUE = 1e100  # largest magnitude: squares of larger values or their sums could overflow and ruin the factor
LEAST_FORGETTING = 1e-30  # smallest factor on the past, which is gone then; far below, rounding ruins the rest
REGULARIZATION_RANGE = (1e-50, 1e50)  # within it, products with the inverse neither overflow nor vanish


def finite_rows(name: str, values: ArrayLike, width: int, limit: float = float_info.max) -> Array:
    """Return values as contiguous float64 (width,) or (k, width). Raises ShapeError, NotFiniteError, ParameterError."""
    if type(values) is np.ndarray and _cholesky.plain(values, width, limit):
        return values
    checked, single = rows(name, values, width)
    if checked.size and np.abs(checked).max() > limit:
        raise ParameterError(name, float(np.abs(checked).max()), f"of magnitude at most {limit:g}")
    return checked[0] if single else checked


def faded(factor: float, count: int = 1) -> float:
    """Return the factor on the past after `count` samples that each bring `factor`; at least LEAST_FORGETTING."""
    return max(factor**count, LEAST_FORGETTING)


def check_regularization(value: float | ArrayLike, n_features: int, name: str = "regularization") -> Array:
    """Return a regularization, one number or one for each feature, as (n_features,). Raises ShapeError, NotFiniteError,
    ParameterError (outside [1e-50, 1e50])."""
    low, high = REGULARIZATION_RANGE
    values = finite(name, value)
    if np.shape(value) not in ((), (n_features,)):
        raise ShapeError(name, np.shape(value), f"a number or ({n_features},)")
    for worst in (values.min(), values.max()):
        if not low <= worst <= high:
            raise ParameterError(name, float(worst), f"in [{low:g}, {high:g}]")
    return np.array(np.broadcast_to(values, (n_features,)))
