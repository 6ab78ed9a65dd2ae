"""Noise levels of joint motion, estimated while it is filtered, from how well neighbouring levels would have predicted."""

import numpy as np

from icub_learning.arrays import Array

# Parameters, in this order: logarithms of snap density, position variance and velocity variance; velocities' delay [s].
SNAP, POSITION, VELOCITY, DELAY = range(4)
GROUPS = 9  # the levels in use, then each parameter raised and lowered
MOVING_GROUPS = 4  # of these, the last that need velocities
MEMORY = 1000.0  # scored predictions after which one counts 1/e
SPACING = np.log([8.0, 4.0, 6.0])  # between neighbouring levels
POOL = np.array([20.0, 20.0, 20.0])  # how much the joints' common level weighs in each joint's
FIRST_SNAP = 1e3  # rad^2/s^7: a bandwidth of some Hz with positions to 1e-4 rad
FIRST_POSITION = 1e-8  # rad^2, until positions change
FIRST_VELOCITY = 1e-4  # rad^2/s^2, until velocities change
FIRST_WEIGHT = np.array([2.0, 8.0, 8.0])  # scored predictions that the levels at the start count for
BANDWIDTH = (0.3, 60.0)  # Hz, of a filter
LONGEST_LAG = 0.5  # s


def bandwidth(snap: Array, position: Array, velocity: Array | None, interval: float) -> Array:
    """Return the bandwidth [Hz] of the stationary filter: where motion and noise have the same spectral density."""
    information = 1.0 / (position * interval)
    omega = (snap * information) ** 0.125
    if velocity is not None:
        for _ in range(12):  # contracts by 1/4 each
            omega = (snap * (information + omega**2 / (velocity * interval))) ** 0.125
    return omega / (2.0 * np.pi)


class NoiseLevels:
    """Levels of joint motion's noise by prequential likelihood, pooled over joints.

    Args:
        n_joints: number of joints.
        delay: of velocities [s] if known, None to estimate it.
    """

    def __init__(self, n_joints: int, delay: float | None = None) -> None:
        self.n_joints = n_joints
        self.interval = 0.01
        self.with_velocity = False
        self._known_delay = delay
        self._step = np.full((2, n_joints), np.inf)
        self._first = np.log(np.outer([FIRST_SNAP, FIRST_POSITION, FIRST_VELOCITY], np.ones(n_joints)))
        self._information = np.zeros((3, n_joints))
        self._vector = np.zeros((3, n_joints))
        self._delay_information, self._delay_vector = 0.0, 0.0
        self.theta = self._first.copy()
        self.delay = delay or 0.0
        self.spacing = np.zeros(3)
        self._settle()

    @property
    def snap(self) -> Array:
        return np.exp(self.theta[SNAP])

    @property
    def position(self) -> Array:
        return np.exp(self.theta[POSITION])

    @property
    def velocity(self) -> Array:
        return np.exp(self.theta[VELOCITY])

    def begin(self, positions: Array, velocities: Array | None, interval: float) -> None:
        """Start from the first samples."""
        self.interval = interval
        for row, values in ((POSITION, positions), (VELOCITY, velocities)):
            if values is None or len(values) < 5:
                continue
            changes = np.abs(np.diff(values, axis=0))
            step = np.where(changes > 0, changes, np.inf).min(axis=0)
            self._step[row - 1] = np.minimum(self._step[row - 1], step)
            rough = np.mean(np.diff(values, n=3, axis=0) ** 2, axis=0) / 20.0
            known = np.isfinite(step)
            self._first[row][known] = np.log(np.maximum(rough, step**2 / 12.0)[known])
            if known.any():
                self._first[row][~known] = np.median(self._first[row][known])
        self.theta = self._first.copy()
        self.with_velocity = velocities is not None
        self._settle()

    def learn(self, score: Array, counts: Array, steps: Array, interval: float, with_velocity: bool) -> None:
        """Move the levels by what the neighbours scored."""
        self.interval += 0.3 * (interval - self.interval)
        self.with_velocity = with_velocity
        self._step = np.minimum(self._step, steps)
        n = counts[0]
        forget = np.exp(-n / MEMORY)
        for row in range(3 if with_velocity else 2):
            gradient, curvature = self._slopes(score, row, SPACING[row])
            used = n > 0
            self._information[row] = forget * self._information[row] + np.where(used, curvature, 0.0)
            self._vector[row] = forget * self._vector[row] + np.where(used, gradient + curvature * self.theta[row], 0.0)
        if with_velocity and self._known_delay is None:
            gradient, curvature = self._slopes(score, DELAY, self._delay_spacing())
            keep = np.exp(-n.sum() / self.n_joints / MEMORY)
            self._delay_information = keep * self._delay_information + curvature.sum()
            self._delay_vector = keep * self._delay_vector + (gradient + curvature * self.delay).sum()
        self._settle()

    def _slopes(self, score: Array, row: int, spacing: float) -> tuple[Array, Array]:
        here, up, down = score[0], score[1 + 2 * row], score[2 + 2 * row]
        gradient = (up - down) / (2.0 * spacing)
        curvature = np.maximum((2.0 * here - up - down) / spacing**2, np.abs(gradient) / spacing)
        return gradient, curvature

    def _settle(self) -> None:
        floor = np.log(np.where(np.isfinite(self._step), self._step**2 / 12.0, 1e-30))
        for row in range(3):
            reference = np.zeros(self.n_joints) if row == SNAP else self._first[row]
            information, vector = self._information[row], self._vector[row] - self._information[row] * reference
            start = (self._first[row] - reference).mean()
            common = (vector.sum() + FIRST_WEIGHT[row] * start) / (information.sum() + FIRST_WEIGHT[row])
            level = reference + (vector + POOL[row] * common) / (information + POOL[row])
            if row != SNAP:
                level = np.maximum(level, floor[row - 1])
            self.theta[row] = level
        if self._known_delay is None:
            self.delay = float(
                np.clip(self._delay_vector / (self._delay_information + 1e4), 0.0, 0.5 * self.lag)
            )
        low, high = BANDWIDTH[0], min(BANDWIDTH[1], 0.25 / self.interval)
        now = self.bandwidth()
        self.theta[SNAP] += 8.0 * np.log(np.clip(now, low, high) / now)

    def bandwidth(self) -> Array:
        return bandwidth(self.snap, self.position, self.velocity if self.with_velocity else None, self.interval)

    @property
    def lag(self) -> float:
        return float(min(1.0 / self.bandwidth().min(), LONGEST_LAG))

    @property
    def horizon(self) -> float:
        return max(0.25 * self.lag, 0.9 * self.interval)

    def _delay_spacing(self) -> float:
        return 0.25 * self.horizon

    def hypotheses(self) -> Array:
        """(4, GROUPS, n_joints)"""
        levels = np.empty((4, GROUPS, self.n_joints))
        levels[:3] = self.theta[:, None]
        levels[3] = self.delay
        for row in range(3):
            levels[row, 1 + 2 * row] += SPACING[row]
            levels[row, 2 + 2 * row] -= SPACING[row]
        levels[3, 7] += self._delay_spacing()
        levels[3, 8] -= self._delay_spacing()
        np.exp(levels[:3], out=levels[:3])
        return levels
