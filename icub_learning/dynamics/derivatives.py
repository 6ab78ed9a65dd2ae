"""Velocities and accelerations from a stream of joint positions and velocities, using only what has arrived."""

from collections import deque
from dataclasses import dataclass

import numpy as np

from icub_learning.arrays import Array, integer, real
from icub_learning.errors import ParameterError

GAP_RATIO = 10.0  # a sample so many times later than usual tells nothing about the ones before


@dataclass(frozen=True)
class Motion:
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
        order: of the polynomial, at least 2.
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
        window: int = 9,
        order: int = 3,
        velocity_weight: float = 0.05,
        delay: int = 4,
        max_gap: float = 1.0,
        velocity_delay: float = 0.0,
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
        self._stamps: deque[int] = deque(maxlen=self.window)
        self._samples: deque[Array] = deque(maxlen=self.window)  # each (2, n_joints): position, weighted velocity
        self._times = np.empty(0)
        self._solver = np.empty((0, 0))
        self._solved = False  # whether the solver is one that uses velocities
        self._span = 1.0  # seconds

    def reset(self) -> None:
        """Forget all samples."""
        self._stamps.clear()
        self._samples.clear()

    def add(self, stamp: int, position: Array, velocity: Array | None) -> None:
        """Take one sample in: stamp in ns, later than the last; velocity None where it is not measured."""
        if self._stamps and (stamp - self._stamps[-1]) * 1e-9 > self._longest_gap():
            self.reset()
        weighted = np.zeros(self.n_joints) if velocity is None else self.velocity_weight * velocity
        self._stamps.append(stamp)
        self._samples.append(np.stack([position, weighted]))
        self._fit(velocity is not None and self.velocity_weight > 0)

    def newest(self) -> Motion:
        """The motion at the newest sample, without delay."""
        return self._read(len(self._stamps) - 1)

    def delayed(self) -> Motion | None:
        """The motion `delay` samples before the newest, or None while the window is not full."""
        return self._read(self.window - 1 - self.delay) if len(self._stamps) == self.window else None

    def _longest_gap(self) -> float:
        n = len(self._stamps)
        usual = (self._stamps[-1] - self._stamps[0]) * 1e-9 / (n - 1) if n > 1 else np.inf
        return min(self.max_gap, GAP_RATIO * usual)

    def _fit(self, with_velocity: bool) -> None:
        """Solve for the coefficients of all joints; time runs in units of the window, from its newest sample."""
        n = len(self._stamps)
        newest = self._stamps[-1]
        times = np.array([stamp - newest for stamp in self._stamps], dtype=np.float64) * 1e-9
        # The coefficients are linear in the measurements: the solver changes only when the spacing of stamps does.
        if len(times) != len(self._times) or np.abs(times - self._times).max() > 1e-7 or with_velocity != self._solved:
            self._times, self._solved = times, with_velocity
            self._span = -times[0] if n > 1 else 1.0
            count = n * (2 if with_velocity else 1)
            powers = np.arange(min(self.order, count - 1) + 1)
            u = times / self._span
            design = u[:, None] ** powers
            if with_velocity:
                then = (u - self.velocity_delay / self._span)[:, None]
                slope = powers * then ** np.maximum(powers - 1, 0) / self._span
                design = np.stack([design, self.velocity_weight * slope], axis=1).reshape(count, -1)
            self._solver = np.linalg.pinv(design)
        data = np.stack(list(self._samples))
        values = data.reshape(2 * n, -1) if with_velocity else data[:, 0]
        self._coefficients = self._solver @ values

    def _read(self, index: int) -> Motion:
        c, span = self._coefficients, self._span
        u = self._times[index] / span
        powers = np.arange(len(c))
        position = u**powers @ c
        first = powers[1:] * u ** (powers[1:] - 1)
        second = powers[2:] * (powers[2:] - 1) * u ** (powers[2:] - 2)
        velocity = first @ c[1:] / span
        acceleration = second @ c[2:] / span**2
        return Motion(self._stamps[index], position, velocity, acceleration)
