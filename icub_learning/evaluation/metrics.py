"""Measures of prediction error and time: RMSE, nMSE, windowed RMSE, percentiles."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array, finite, integer
from icub_learning.errors import ShapeError


def rmse(errors: ArrayLike) -> Array:
    """Return each column's RMSE of errors (n, n_outputs); NaN without samples. Raises ShapeError, NotFiniteError."""
    return np.sqrt(_mean_square(_table("errors", errors)))


def nmse(errors: ArrayLike, measured: ArrayLike) -> Array:
    """Return each column's mean squared error over the variance of the measurement in the same samples, (n_outputs,).

    Both are (n, n_outputs). Predicting the mean of these samples has nMSE 1. NaN where the measurement does not vary,
    or without samples. Raises ShapeError: not two-dimensional, or of different shapes; NotFiniteError.
    """
    table, outputs = _table("errors", errors), _table("measured", measured)
    if table.shape != outputs.shape:
        raise ShapeError("measured", outputs.shape, f"{table.shape}, as the errors")
    if not len(table):
        return np.full(table.shape[1], np.nan)
    variance = outputs.var(axis=0)
    constant = np.ptp(outputs, axis=0) == 0  # var of a constant column is mere rounding error
    ratios = np.full(table.shape[1], np.nan)
    np.divide(_mean_square(table), variance, out=ratios, where=~constant)
    return ratios


def group_rmse(errors: ArrayLike) -> float:
    """Return the RMSE over all entries, such as the axes of a force; NaN without samples. Raises NotFiniteError."""
    table = finite("errors", errors)
    return float(np.sqrt(np.mean(table**2))) if table.size else float("nan")


def path_errors(model: Any, x: Array, y: Array) -> list[float]:
    """Return the RMSE on samples x (n, d), y (n,) of each solution on the path of a fitted model."""
    return [group_rmse(predicted[:, 0] - y) for predicted in model.predict_path(x)]


def mean_rmse(errors: ArrayLike) -> float:
    """Return the mean over columns of the RMSE of errors (n, n_outputs): thesis 8.4.3 averages the axes of a force."""
    return float(np.mean(rmse(errors)))


def windowed_rmse(errors: ArrayLike, window: int) -> Array:
    """Return at each sample of errors (n, n_outputs) the RMSE over all columns and the last `window` samples, (n,).

    At the start it holds fewer. Raises ShapeError: not two-dimensional; NotFiniteError; ParameterError: window below 1.
    """
    table, window = _table("errors", errors), integer("window", window, 1)
    n = len(table)
    window = max(1, min(window, n))
    blocks = np.zeros((n // window + 2, window))  # of one window each, the first one before the beginning
    blocks.ravel()[window : window + n] = np.mean(table**2, axis=1)
    # A window is the end of one block and the beginning of the next: differences of longer sums would lose digits.
    until, rest = np.cumsum(blocks, axis=1).ravel(), np.cumsum(blocks[:, ::-1], axis=1)[:, ::-1].ravel()
    ends, starts = window + np.arange(n), 1 + np.arange(n)
    sums = until[ends] + np.where(starts % window, rest[starts], 0.0)
    return np.asarray(np.sqrt(sums / np.minimum(starts, window)))


def windowed_mean_rmse(errors: ArrayLike, window: int) -> Array:
    """Return at each sample the mean over the columns, at least one, of `windowed_rmse`, (n,) (thesis fig. 8.4)."""
    table = _table("errors", errors)
    if not table.shape[1]:
        raise ShapeError("errors", table.shape, "(n, n_outputs), n_outputs at least 1")
    return np.asarray(np.mean([windowed_rmse(column, window) for column in np.hsplit(table, table.shape[1])], axis=0))


def percentiles(values: ArrayLike) -> dict[str, float]:
    """Return percentiles and maximum as "p50", "p99", "p99.9" and "max"; NaN without values."""
    array, names = finite("values", values).ravel(), ("p50", "p99", "p99.9", "max")
    if not array.size:
        return dict.fromkeys(names, float("nan"))
    return dict(zip(names, np.percentile(array, [50, 99, 99.9, 100]).tolist(), strict=True))


def _mean_square(table: Array) -> Array:
    return np.mean(table**2, axis=0) if len(table) else np.full(table.shape[1], np.nan)


def _table(name: str, values: ArrayLike) -> Array:
    table = finite(name, values)
    if np.ndim(values) != 2:
        raise ShapeError(name, np.shape(values), "(n, n_outputs)")
    return table
