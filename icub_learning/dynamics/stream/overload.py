"""Which samples to learn from when they come faster than they can be learned."""

from icub_learning.arrays import integer


class Thinning:
    """Takes every sample while the learner keeps up; else as many as it can learn, evenly spread over time.

    Up to `limit` samples may wait. Under overload so many do, and one is taken whenever another has been learned:
    they are spaced by the time that one takes, and none waits longer than it takes to learn `limit` others.

    Args:
        limit: samples that may wait.

    Raises:
        ParameterError: limit is below 1.
    """

    def __init__(self, limit: int) -> None:
        self._limit = integer("limit", limit, 1)

    def take(self, waiting: int) -> bool:
        """Whether to learn the next sample, given how many wait already."""
        return waiting < self._limit
