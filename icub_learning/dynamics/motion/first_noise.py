"""The noise of measurements as their first samples show it, before anything is known about the motion."""

import numpy as np

from icub_learning.arrays import Array

# White noise shows in differences of any order; motion in those of low order, and at low rates in all.
ORDERS = ((2, 6.0), (3, 20.0), (4, 70.0), (5, 252.0))  # and variances of such differences of white noise
ROUNDING = 1e-12  # of the largest value: smaller differences are those of floating-point numbers
WHOLE = 0.01  # of a step: how far from whole numbers of steps a counted change may lie


def first_noise(values: Array) -> tuple[Array, Array, np.ndarray]:
    """Return what the first samples of a measurement tell about its noise and quantization.

    A joint that moves fast changes by many steps of quantization from sample to sample. Its changes differ by few, so
    that the step is the smallest difference of any low order.

    Args:
        values: (k, n_joints) measured at equal intervals, k at least 6.

    Returns:
        white: (n_joints,) variance of white noise, at most.
        step: (n_joints,) the smallest difference, infinite where no value changes.
        counted: (n_joints,) bool, whether all changes are whole numbers of steps: quantization is then all noise.
    """
    changes = np.abs(np.diff(values, axis=0))
    differences = np.concatenate([changes, *(np.abs(np.diff(values, order, axis=0)) for order in (2, 3))])
    told = differences > ROUNDING * np.abs(values).max(axis=0)
    step = np.where(told, differences, np.inf).min(axis=0)
    white = np.min([np.mean(np.diff(values, order, axis=0) ** 2, axis=0) / of for order, of in ORDERS], axis=0)
    steps = changes / np.where(np.isfinite(step), step, 1.0)
    return white, step, np.abs(steps - np.round(steps)).max(axis=0) < WHOLE
