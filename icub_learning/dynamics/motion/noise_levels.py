"""Noise levels of joint motion, estimated while it is filtered, from how well neighbouring levels would have predicted."""

import numpy as np

from icub_learning.arrays import Array

RATIO, SCALE, VELOCITY = range(3)  # ln(snap density / position variance), ln position variance, ln(velocity / position)
POSITION = SCALE
GROUPS = 9  # the levels in use; then ratio, leak, velocity and delay, each raised and lowered
MOVING_GROUPS = 4  # of these, the last that need velocities
MEMORY = (32.0, 1000.0)  # scored predictions after which one counts 1/e: at the start, at last
AVERAGE = 32.0  # over so many a step is averaged
SPACING = np.log([8.0, 4.0, 6.0])[:, None]  # between neighbouring levels
POOL = 4.0  # scored predictions that the joints' common level counts for in each joint's
FIRST_RATIO = np.log(1e11)  # 1/s^7
FIRST_POSITION = 1e-8  # rad^2, until positions change
FIRST_VELOCITY = 1.0  # rad^2/s^2: velocities count for little until they have proved right
FIRST_WEIGHT = 0.1  # scored predictions that the levels at the start count for
SURE = 0.3
STRICT = 10.0
FIRST_LEAK = 3.0  # 1/s
LEAK = (0.3, 100.0)  # 1/s
LEAK_SPACING = np.log(3.0)
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


class Common:
    """A parameter that all joints share, moved by what the neighbouring values scored."""

    def __init__(self, value: float) -> None:
        self.value = value
        self._gradient = self._curvature = 0.0

    def move(
        self, up: Array, here: Array, down: Array, keep: float, gain: float, spacing: float, low: float, high: float
    ) -> None:
        self._gradient = keep * self._gradient + float((up - down).sum()) / (2.0 * spacing)
        self._curvature = keep * self._curvature + float((2.0 * here - up - down).sum()) / spacing**2
        known = max(self._curvature, abs(self._gradient) / spacing) + 1.0 / spacing**2
        self.value = float(np.clip(self.value + gain * self._gradient / known, low, high))


class NoiseLevels:
    """Levels of joint motion's noise by prequential likelihood, pooled over joints."""

    def __init__(self, n_joints: int, delay: float | None = None) -> None:
        self.n_joints = n_joints
        self.interval = 0.01
        self.with_velocity = False
        self._known_delay = delay
        self._step = np.full((2, n_joints), np.inf)
        self._rough = np.zeros((4, n_joints))  # sums
        self._reference = np.repeat([[FIRST_RATIO], [np.log(FIRST_POSITION)], [np.log(FIRST_VELOCITY)]], n_joints, axis=1)
        self._gradient, self._information = np.zeros((3, n_joints)), np.zeros((3, 3, n_joints))
        self._number, self._seen = np.zeros((2, n_joints))
        self._reference[VELOCITY] -= self._reference[POSITION]
        self._theta = self._reference.copy()
        self._start = np.zeros(3)
        self._delay = Common(delay or 0.0)
        self._leak = Common(np.log(FIRST_LEAK))
        self._bound()

    @property
    def snap(self) -> Array:
        return np.exp(self._theta[RATIO] + self._theta[POSITION])

    @property
    def position(self) -> Array:
        return np.exp(self._theta[POSITION])

    @property
    def velocity(self) -> Array:
        return np.exp(self._theta[VELOCITY] + self._theta[SCALE])

    def begin(self, positions: Array, velocities: Array | None, interval: float) -> None:
        """Start from the first samples."""
        self.interval = interval
        self._reference[VELOCITY] += self._reference[POSITION]
        for row, values, factor in ((POSITION, positions, 1.0), (VELOCITY, velocities, 4.0)):
            if values is None:
                continue
            changes = np.abs(np.diff(values, axis=0))
            step = np.where(changes > 0, changes, np.inf).min(axis=0)
            self._step[row - 1] = np.minimum(self._step[row - 1], step)
            rough = np.min(
                [np.mean(np.diff(values, n=k, axis=0) ** 2, axis=0) / c for k, c in ((2, 6.0), (3, 20.0), (4, 70.0), (5, 252.0))],
                axis=0,
            )
            known = np.isfinite(step)
            with np.errstate(invalid="ignore"):
                whole = np.abs(changes / step - np.round(changes / step)).max(axis=0) < 0.01
            level = np.where(whole & (row == POSITION), step**2 / 12.0, np.maximum(factor * rough, step**2 / 12.0))
            self._reference[row][known] = np.log(level[known])
            if known.any():
                self._reference[row][~known] = np.median(self._reference[row][known])
        self._reference[VELOCITY] -= self._reference[POSITION]
        self._theta = self._reference.copy()
        self._theta[VELOCITY] = np.log(FIRST_VELOCITY) - self._theta[SCALE]
        self._start = (self._theta - self._reference).mean(axis=1)
        self.with_velocity = velocities is not None
        self._bound()

    def learn(self, scores: Array, tallies: Array, steps: Array, interval: float, with_velocity: bool) -> None:
        """Move the levels by what the neighbours scored."""
        self.interval += 0.3 * (interval - self.interval)
        self.with_velocity = with_velocity
        self._step = np.minimum(self._step, steps)
        positions, velocities, *rough = tallies
        number = positions + velocities
        seen = np.maximum(positions, velocities)
        self._seen += seen
        memory = np.clip(self._seen / 8.0, *MEMORY)
        self._rough = self._rough * np.exp(-seen / MEMORY[1]) + rough
        keep = np.exp(-seen / AVERAGE)
        self._number = keep * self._number + seen
        self._gradient *= keep
        self._information *= keep
        squares = scores[2] + scores[3]  # of (GROUPS, n_joints)
        score = -0.5 * (scores[0] + scores[1] + squares)
        strict = score - 0.5 * (STRICT - 1.0) * (scores[0] + scores[2])
        for row, group in ((RATIO, 1), (VELOCITY, 5)) if with_velocity else ((RATIO, 1),):
            here, up, down = score[[0, group, group + 1]]
            spacing = SPACING[row, 0]
            self._gradient[row] += (up - down) / (2.0 * spacing)
            # Expected information: the observed one vanishes where a level is far too high.
            slope = (scores[:2, group] - scores[:2, group + 1]) / (2.0 * spacing)
            expected = 0.5 * (slope**2 / np.maximum([positions, velocities], 1.0)).sum(axis=0)
            self._information[row, row] += np.maximum((2.0 * here - up - down) / spacing**2, expected)
            cross = -0.5 * (squares[group] - squares[group + 1]) / (2.0 * spacing)
            self._information[row, SCALE] += cross
            self._information[SCALE, row] += cross
        self._gradient[SCALE] += 0.5 * (squares[0] - number)
        self._information[SCALE, SCALE] += 0.5 * np.maximum(squares[0], number)
        gain = np.minimum(seen / memory, 0.5)
        self._move(gain, memory)
        before = self.leak
        common = float(keep.mean()), float(gain.mean())
        self._leak.move(strict[3], strict[0], strict[4], *common, LEAK_SPACING, *np.log(LEAK))
        self._theta[RATIO] += self._compensation(before, self.leak)
        if with_velocity and self._known_delay is None:
            self._delay.move(score[7], score[0], score[8], *common, self._delay_spacing(), 0.0, 0.5 * self.lag)
        self._bound()

    def _move(self, gain: Array, memory: Array) -> None:
        """One step of Fisher scoring, as a logarithm: levels are variances, and may be wrong by orders of magnitude."""
        number = np.maximum(self._number, 1.0)
        gradient, information = self._gradient / number, self._information / number
        diagonal = np.maximum(np.einsum("iij->ij", information), 0.0)
        relative = self._theta - self._reference
        weight = diagonal * memory
        common = ((weight * relative).sum(axis=1) + FIRST_WEIGHT * self._start) / (weight.sum(axis=1) + FIRST_WEIGHT)
        push = gradient + POOL / memory * (common[:, None] - relative)
        for i in range(3):
            information[i, i] = diagonal[i] + POOL / memory
        for i in (RATIO, VELOCITY):
            most = 0.65 * np.sqrt(information[i, i] * information[SCALE, SCALE])  # keeps it positive definite
            information[i, SCALE] = information[SCALE, i] = np.clip(information[i, SCALE], -most, most)
        step = np.linalg.solve(information.transpose(2, 0, 1), push.T[:, :, None])[:, :, 0].T
        step[SCALE] = gain * np.log1p(np.maximum(step[SCALE], -0.85))
        low, high = self._scale_bounds()
        step[SCALE] = np.clip(self._theta[SCALE] + step[SCALE], low, high) - self._theta[SCALE]
        for i in (RATIO, VELOCITY):  # given how far the scale moves
            rest = (push[i] - information[i, SCALE] * step[SCALE] / np.maximum(gain, 1e-9)) / information[i, i]
            step[i] = gain * (np.clip(rest, -3.0, 3.0) if i == RATIO else np.log1p(np.maximum(rest, -0.85)))
        self._theta += np.where(gain > 0, step, 0.0)

    def _compensation(self, before: float, after: float) -> Array:
        """How ln(density) follows a change of the leak so that the bandwidth stays about the same."""
        usual = self.bandwidth()
        return 2.0 * np.log((after + usual) / (before + usual))

    @property
    def leak(self) -> float:
        return float(np.exp(self._leak.value))

    @property
    def delay(self) -> float:
        return self._delay.value

    def _white(self) -> Array:
        """White part of the noise of positions and velocities (2, n_joints), 0 where unknown: an upper bound."""
        *rough, _, number = self._rough
        rough = np.array(rough)
        return np.where(number > 0, rough / np.maximum(number, 1.0), 0.0)

    def _least_white(self) -> Array:
        """White noise of positions (n_joints,) for certain: third differences of white noise have a correlation of
        -3/4 with the one before, those of motion of nearly 1; 0 where unknown."""
        square, _, product, number = self._rough
        return np.where(number > 30.0, np.clip(square - product, 0.0, 1.75 * square) / 1.75 / np.maximum(number, 1.0), 0.0)

    def _quantization(self) -> Array:
        return np.where(np.isfinite(self._step), self._step**2 / 12.0, 1e-30)

    def _scale_bounds(self) -> tuple[Array, Array]:
        least = np.maximum(self._quantization()[0], SURE * self._least_white())
        most = 4.0 * np.maximum(np.maximum(self._white()[0], np.exp(self._reference[SCALE])), 4.0 * least)
        return np.log(least), np.log(most)

    def _bound(self) -> None:
        self._theta[SCALE] = np.clip(self._theta[SCALE], *self._scale_bounds())
        floor = np.log(np.maximum(self._quantization()[1], 0.3 * self._white()[1])) - self._theta[SCALE]
        ceiling = np.maximum(np.log(FIRST_VELOCITY) - self._theta[SCALE], floor)
        self._theta[VELOCITY] = np.clip(self._theta[VELOCITY], floor, ceiling)
        low, high = BANDWIDTH[0], min(BANDWIDTH[1], 0.25 / self.interval)
        now = self.bandwidth()
        self._theta[RATIO] += 8.0 * np.log(np.clip(now, low, high) / now)

    def bandwidth(self) -> Array:
        return bandwidth(self.snap, self.position, self.velocity if self.with_velocity else None, self.interval)

    @property
    def lag(self) -> float:
        return float(min(1.0 / self.bandwidth().min(), LONGEST_LAG))

    @property
    def horizon(self) -> float:
        return max(self.lag / 16.0, 0.1 * self.interval)

    def _delay_spacing(self) -> float:
        return max(0.0625 * self.lag, 0.2 * self.interval)

    def hypotheses(self) -> tuple[Array, Array]:
        """(4, GROUPS, n_joints)"""
        levels = np.empty((4, GROUPS, self.n_joints))
        levels[:3] = self._theta[:, None]
        levels[3] = self.delay
        for row, group in ((RATIO, 1), (VELOCITY, 5)):
            levels[row, group] += SPACING[row]
            levels[row, group + 1] -= SPACING[row]
        levels[3, 7] += self._delay_spacing()
        levels[3, 8] -= self._delay_spacing()
        factor = np.exp(LEAK_SPACING)
        leak = self.leak * np.array([1.0, 1.0, 1.0, factor, 1.0 / factor, 1.0, 1.0, 1.0, 1.0])
        for group in (3, 4):
            levels[RATIO, group] += self._compensation(self.leak, leak[group])
        levels[[RATIO, VELOCITY]] += levels[SCALE]
        np.exp(levels[:3], out=levels[:3])
        return levels, leak
