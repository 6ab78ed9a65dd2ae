"""A load that has been accepted: what is learned of it while it is carried, and whether it explains the errors."""

import numpy as np
from scipy.special import chdtri

from icub_learning.arrays import Array
from icub_learning.dynamics.changes.error_model import Step
from icub_learning.dynamics.changes.event import Attempt, Block, EvidenceOfCauses, load_of

ESTIMATE_EVERY = 5  # [blocks] between two estimates of the load
FIT_SPAN = 100  # [blocks] over which it is checked that a load explains the errors
LEFT_SHARE = 0.25  # largest mean squared error that a load may leave, of that without it: half the deviation
LEFT = float(chdtri(6, 5.222e-4)) / 6  # 4.0, the same, of the usual one: six errors that last exceed it with 0.05 %


class CarriedLoad:
    """Follows a load that is carried.

    Args:
        causes: feeds the evidence.
        since: stamp of the first sample with the load [ns].
        attempt: that has shown it.

    Attributes:
        load: what is known of it.
        left: mean squared error with it, relative to the usual one.
    """

    def __init__(self, causes: EvidenceOfCauses, since: int, attempt: Attempt) -> None:
        self._causes, self._evidence, self._state = causes, attempt.bare, attempt.bare_state
        self.load = load_of(since, self._evidence)
        self._n_blocks, self._without, self.left = 0, 0.0, 0.0

    @property
    def explains(self) -> bool:
        """Whether a load can be what it is; True until there are errors enough to tell."""
        return self._n_blocks < FIT_SPAN or self.left <= max(LEFT_SHARE * self._without, LEFT)

    def follow(self, block: Block, deviation: Array) -> Step:
        """Learn more of the load from a block, and return its step with the noise that the load adds.

        Args:
            block: its error is that without the load.
            deviation: (m,) standard deviations of usual errors.
        """
        evidence = self._evidence
        step = self._causes.step(evidence, block)
        self._state, white = step(self._state, block.error[:, None])
        self._causes.add(evidence, block, step, white[:, 0])
        if evidence.n_blocks % ESTIMATE_EVERY == 0:
            self.load = load_of(self.load.since, evidence)
        self._n_blocks += 1
        without, left = ((np.stack([block.error, block.without(self.load)]) / deviation) ** 2).mean(axis=1).tolist()
        self._without += (without - self._without) / min(self._n_blocks, FIT_SPAN)
        self.left += (left - self.left) / min(self._n_blocks, FIT_SPAN)
        return step
