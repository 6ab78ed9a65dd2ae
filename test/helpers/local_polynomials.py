"""Velocities and accelerations by local polynomials over a window: the rival of the motion filter in tests."""

from collections import deque

import numpy as np

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
