"""A load that has been accepted: what is learned of it while it is carried, and whether it explains the errors."""

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics.changes.event import MOTION_ERROR, Block, EvidenceOfCauses, load_of
from icub_learning.dynamics.changes.evidence import Evidence

ESTIMATE_EVERY = 5  # [blocks] between two estimates of the load
FIT_SPAN = 100  # [blocks] over which it is checked that a load explains the errors
LEFT_SHARE = 0.25  # largest mean squared error that a load may leave, of that without it
LEFT = 4.0  # the same, of the usual one; the larger of the two holds


class CarriedLoad:
    """Follows a load that is carried.

    Args:
        causes: feeds the evidence.
        since: stamp of the first sample with the load [ns].
        evidence: for the load since then.
        state: (2 m, 1) of the filter that feeds the evidence.

    Attributes:
        load: what is known of it.
    """

    def __init__(self, causes: EvidenceOfCauses, since: int, evidence: Evidence, state: Array) -> None:
        self._causes, self._evidence, self._state = causes, evidence, state
        self.load = load_of(since, evidence)
        self._n_blocks = 0
        self._squares = np.zeros(2)  # mean squared errors without the load and with it, relative to the usual ones

    @property
    def noise(self) -> Array:
        """Variances (m,) that the load adds to the errors, as its accelerations are not known exactly."""
        noise: Array = MOTION_ERROR**2 * self._evidence.level
        return noise

    @property
    def left(self) -> float:
        """Mean squared error with the load, relative to the usual one."""
        return float(self._squares[1])

    @property
    def explains(self) -> bool:
        """Whether a load can be what it is; True until there are errors enough to tell."""
        without, left = self._squares
        return self._n_blocks < FIT_SPAN or bool(left <= max(LEFT_SHARE * without, LEFT))

    def follow(self, block: Block, deviation: Array) -> None:
        """Learn more of the load from a block.

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
        left = block.error - block.load_columns @ self.load.parameters
        squares = (np.stack([block.error, left]) / deviation) ** 2
        self._n_blocks += 1
        self._squares += (squares.mean(axis=1) - self._squares) / min(self._n_blocks, FIT_SPAN)
