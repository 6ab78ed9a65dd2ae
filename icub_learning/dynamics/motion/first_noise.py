"""The noise of measurements as their first samples show it, before anything is known about the motion."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from icub_learning.arrays import Array

# Orders of differences: white noise shows in all, motion in those of low order, and at low rates in all.
ORDERS = range(2, 6)
ROUNDING = np.sqrt(np.finfo(np.float64).eps)  # share of the largest value: smaller differences are those of rounding
WHOLE = 0.01  # [steps] how far from whole numbers of steps a counted change may lie


def first_noise(values: Array) -> tuple[Array, Array, np.ndarray]:
    """Return what the first samples of a measurement tell about its noise and quantization.

    The values (k, n_joints) were measured at equal intervals, k at least 6. Rows that repeat the one before are left
    out if 6 remain. A joint that moves fast changes by many steps of quantization from sample to sample, but its
    changes by few: the least difference of a low order is a step.

    Returns:
        (n_joints,) each: variance of white noise, at most; smallest difference, infinite where no value changes; bool,
        whether all changes are whole numbers of these steps: quantization is then all noise.
    """
    rows = np.flatnonzero(np.append(True, np.diff(values, axis=0).any(axis=1)))
    if len(rows) < ORDERS.stop:
        rows = np.arange(len(values))
    values = values[rows]
    changes = np.abs(np.diff(values, axis=0))
    differences = np.concatenate([changes, *(np.abs(np.diff(values, order, axis=0)) for order in (2, 3))])
    step = np.where(differences > ROUNDING * np.abs(values).max(axis=0), differences, np.inf).min(axis=0)
    white = np.min([_divided_differences(rows, values, k).mean(axis=0) for k in ORDERS], axis=0)
    steps = changes / np.where(np.isfinite(step), step, 1.0)
    return white, step, np.abs(steps - np.round(steps)).max(axis=0) < WHOLE


def _divided_differences(at: np.ndarray, values: Array, order: int) -> Array:
    """Return squared divided differences of values (n, n_joints) at `at` (n,), over their mean in unit white noise."""
    places = sliding_window_view(at, order + 1)
    factors = 1.0 / (places[:, :, None] - places[:, None, :] + np.eye(order + 1)).prod(axis=2)
    found = np.einsum("wk,wjk->wj", factors, sliding_window_view(values, order + 1, axis=0))
    return np.asarray(found**2 / (factors**2).sum(axis=1)[:, None])
