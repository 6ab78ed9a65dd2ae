"""Samples become blocks: means over BLOCK seconds, numbered and remembered."""

from collections import deque

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics.changes.error_model import BLOCK, Step
from icub_learning.dynamics.changes.event import LONG, Block
from icub_learning.dynamics.estimators.prediction import LONGEST_PERIOD
from icub_learning.dynamics.motion.stamps import UsualInterval

# [s] without any sample, or without any doubt, after which what comes is a new event; two jolts are less far apart.
QUIET = LONGEST_PERIOD


class Blocks:
    """The means (2, m) of errors and their variances over one block after the other.

    Attributes:
        last: stamp of the last sample [ns], 0 before the first.
        number: number of the last block.
        passed: time from the block before to the last one, in usual times between two: above 1 where samples were lost.
        history: the latest blocks, the newest last.
    """

    def __init__(self, n_outputs: int) -> None:
        self._sum, self._count, self._began = np.zeros((2, n_outputs)), 0, 0
        self._error, self._variance = self._sum
        self.last, self.number, self.passed = 0, 0, 1.0
        self._ended, self._usual = 0, UsualInterval()  # stamp of the last block [ns]
        self.history: deque[Block] = deque(maxlen=LONG)

    def paused(self, stamp: int) -> bool:
        """Return whether a sample of this time [ns] comes after a pause, or the time was set back."""
        return bool(self.last) and not 0.0 < (stamp - self.last) * 1e-9 <= QUIET

    def forget(self) -> None:
        """Drop what is remembered, and the block that has begun."""
        self._sum[:], self._count = 0.0, 0
        self.history.clear()

    def means(self, stamp: int, error: Array, variance: Array | None) -> Array | None:
        """Return the means if this sample completes a block; variances that are not known count as 0."""
        elapsed, self.last = (stamp - self.last) * 1e-9, stamp
        if not self._count:
            self._began = stamp
        self._error += error
        if variance is not None:
            self._variance += variance
        self._count += 1
        # A block is complete when the next sample would lie beyond it.
        if (stamp - self._began) * 1e-9 + min(max(elapsed, 0.0), BLOCK) < BLOCK - 1e-6 and elapsed < BLOCK:
            return None
        ended, self._ended, self.passed = self._ended, stamp, 1.0
        if 0 < ended < stamp:  # neither the first block, nor was the time set back
            since = float(stamp - ended)
            self.passed = max(1.0, since / (self._usual.value or since))
            self._usual.follow(since)
        means: Array = self._sum / self._count
        self._sum[:], self._count = 0.0, 0
        return means

    def add(self, stamp: int, error: Array, columns: Array, step: Step, state: Array, novelty: Array | None) -> Block:
        """Return the next block, which is remembered; see Block."""
        self.number += 1
        self.history.append(Block(self.number, stamp, error, columns, step, state, novelty, self.passed))
        return self.history[-1]
