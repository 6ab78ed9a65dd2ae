"""Checks of arguments: shape and finiteness of arrays, ranges of numbers; for all rings (docs/architecture.md)."""

from math import isfinite
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icub_learning.errors import NotFiniteError, ParameterError, ShapeError

Array = NDArray[np.float64]
FEW = 32  # number of elements up to which a check in Python is faster than one in NumPy


def finite(name: str, values: ArrayLike) -> Array:
    """Return `values` as a C-contiguous float64 array. Raises ShapeError: the values are not numbers in a rectangular
    array; NotFiniteError: a value is NaN or infinite."""
    if type(values) is np.ndarray and values.dtype == np.float64 and values.flags.c_contiguous:
        array = values
    else:
        try:
            if np.iscomplexobj(values) or np.ma.is_masked(values):
                raise TypeError
            array = np.ascontiguousarray(values, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            entries = np.asarray(values, dtype=object)
            odd = next((f", not of {type(one).__name__}" for one in entries.flat if not isinstance(one, Real)), "")
            raise ShapeError(name, entries.shape, f"a rectangular array of numbers{odd}") from None
    if not array.flags.aligned:  # a field of a packed record; compiled code takes aligned numbers only
        array = array.copy()
    if not _all_finite(array.reshape(-1)):
        bad = np.flatnonzero(~np.isfinite(array))[:8]
        raise NotFiniteError(name, {int(index): float(array.flat[index]) for index in bad})
    return array


def _all_finite(flat: Array) -> bool:
    """Return whether all numbers (n,) are finite, fast: joint states are checked hundreds of times a second."""
    if len(flat) <= FEW:
        return all(map(isfinite, flat.tolist()))
    # A finite sum of squares has finite terms only; an infinite one may be an overflow.
    with np.errstate(over="ignore"):
        square = flat.dot(flat)
    return isfinite(square) or bool(np.isfinite(flat).all())


def vector(name: str, values: ArrayLike, size: int) -> Array:
    """Return `values` as a finite float64 array of shape (size,). Raises ShapeError, NotFiniteError."""
    array = finite(name, values)
    if getattr(values, "shape", None) != (size,) and np.shape(values) != (size,):
        raise ShapeError(name, np.shape(values), f"({size},)")
    return array


def rows(name: str, values: ArrayLike, size: int) -> tuple[Array, bool]:
    """Return `values` as finite float64 rows (k, size), and whether they were one 1-D sample. Raises ShapeError: not of
    shape (size,) or (k, size); NotFiniteError: a value is NaN or infinite."""
    array = finite(name, values)
    shape = np.shape(values)
    if len(shape) not in (1, 2) or shape[-1] != size:
        raise ShapeError(name, shape, f"({size},) or (k, {size})")
    return array.reshape(-1, size), len(shape) == 1


def integer(name: str, value: Any, minimum: int, most: int | None = None, meaning: str = "") -> int:
    """Return `value` as an int within [minimum, most]. Raises ParameterError; `meaning` tells there what `most` is."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < minimum:
        raise ParameterError(name, value, f"an integer of at least {minimum}")
    if most is not None and value > most:
        raise ParameterError(name, value, f"at most {meaning}{most}")
    return int(value)


def real(name: str, value: Any, low: float, high: float = np.inf, *, low_open: bool = False) -> float:
    """Return `value` as a finite float within [low, high], or (low, high] when `low_open`. Raises ParameterError."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if isinstance(value, bool) or not isfinite(number) or not low <= number <= high or (low_open and number == low):
        bound = f"a number in {'(' if low_open else '['}{low:g}, {high:g}{']' if isfinite(high) else ')'}"
        raise ParameterError(name, value, bound)
    return number
