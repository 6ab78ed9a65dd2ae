"""Noise levels of joint motion, found while it is filtered, from how well neighbouring levels would have predicted it.

Levels of one joint: the density of the white snap that drives its motion and the variances of measured positions and
velocities. All joints share the rate at which the jerk decays and the delay of the velocities. Predictions of filters
whose levels differ in one parameter are scored by their likelihood (prediction error decomposition: Schweppe 1965;
adaptive filtering: Mehra 1970), and the levels move by Fisher scoring with a memory that grows from a few to a thousand
predictions (recursive prediction error method: Ljung and Soederstroem 1983).
"""

from collections.abc import Sequence
from enum import IntEnum
from math import inf

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics.motion.first_noise import first_noise
from icub_learning.dynamics.motion.joint_states import LARGEST

# Parameters of a joint, all as logarithms: density of the snap over the variance of positions, which sets the
# bandwidth; variance of positions, which scales all; variance of velocities over that of positions.
Level = IntEnum("Level", "RATIO SCALE VELOCITY", start=0)
# Filters side by side: the levels in use; the same where the filter does not react to surprises, so that its scores are
# those of the levels; then one parameter raised or lowered, last those that need velocities.
Group = IntEnum(
    "Group", "IN_USE HERE RATIO_UP RATIO_DOWN LEAK_UP LEAK_DOWN VELOCITY_UP VELOCITY_DOWN DELAY_UP DELAY_DOWN", start=0
)
RATIO, SCALE, VELOCITY = Level
State = IntEnum("State", "POSITION VELOCITY ACCELERATION JERK")  # state of a joint, see docs/theory/motion_filter.md
STATES = len(State)
HERE = Group.HERE
RATIO_GROUPS, LEAK_GROUPS = (Group.RATIO_UP, Group.RATIO_DOWN), (Group.LEAK_UP, Group.LEAK_DOWN)
VELOCITY_GROUPS, DELAY_GROUPS = (Group.VELOCITY_UP, Group.VELOCITY_DOWN), (Group.DELAY_UP, Group.DELAY_DOWN)
GROUPS, MOVING_GROUPS = len(Group), len(VELOCITY_GROUPS + DELAY_GROUPS)

# How far neighbours lie apart, as factors: far enough to differ in likelihood, near enough for a parabola in between.
RATIO_SPACING, LEAK_SPACING, VELOCITY_SPACING = np.log([8.0, 3.0, 6.0])

# Prior before the first sample, with the weight of one prediction: some seconds of motion override it:
FIRST_RATIO = np.log(1e11)  # density of the snap over the variance of positions [1/s^7]
FIRST_POSITION = np.log(1e-8)  # variance of positions until they change [rad^2]
FIRST_VELOCITY = 0.0  # ln of 1 rad^2/s^2, variance of velocities: they count little until proved right
FIRST_LEAK = np.log(3.0)  # rate at which the jerk decays [1/s]

MEMORY = (20.0, 1000.0)  # scored predictions of a joint after which one counts 1/e: at the start, and at most
GROWTH = 4.0  # ratio of all scored predictions of a joint to those in the memory
AVERAGE = 0.5  # share of the memory over which a step is averaged: with a larger one levels swing
POOL = 4.0  # [predictions] weight of the level common to all joints in that of each joint
# rad^2, (rad/s)^2: least variance of a measurement, far below that of any encoder. Simulated joints at rest repeat
# their positions to 1e-17, and a filter that believed them would lose its covariances to rounding.
LEAST_NOISE = 1e-18
WHITE = 0.3  # least level of noise, as a share of the white noise that is seen directly
POSITIONS_FIRST = 10.0  # weight of positions over velocities where late or filtered velocities would mislead

# Largest step of the logarithm of the ratio, which grows as the bandwidth to the power of twice the number of states:
# a step changes the bandwidth by a factor of e at most.
E_FOLD = float(STATES + STATES)

LEAK = np.log([0.3, 100.0])  # bounds of the rate at which the jerk decays [1/s]
BANDWIDTH = (0.3, 60.0)  # bounds of the bandwidth [Hz]; it is also at most a quarter of the sampling rate, or MOTION
# [Hz] frequency up to which arms move: where a quarter of the rate is less, the bandwidth may reach it, but no aliases
MOTION = 10.0  # of such motion, from the rate less MOTION on: docs/decisions/2026-11-29-slow-and-offset-efforts.md
LONGEST_PERIOD = 0.5  # [s] a bandwidth of a longer period counts as one of this period
LONGEST_DELAY = LONGEST_PERIOD / 2.0  # [s] of measured velocities
LAG = 0.25  # share of the period; chosen on three recordings of real arms: docs/decisions/2026-11-26-what-is-fresh.md


def bandwidth(snap: Array, position: Array, velocity: Array | None, interval: float) -> Array:
    """Return the bandwidth of the stationary filter [Hz]: where motion and noise have the same spectral density.

    `snap` is the density of the snap, per s^7, `position` and `velocity` are variances of measurements `interval` [s]
    apart, None where velocities are not measured.
    """
    information = snap / (position * interval)
    omega = information ** (1.0 / E_FOLD)
    if velocity is not None:
        more = snap / (velocity * interval)
        for _ in range(5):  # each iteration leaves a quarter of the error
            omega = (information + more * omega**2) ** (1.0 / E_FOLD)
    return omega / (2.0 * np.pi)


class SharedLevel:
    """A parameter that all joints share, moved by how well its neighbours predicted, `spacing` away on each side."""

    def __init__(self, value: float, spacing: float) -> None:
        self.value, self.spacing = value, spacing
        self._gradient = self._information = 0.0

    def adapt(self, most: float) -> None:
        """Set the spacing, `most` at most: where likelihoods differ, or as far away as the best value seems to be."""
        slope, information = abs(self._gradient), self._information
        self.spacing = min(max(information**-0.5, slope / information), most) if information > 0.0 else most

    def move(self, scores: Array, pair: Sequence[int], keep: float, gain: float) -> None:
        """Take the share `gain` of a step by log-likelihoods (GROUPS, n_joints); earlier ones keep the weight `keep`.

        `pair` are the groups in which the parameter is raised and lowered.
        """
        here, up, down, spacing = scores[HERE], scores[pair[0]], scores[pair[1]], self.spacing
        self._gradient = keep * self._gradient + float((up - down).sum()) / (2.0 * spacing)
        self._information = keep * self._information + float((2.0 * here - up - down).sum()) / spacing**2
        self.value += gain * self._gradient / (max(self._information, abs(self._gradient) / spacing) + 1.0 / spacing**2)


class NoiseLevels:
    """The noise levels in use, and what is known about them; `delay` is that of velocities [s], None to estimate it."""

    def __init__(self, n_joints: int, delay: float | None = None) -> None:
        self._n_joints = n_joints
        self._interval, self._with_velocity = 0.01, False  # [s] between samples; whether velocities are measured
        self._delay_known = delay is not None
        self._delay, self._leak = SharedLevel(delay or 0.0, inf), SharedLevel(FIRST_LEAK, LEAK_SPACING)
        first = [[FIRST_RATIO], [FIRST_POSITION], [FIRST_VELOCITY - FIRST_POSITION]]
        # Levels of each joint as first found: levels are pooled relative to these.
        self._usual: Array = np.repeat(first, n_joints, axis=1)
        self._levels = self._usual.copy()
        self._start = np.zeros(3)  # common level before anything was scored, relative to the usual one
        self._gradient, self._information = np.zeros((3, n_joints)), np.zeros((3, 3, n_joints))
        self.memory = np.full(n_joints, MEMORY[0])  # scored predictions after which one counts 1/e
        self._averaged, self._seen = np.zeros((2, n_joints))  # numbers of predictions in these two, and of all
        self._step = np.full((2, n_joints), np.inf)  # smallest change seen of positions, of velocities
        self._rough = np.zeros((4, n_joints))  # sums of roughness, see `Filter`
        self._bound()

    def report(self) -> dict[str, Array | float]:
        """Return what was found about noise and motion, see MotionFilter.report."""
        snap, position, velocity = self._densities()
        return {
            "position_noise": np.sqrt(position), "velocity_noise": np.sqrt(velocity), "snap_density": snap,
            "jerk_decay": self._decay, "velocity_delay": self._delay.value, "bandwidth": self._bandwidth.copy(),
            "lag": LAG * self._period, "rate": 1.0 / self._interval,
        }  # fmt: skip

    def _densities(self) -> Array:
        """Return density of the snap, per s^7, and variances of positions and velocities, (3, n_joints)."""
        levels = self._levels.copy()
        levels[[RATIO, VELOCITY]] += levels[SCALE]
        return np.asarray(np.exp(levels))

    @property
    def _decay(self) -> float:
        """Rate at which the jerk decays, 1/s."""
        return float(np.exp(self._leak.value))

    def begin(self, positions: Array, velocities: Array | None, interval: float) -> None:
        """Start from the first samples (k, n_joints), `interval` [s] apart; None where velocities are not measured."""
        self._interval, self._with_velocity = interval, velocities is not None
        found = [np.full(self._n_joints, FIRST_POSITION), np.full(self._n_joints, FIRST_VELOCITY)]
        for row, values in enumerate((positions, velocities)):
            if values is None:
                continue
            white, self._step[row], counted = first_noise(values)
            moved = np.isfinite(self._step[row])
            if not moved.any():
                continue
            exact = counted if row == 0 else False  # velocities have noise of their own
            level = np.log(np.where(exact, 0.0, white) + self._quantization()[row])
            found[row] = np.where(moved, level, np.median(level[moved]))
        self._usual[SCALE], self._usual[VELOCITY] = found[0], found[1] - found[0]
        self._levels = self._usual.copy()
        self._levels[VELOCITY] = FIRST_VELOCITY - self._levels[SCALE]
        self._start = (self._levels - self._usual).mean(axis=1)
        self._bound()

    def learn(self, scores: Array, tallies: Array, steps: Array, interval: float, with_velocity: bool) -> None:
        """Move the levels by what `Filter` has gathered since the last call, of samples `interval` [s] apart."""
        self._interval += 0.3 * (interval - self._interval)
        self._with_velocity, self._step = with_velocity, np.minimum(self._step, steps)
        positions, velocities, moving, *rough = tallies
        seen = np.maximum(positions, velocities)
        self._seen += seen
        memory = self.memory = np.clip(self._seen / GROWTH, *MEMORY)
        self._rough = self._rough * np.exp(-seen / MEMORY[1]) + rough
        keep, gain = np.exp(-seen / (AVERAGE * memory)), np.minimum(seen / memory, 0.5)
        self._averaged, squares = keep * self._averaged + seen, scores[2] + scores[3]
        score = -0.5 * (scores[0] + scores[1] + squares)
        self._gather(scores, score, squares, positions, velocities, keep)
        self._move(gain, memory)
        all_keep, all_gain = float(keep.mean()), float(gain.mean())
        before = self._decay
        strict = score - 0.5 * (POSITIONS_FIRST - 1.0) * (scores[0] + scores[2])
        # At rest only what noise makes look like motion is scored: jerks of it would seem to decay at once.
        share = float(moving.sum() / max(positions.sum(), 1.0))
        self._leak.move(strict, LEAK_GROUPS, all_keep, share * all_gain)
        self._leak.value = float(np.clip(self._leak.value, *LEAK))
        self._levels[RATIO] += self._along(before, self._decay)
        if with_velocity and not self._delay_known:
            moved = moving / np.maximum(positions, 1.0) * score  # noise of joints at rest would fit some delay
            self._delay.move(moved, DELAY_GROUPS, all_keep, all_gain)
            self._delay.value = float(np.clip(self._delay.value, 0.0, LONGEST_DELAY))
        self._bound()

    def times(self) -> tuple[float, float, float]:
        """Return the period, the lag and the horizon, by which scored predictions reach ahead [s].

        The horizon is longer than errors stay alike, and shorter than the motion does.
        """
        return self._period, LAG * self._period, max(self._period / 16.0, 0.1 * self._interval)

    def hypotheses(self) -> Array:
        """Return the levels (5, GROUPS, n_joints) of each group, see `Filter`."""
        levels = np.empty((5, GROUPS, self._n_joints))
        levels[:3] = self._levels[:, None]
        levels[3], levels[4] = self._delay.value, self._decay
        self._delay.adapt(max(self._period / 16.0, 0.2 * self._interval))
        for sign, i in ((1.0, 0), (-1.0, 1)):
            levels[RATIO, RATIO_GROUPS[i]] += sign * RATIO_SPACING
            levels[VELOCITY, VELOCITY_GROUPS[i]] += sign * VELOCITY_SPACING
            levels[3, DELAY_GROUPS[i]] += sign * self._delay.spacing
            levels[4, LEAK_GROUPS[i]] *= np.exp(sign * self._leak.spacing)
            levels[RATIO, LEAK_GROUPS[i]] += self._along(self._decay, levels[4, LEAK_GROUPS[i]])
        levels[[RATIO, VELOCITY]] += levels[SCALE]
        np.exp(levels[:3], out=levels[:3])
        return levels

    def _gather(
        self, scores: Array, score: Array, squares: Array, positions: Array, velocities: Array, keep: Array
    ) -> None:
        """Add gradients of the log-likelihood and information about each joint's parameters."""
        self._gradient *= keep
        self._information *= keep
        number = positions + velocities
        rows = [(RATIO, RATIO_GROUPS, RATIO_SPACING), (VELOCITY, VELOCITY_GROUPS, VELOCITY_SPACING)]
        for row, (up, down), spacing in rows if self._with_velocity else rows[:1]:
            self._gradient[row] += (score[up] - score[down]) / (2.0 * spacing)
            # The expected information as well: the observed one vanishes where a variance is far too large.
            slope = (scores[:2, up] - scores[:2, down]) / (2.0 * spacing)
            expected = 0.5 * (slope**2 / np.maximum([positions, velocities], 1.0)).sum(axis=0)
            observed = (2.0 * score[HERE] - score[up] - score[down]) / spacing**2
            self._information[row, row] += np.maximum(observed, expected)
            cross = -0.25 * (squares[up] - squares[down]) / spacing
            self._information[row, SCALE] += cross
            self._information[SCALE, row] += cross
        self._gradient[SCALE] += 0.5 * (squares[HERE] - number)  # all variances scale: no neighbours needed
        self._information[SCALE, SCALE] += 0.5 * np.maximum(squares[HERE], number)

    def _move(self, gain: Array, memory: Array) -> None:
        """Take one step of Fisher scoring for each joint, drawn towards the level common to all."""
        number = np.maximum(self._averaged, 1.0)
        gradient, information = self._gradient / number, self._information / number
        diagonal = np.maximum(information[range(3), range(3)], 0.0)
        relative, weight = self._levels - self._usual, diagonal * memory
        common = ((weight * relative).sum(axis=1) + self._start) / (weight.sum(axis=1) + 1.0)
        pool = POOL / memory
        # Where joints know less than the pool weighs, it would hold all of them back: the common level moves, too.
        apart, known = relative - common[:, None], memory / (diagonal + pool)
        along = (known * (gradient + diagonal * apart)).sum(axis=1) / ((known * diagonal).sum(axis=1) + 1.0)
        along[SCALE] = 0.0
        target = common + np.clip(along, -E_FOLD, E_FOLD)
        push = gradient + pool * (target[:, None] - relative)
        information[range(3), range(3)] = diagonal = diagonal + pool
        for i in (RATIO, VELOCITY):
            most = 0.65 * np.sqrt(diagonal[i] * diagonal[SCALE])  # keeps the information positive definite
            information[i, SCALE] = information[SCALE, i] = np.clip(information[i, SCALE], -most, most)
        scale = np.linalg.solve(information.transpose(2, 0, 1), push.T[:, :, None])[:, SCALE, 0]
        # Variances may be wrong by orders of magnitude: their steps are taken as those of a logarithm.
        target = self._levels[SCALE] + gain * np.log1p(np.maximum(scale, -0.85))
        scale = np.clip(target, *self._scale_bounds()) - self._levels[SCALE]
        some = np.where(gain > 0.0, gain, 1.0)
        # Given how far the scale could move:
        ratio, velocity = ((push[i] - information[i, SCALE] * scale / some) / diagonal[i] for i in (RATIO, VELOCITY))
        self._levels[RATIO] += gain * np.clip(ratio, -E_FOLD, E_FOLD)
        self._levels[SCALE] += np.where(gain > 0.0, scale, 0.0)
        self._levels[VELOCITY] += gain * np.log1p(np.maximum(velocity, -0.85))

    def _along(self, before: float, after: float) -> Array:
        """Return how the ratio follows a change of the leak so that the bandwidth stays about the same."""
        return 2.0 * np.log((after + self._bandwidth) / (before + self._bandwidth))

    def _quantization(self) -> Array:
        """Return the variance of positions and velocities (2, n_joints) from their quantization alone."""
        return np.maximum(np.where(np.isfinite(self._step), self._step**2 / 12.0, 0.0), LEAST_NOISE)

    def _white(self) -> Array:
        """Return mean squared roughness of positions and velocities (2, n_joints): white noise, and some motion."""
        return np.asarray(self._rough[:2] / np.maximum(self._rough[3], 1.0))

    def _scale_bounds(self) -> tuple[Array, Array]:
        square, _, product, number = self._rough
        # Third differences of white noise have a correlation of -3/4 with the one before, those of motion of nearly 1.
        white = np.clip((square - product) / 1.75, 0.0, square) / np.maximum(number, 1.0)
        least = np.maximum(self._quantization()[0], np.where(number > 30.0, WHITE * white, 0.0))
        most = 4.0 * np.maximum(np.maximum(self._white()[0], np.exp(self._usual[SCALE])), 4.0 * least)
        return np.log(least), np.log(most)

    def _bound(self) -> None:
        """Keep all levels within what was seen directly, and the bandwidth within bounds."""
        levels = self._levels
        levels[SCALE] = np.clip(levels[SCALE], *self._scale_bounds())
        least = np.log(np.maximum(self._quantization()[1], WHITE * self._white()[1]))
        found = np.clip(levels[VELOCITY] + levels[SCALE], least, np.maximum(least, np.log(LARGEST**2)))
        levels[VELOCITY] = found - levels[SCALE]
        snap, position, velocity = self._densities()
        now = bandwidth(snap, position, velocity if self._with_velocity else None, self._interval)
        most = max(0.25 / self._interval, min(MOTION, 1.0 / self._interval - MOTION))
        self._bandwidth = np.clip(now, BANDWIDTH[0], min(BANDWIDTH[1], most))
        levels[RATIO] += E_FOLD * np.log(self._bandwidth / now)
        self._period = float(min(1.0 / self._bandwidth.min(), LONGEST_PERIOD))  # [s] of the slowest joint
