"""The noise of measurements as their first samples show it, before anything is known about the motion."""

from math import comb

import numpy as np

from icub_learning.arrays import Array

# Orders of differences: white noise shows in all, motion in those of low order, and at low rates in all.
ORDERS = range(2, 6)
ROUNDING = np.sqrt(np.finfo(np.float64).eps)  # share of the largest value: smaller differences are those of rounding
WHOLE = 0.01  # [steps] how far from whole numbers of steps a counted change may lie


def first_noise(values: Array) -> tuple[Array, Array, np.ndarray]:
    """Return what the first samples of a measurement tell about its noise and quantization.

    The values (k, n_joints) were measured at equal intervals, k at least 6. A joint that moves fast changes by many
    steps of quantization from sample to sample, but its changes by few: the least difference of a low order is a step.

    Returns:
        (n_joints,) each: variance of white noise, at most; smallest difference, infinite where no value changes; bool,
        whether all changes are whole numbers of these steps: quantization is then all noise.
    """
    changes = np.abs(np.diff(values, axis=0))
    differences = np.concatenate([changes, *(np.abs(np.diff(values, order, axis=0)) for order in (2, 3))])
    step = np.where(differences > ROUNDING * np.abs(values).max(axis=0), differences, np.inf).min(axis=0)
    # Differences of order k of white noise have binomial coefficients, whose squares sum up to (2 k over k).
    white = np.min([np.mean(np.diff(values, k, axis=0) ** 2, axis=0) / comb(2 * k, k) for k in ORDERS], axis=0)
    steps = changes / np.where(np.isfinite(step), step, 1.0)
    return white, step, np.abs(steps - np.round(steps)).max(axis=0) < WHOLE
