"""Velocities and accelerations from a stream of joint positions and velocities, using only what has arrived."""

from typing import NamedTuple

import numpy as np

from icub_learning.arrays import Array, integer, real
from icub_learning.dynamics.motion import _window
from icub_learning.dynamics.settings import DEFAULTS
from icub_learning.errors import ParameterError

GAP_RATIO = 10.0  # a sample so many times later than usual tells nothing about the ones before


class Motion(NamedTuple):
    """Joint positions, velocities and accelerations at one instant.

    Attributes:
        stamp: ns.
        position: (n_joints,) rad or m.
        velocity: (n_joints,) per s.
        acceleration: (n_joints,) per s^2.
    """

    stamp: int
    position: Array
    velocity: Array
    acceleration: Array


class CausalDerivatives:
    """Local polynomials, fitted to positions and velocities together over the last samples with their own stamps.

    Over a window of the last samples, each joint's position is a polynomial p(t) that minimizes

        sum_i (p(t_i) - q_i)^2 + velocity_weight^2 (p'(t_i - velocity_delay) - v_i)^2

    (Savitzky and Golay 1964, with irregular stamps and two kinds of measurement). It is read at two instants:
    `newest`, with no delay, for predicting now; and `delayed`, `delay` samples back in the window, where a polynomial
    is far more certain than at its end, for learning: regressor and measurement then belong to the same past instant.
    While the window fills, order and delay are lowered to what the samples determine.

    Args:
        n_joints: number of joints.
        window: samples in the window.
        order: order of the polynomial, at least 2.
        velocity_weight: seconds; standard deviation of a position over that of a velocity. 0 ignores velocities.
        velocity_delay: seconds by which velocities are older than the positions they come with (drives take them from
            differences of positions or filter them); at 1 g of acceleration 4 ms are an error of 0.04 m/s.
        delay: samples between the newest and the instant that `delayed` describes, at most window - 1.
        max_gap: seconds between two samples beyond which the window starts anew; so does a gap of GAP_RATIO times the
            mean spacing of the window, so that slow and fast streams need no setting of their own.

    Raises:
        ParameterError: an argument is outside its range.
    """

    def __init__(
        self,
        n_joints: int,
        window: int = DEFAULTS.derivative_window,
        order: int = DEFAULTS.derivative_order,
        velocity_weight: float = DEFAULTS.velocity_weight,
        delay: int = DEFAULTS.derivative_delay,
        max_gap: float = DEFAULTS.max_gap,
        velocity_delay: float = DEFAULTS.velocity_delay,
    ) -> None:
        self.n_joints = integer("n_joints", n_joints, 1)
        self.window = integer("window", window, 2)
        self.order = integer("order", order, 2)
        self.velocity_weight = real("velocity_weight", velocity_weight, 0.0)
        self.velocity_delay = real("velocity_delay", velocity_delay, 0.0)
        self.delay = integer("delay", delay, 0)
        self.max_gap = real("max_gap", max_gap, 0.0, low_open=True)
        if self.delay >= self.window:
            raise ParameterError("delay", delay, f"below the window of {window} samples")
        if self.order >= self.window * (2 if self.velocity_weight else 1):
            raise ParameterError("order", order, f"below the number of measurements in a window of {window}")
        # Every sample is written twice, a window apart: so the last ones always lie side by side in memory.
        self._samples = np.zeros((2 * self.window, 2, self.n_joints))  # of each: position, weighted velocity
        self._next = 0  # where the next sample goes
        self._stamps: list[int] = []  # of the samples in the window [ns]
        self._steps: list[int] = []  # between them
        self._solved: tuple[bool, list[int]] = (False, [0])  # what the solver is for: with velocities, these steps
        self._times = np.empty(0)  # of the window [s], from its newest sample
        self._solver = np.empty((0, 0))  # coefficients from measurements, for these times
        self._readers: dict[int, Array] = {}  # by place: motion from measurements
        self._span = 1.0  # seconds

    def reset(self) -> None:
        """Forget all samples."""
        self._stamps.clear()
        self._steps.clear()

    def add(self, stamp: int, position: Array, velocity: Array | None) -> None:
        """Take one sample in: stamp in ns, later than the last; velocity None where it is not measured.

        Raises:
            ValueError: an array is not of shape (n_joints,); nothing changes then.
        """
        position = np.ascontiguousarray(position, np.float64)
        velocity = None if velocity is None else np.ascontiguousarray(velocity, np.float64)
        _window.push(self._samples, self._next, self.window, self.n_joints, position, velocity, self.velocity_weight)
        if self._stamps:
            step = stamp - self._stamps[-1]
            if step * 1e-9 > self._longest_gap():
                self.reset()
            else:
                self._steps.append(step)
        self._stamps.append(stamp)
        if len(self._stamps) > self.window:
            del self._stamps[0], self._steps[0]
        self._next = (self._next + 1) % self.window
        self._fit(velocity is not None and self.velocity_weight > 0)

    def newest(self) -> Motion:
        """The motion at the newest sample, without delay."""
        return self._read(len(self._stamps) - 1)

    def delayed(self) -> Motion | None:
        """The motion `delay` samples before the newest, or None while the window is not full."""
        return self._read(self.window - 1 - self.delay) if len(self._stamps) == self.window else None

    def _longest_gap(self) -> float:
        if not self._steps:
            return self.max_gap
        usual = (self._stamps[-1] - self._stamps[0]) * 1e-9 / len(self._steps)
        return min(self.max_gap, GAP_RATIO * usual)

    def _fit(self, with_velocity: bool) -> None:
        """Find what makes coefficients of measurements; it changes only when the spacing of stamps does."""
        # To the nanosecond: over a window of some milliseconds a few of them make much of an acceleration.
        if self._solved == (with_velocity, self._steps):
            return
        times = (np.array(self._stamps) - self._stamps[-1]) * 1e-9
        self._solved, self._times, self._readers = (with_velocity, self._steps.copy()), times, {}
        self._span = -times[0] if len(times) > 1 else 1.0
        count = len(times) * (2 if with_velocity else 1)
        self._powers = np.arange(min(self.order, count - 1) + 1)
        design = self._derivative(times, 0)
        if with_velocity:
            slope = self.velocity_weight * self._derivative(times - self.velocity_delay, 1)
            design = np.stack([design, slope], axis=1).reshape(count, -1)
        q, r = np.linalg.qr(design)
        self._solver = np.linalg.solve(r, q.T)

    def _derivative(self, times: Array, order: int) -> Array:
        """Derivatives of the powers of time at `times` [s], (n, powers); time runs from -1 to 1 over the window."""
        u = (2.0 * times / self._span + 1.0)[:, None]
        factor, powers = np.ones(len(self._powers)), self._powers
        for _ in range(order):
            factor, powers = factor * powers * (2.0 / self._span), np.maximum(powers - 1, 0)
        return factor * u**powers

    def _read(self, index: int) -> Motion:
        reader = self._readers.get(index)
        if reader is None:
            time = self._times[index : index + 1]
            rows = np.concatenate([self._derivative(time, order) for order in range(3)])
            reader = self._readers[index] = rows @ self._solver
        first = (self._next or self.window) + self.window - len(self._stamps)
        out = np.empty((3, self.n_joints))
        _window.combine(out, reader, self._samples, first, len(self._stamps), self.n_joints, self._solved[0])
        return Motion(self._stamps[index], out[0], out[1], out[2])
