"""Samples become blocks: means over BLOCK seconds, numbered and remembered."""

from collections import deque
from collections.abc import Callable

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics.changes.error_model import BLOCK, Step
from icub_learning.dynamics.changes.event import LONG, Block
from icub_learning.dynamics.estimators.prediction import LONGEST_PERIOD
from icub_learning.dynamics.motion.motion import Motion
from icub_learning.dynamics.motion.stamps import UsualInterval

# [s] without any sample, or without any doubt, after which a change is a new event; two jolts are less far apart.
QUIET = LONGEST_PERIOD


class Blocks:
    """Averages the errors of m outputs, and the variances that were predicted for them, over blocks of BLOCK seconds.

    Attributes:
        last: stamp of the last sample [ns], 0 before the first.
        number: number of the last block.
        passed: time from the block before to the last one, in usual periods: above 1 where samples were lost.
        fewer: how many times fewer samples the last block has than usual.
        history: the latest blocks, the newest last."""

    def __init__(self, n_outputs: int) -> None:
        self._sum, self._began = np.zeros((2, n_outputs)), 0
        self._error, self._variance = self._sum
        self._partial: list[Array] = []  # mean errors of the first samples of the block
        self._moved: Array = np.zeros((2, 1))  # sums of velocities and accelerations
        self._begin()
        self.last, self.number, self.passed, self.fewer = 0, 0, 1.0, 1.0
        self._full = 1  # samples of the last block that was not ended early
        self._ended, self._usual = 0, UsualInterval()  # stamp of the last block [ns]
        self.history: deque[Block] = deque(maxlen=LONG)

    def paused(self, stamp: int) -> bool:
        """Return whether a sample of this time [ns] comes after a pause, or the time was set back."""
        return bool(self.last) and not 0.0 < (stamp - self.last) * 1e-9 <= QUIET

    def forget(self) -> None:
        """Drop what is remembered, and the block that has begun."""
        self._begin()
        self.history.clear()

    def means(
        self, motion: Motion, error: Array, variance: Array | None, is_strange: Callable[[Array, float], bool]
    ) -> tuple[Motion, Array] | None:
        """Add a sample; if a block ends with it, return the mean motion, with the stamp of this sample, and (3, m):
        mean error, mean variance (0 where that is not known) and scatter of the errors.

        A block ends when it is complete, or when `is_strange` says that its mean error (m,) so far, of `fewer` times
        fewer samples than usual, is to be judged at once: its variance is larger by `fewer - 1` times the scatter."""
        stamp = motion.stamp
        elapsed, self.last = (stamp - self.last) * 1e-9, stamp
        if not self._count:
            self._began = stamp
        self._error += error
        if variance is not None:
            self._variance += variance
        self._count += 1
        self._ages += stamp - self._began
        self._moved = self._moved + np.array(motion[2:])
        self._partial.append(self._error / self._count)
        self.fewer = 1.0
        # A block is complete when the next sample would lie beyond it.
        if (stamp - self._began) * 1e-9 + min(max(elapsed, 0.0), BLOCK) < BLOCK - 1e-6 and elapsed < BLOCK:
            self.fewer = max(self._full / self._count, 1.0)
            if not is_strange(self._partial[-1], self.fewer):
                return None
        else:
            self._full = self._count
        ended, self._ended, self.passed = self._ended, stamp, 1.0
        if 0 < ended < stamp:  # neither the first block, nor was the time set back
            since = float(stamp - ended)
            self.passed = max(1.0, since / (self._usual.value or since))
            if self.fewer == 1.0:
                self._usual.follow(since)
        means = np.array([self._partial[-1], self._variance / self._count, self._scatter()])
        velocity, acceleration = self._moved / self._count
        ago = (stamp - self._began - self._ages / self._count) * 1e-9  # age of the mean motion [s]
        self._begin()
        # Positions are not averaged: their mean is meaningless where a joint without limits has wrapped around.
        return Motion(stamp, motion.position - ago * velocity, velocity, acceleration), means

    def _begin(self) -> None:
        self._sum[:], self._count, self._ages = 0.0, 0, 0
        self._moved = np.zeros((2, 1))
        self._partial.clear()

    def _scatter(self) -> Array:
        """Return the scatter (m,): the mean of the first n of N errors lies about that of all N with a variance of
        (N - n) / n times the scatter, which is estimated from each n and averaged."""
        if self._count == 1:
            return np.zeros(len(self._error))
        n = np.arange(1.0, self._count)[:, None]
        away = (np.array(self._partial) - self._partial[-1])[:-1]
        return np.asarray((n / (self._count - n) * away**2).sum(axis=0) / (self._count - 1))

    def add(self, stamp: int, error: Array, columns: Array, step: Step, state: Array, novelty: Array | None) -> Block:
        """Return the next block, which is remembered; see Block."""
        self.number += 1
        self.history.append(Block(self.number, stamp, error, columns, step, state, novelty, self.passed))
        return self.history[-1]
