"""A load that has been accepted: what is learned of it while it is carried."""

from icub_learning.dynamics.changes.error_model import Step
from icub_learning.dynamics.changes.event import LATEST, Attempt, Block, EvidenceOfCauses, load_of


class CarriedLoad:
    """Follows a load that is carried.

    Args:
        causes: feeds the evidence.
        since: stamp of the first sample with the load [ns].
        attempt: that has shown it.

    Attributes:
        load: what is known of it.
    """

    def __init__(self, causes: EvidenceOfCauses, since: int, attempt: Attempt) -> None:
        self._causes, self._evidence, self._state = causes, attempt.bare, attempt.bare_state
        self.load = load_of(since, self._evidence)

    def step(self, block: Block) -> Step:
        """Return the step of a block with the noise that the load adds."""
        return self._causes.step(self._evidence, block)

    def learn(self, block: Block, step: Step) -> None:
        """Learn more of the load from a block, whose error is that without it, and from its step."""
        evidence = self._evidence
        self._state, white = step(self._state, block.error[:, None])
        self._causes.add(evidence, block, step, white[:, 0])
        if evidence.n_blocks % LATEST == 0:
            self.load = load_of(self.load.since, evidence)
