"""Position, velocity and acceleration of joints from irregular samples, by a Kalman filter that finds its own levels."""

import numpy as np

from icub_learning.arrays import Array, integer, real
from icub_learning.dynamics.derivatives import Motion
from icub_learning.dynamics.motion._motion_filter import Filter
from icub_learning.dynamics.motion.noise_levels import GROUPS, MOVING_GROUPS, NoiseLevels

PRIOR = (3.0, 30.0, 300.0)  # velocity, acceleration and jerk expected at the start, rad and s
FIRST_SAMPLES = 12  # after which the levels are looked for
SCORED = 16  # predictions between two looks at the levels


class MotionFilter:
    """Motion of joints from positions and, where measured, velocities at irregular stamps."""

    def __init__(self, n_joints: int, *, max_gap: float = 1.0, velocity_delay: float | None = None) -> None:
        self.n_joints = integer("n_joints", n_joints, 1)
        self.max_gap = real("max_gap", max_gap, 0.0, low_open=True)
        if velocity_delay is not None:
            real("velocity_delay", velocity_delay, 0.0)
        self._levels = NoiseLevels(self.n_joints, velocity_delay)
        self._filter = Filter(self.n_joints, GROUPS, MOVING_GROUPS, self.max_gap, PRIOR)
        self._scores, self._tallies = np.empty((4, GROUPS, self.n_joints)), np.empty((6, self.n_joints))
        self._steps = np.empty((2, self.n_joints))
        self._smoothed: list[Motion] = []
        self._first: list[tuple[int, Array, Array | None]] | None = []
        self._samples, self._since, self._learned = 0, 0, 0
        self._use()

    def reset(self) -> None:
        """Forget all samples; the levels of the noise are kept."""
        self._filter.restart()
        self._smoothed = []
        self._samples = 0
        if self._first:
            self._first = []

    def add(self, stamp: int, position: Array, velocity: Array | None) -> None:
        position = np.ascontiguousarray(position, np.float64)
        velocity = None if velocity is None else np.ascontiguousarray(velocity, np.float64)
        ready = self._filter.add(stamp, position, velocity)
        self._smoothed = []
        if ready < 0:
            self._first = [] if self._first else self._first
            self._smooth(self._filter.waiting)
            self._filter.restart()
            self._samples = 0
            ready = self._filter.add(stamp, position, velocity)
        if not self._samples:
            self._since = stamp
        self._samples += 1
        if self._first is not None:
            self._begin(stamp, position, velocity)
        elif ready:
            self._smooth(ready)
        if self._filter.scored >= (SCORED if self._learned > 30 else 4) * self.n_joints:
            self._learn(stamp, velocity is not None)

    def newest(self) -> Motion:
        state = np.empty((3, self.n_joints))
        return Motion(self._filter.read(state, None), *state)

    def smoothed(self) -> list[Motion]:
        return self._smoothed

    def deviation(self) -> Array:
        deviation = np.empty((3, self.n_joints))
        self._filter.read(None, deviation)
        return deviation

    def report(self) -> dict[str, object]:
        levels = self._levels
        return {
            "position_noise": np.sqrt(levels.position),
            "velocity_noise": np.sqrt(levels.velocity),
            "snap_density": levels.snap,
            "velocity_delay": levels.delay,
            "lag": levels.lag,
            "bandwidth": levels.bandwidth(),
            "rate": 1.0 / levels.interval,
        }

    def _smooth(self, count: int) -> None:
        out = np.empty((count, 3, self.n_joints))
        stamps = self._filter.smooth(out)
        self._smoothed += [Motion(stamp, *motion) for stamp, motion in zip(stamps, out, strict=True)]

    def _use(self) -> None:
        self._filter.set_levels(*self._levels.hypotheses(), self._levels.lag, self._levels.horizon)

    def _begin(self, stamp: int, position: Array, velocity: Array | None) -> None:
        assert self._first is not None
        self._first.append((stamp, position.copy(), None if velocity is None else velocity.copy()))
        if len(self._first) < FIRST_SAMPLES:
            return
        stamps, positions, velocities = zip(*self._first, strict=True)
        moving = None if any(v is None for v in velocities) else np.array(velocities)
        self._levels.begin(np.array(positions), moving, float(np.median(np.diff(stamps))) * 1e-9)
        self._use()
        self._filter.restart()
        for sample in self._first:
            self._filter.add(*sample)
        self._first = None

    def _learn(self, stamp: int, with_velocity: bool) -> None:
        self._learned += 1
        self._filter.evidence(self._scores, self._tallies, self._steps)
        interval = (stamp - self._since) * 1e-9 / max(self._samples - 1, 1)
        self._levels.learn(self._scores, self._tallies, self._steps, interval, with_velocity)
        self._use()
        self._since, self._samples = stamp, 1
