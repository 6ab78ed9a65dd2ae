"""Choice of the samples to learn from when they arrive faster than they can be learned."""

from icub_learning.arrays import integer


class Thinning:
    """Takes every sample while the learner keeps up; otherwise as many as it can learn, evenly spread over time.

    Under overload `limit` samples wait, and one is taken whenever another has been learned: they are spaced by the
    learning time of one, and none waits longer than it takes to learn `limit` others.

    Args:
        limit: largest number of waiting samples.

    Raises:
        ParameterError: limit is below 1.
    """

    def __init__(self, limit: int) -> None:
        self._limit = integer("limit", limit, 1)

    def take(self, waiting: int) -> bool:
        """Return whether to take the next sample while `waiting` others wait."""
        return waiting < self._limit
