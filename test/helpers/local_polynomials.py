"""Velocities and accelerations by local polynomials over a window: the rival of the motion filter in tests."""

from collections import deque

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from icub_learning.dynamics.motion.motion import Motion

GAP_RATIO = 10.0  # a gap of so many times the mean spacing starts the window anew


class LocalPolynomials:
    """Local polynomials fitted to positions and velocities over the last samples (Savitzky and Golay 1964).

    Over the window each joint's position is the polynomial p(t) that minimizes
    sum_i (p(t_i) - q_i)^2 + velocity_weight^2 (p'(t_i - velocity_delay) - v_i)^2. It is read at the newest sample and
    `delay` samples before it. `velocity_weight` [s] is the deviation of positions over that of velocities; 0 ignores
    velocities.
    """

    def __init__(self, n_joints, window=9, order=3, velocity_weight=0.05, delay=4, max_gap=1.0, velocity_delay=0.0):
        self.n_joints, self.window, self.order, self.delay = n_joints, window, order, delay
        self.velocity_weight, self.velocity_delay, self.max_gap = velocity_weight, velocity_delay, max_gap
        self._samples = deque(maxlen=window)

    def reset(self):
        """Forget all samples."""
        self._samples.clear()

    def add(self, stamp, position, velocity):
        """Take one sample in: stamp [ns]; velocity None where it is not measured."""
        stamps = [sample[0] for sample in self._samples]
        if stamps:
            usual = (stamps[-1] - stamps[0]) * 1e-9 / (len(stamps) - 1) if len(stamps) > 1 else np.inf
            if (stamp - stamps[-1]) * 1e-9 > min(self.max_gap, GAP_RATIO * usual):
                self.reset()
        self._samples.append((stamp, np.array(position), None if velocity is None else np.array(velocity)))
        self._fit()

    def newest(self):
        """Return the motion at the newest sample."""
        return self._read(len(self._samples) - 1)

    def delayed(self):
        """Return the motion `delay` samples before the newest, or None while the window is not full."""
        return self._read(self.window - 1 - self.delay) if len(self._samples) == self.window else None

    def known(self):
        return True

    def deviation(self):
        """Return zeros, as a stream takes deviations."""
        return np.zeros((3, self.n_joints))

    def report(self):
        """Return nothing, as nothing is estimated."""
        return {}

    def smoothed(self):
        """Return the delayed motion as a list, as a stream takes it."""
        delayed = self.delayed()
        return [] if delayed is None else [delayed]

    def _fit(self):
        stamps, positions, velocities = zip(*self._samples, strict=True)
        self._times = (np.array(stamps) - stamps[-1]) * 1e-9
        self._span = -self._times[0] if len(stamps) > 1 else 1.0
        moving = self.velocity_weight > 0 and velocities[-1] is not None
        self._powers = np.arange(min(self.order, len(stamps) * (2 if moving else 1) - 1) + 1)
        design, values = self._derivative(self._times, 0), np.array(positions)
        if moving:
            slopes = self.velocity_weight * self._derivative(self._times - self.velocity_delay, 1)
            design = np.concatenate([design, slopes])
            values = np.concatenate([values, self.velocity_weight * np.array(velocities)])
        self._fitted = np.linalg.lstsq(design, values, rcond=None)[0]

    def _derivative(self, times, order):
        u = (2.0 * times / self._span + 1.0)[:, None]
        factor, powers = np.ones(len(self._powers)), self._powers
        for _ in range(order):
            factor, powers = factor * powers * (2.0 / self._span), np.maximum(powers - 1, 0)
        return factor * u**powers

    def _read(self, index):
        rows = np.concatenate([self._derivative(self._times[index : index + 1], order) for order in range(3)])
        return Motion(self._samples[index][0], *(rows @ self._fitted))


def newest_by_window(stamps, position, velocity, window, order, velocity_weight=0.0):
    """Fit all windows of a recording at once: velocity and acceleration at each newest sample, (n, 2, joints).

    NaN before the first full window; gaps do not start anew.
    """
    times = sliding_window_view(stamps, window)
    times = (times - times[:, -1:]) * 1e-9
    scale, powers = (-2.0 / times[:, 0])[:, None, None], np.arange(order + 1)
    u = scale * times[:, :, None] + 1.0
    design, values = u**powers, sliding_window_view(position, window, axis=0).swapaxes(1, 2)
    if velocity is not None and velocity_weight > 0:
        slopes = velocity_weight * scale * powers * u ** np.maximum(powers - 1, 0)
        rates = sliding_window_view(velocity, window, axis=0).swapaxes(1, 2)
        design = np.concatenate([design, slopes], axis=1)
        values = np.concatenate([values, velocity_weight * rates], axis=1)
    transposed = design.swapaxes(1, 2)
    fitted = np.linalg.solve(transposed @ design, transposed @ values)  # well conditioned, as u is within [-1, 1]
    found = np.full((len(stamps), 2, position.shape[1]), np.nan)
    found[window - 1 :, 0] = scale[:, 0] * (powers @ fitted)
    found[window - 1 :, 1] = scale[:, 0] ** 2 * (powers * (powers - 1) @ fitted)
    return found
