"""Which samples to learn from when they come faster than they can be learned."""

from icub_learning.arrays import integer

MAX_STRIDE = 1024


class Thinning:
    """Takes every sample while the learner keeps up, else only every second, fourth, eighth, ... evenly.

    The stride doubles when `limit` samples wait and halves when none does: what is learned is spread evenly over time,
    and no sample waits longer than the learner needs for `limit` others (twice that in the worst case).

    Args:
        limit: samples that may wait.

    Raises:
        ParameterError: limit is below 1.
    """

    def __init__(self, limit: int) -> None:
        self._limit = integer("limit", limit, 1)
        self._stride = 1
        self._since = 0  # samples since the last one taken
        self._settling = 0  # samples to come before the stride may change again

    def take(self, waiting: int) -> bool:
        """Whether to learn the next sample, given how many wait already."""
        self._settling -= 1
        if self._settling <= 0:
            if waiting >= self._limit and self._stride < MAX_STRIDE:
                self._change(2 * self._stride)
            elif not waiting and self._stride > 1:
                self._change(self._stride // 2)
        self._since += 1
        if self._since < self._stride or waiting >= 2 * self._limit:
            return False
        self._since = 0
        return True

    def _change(self, stride: int) -> None:
        """A new stride shows its effect on what waits only after a while."""
        self._stride = stride
        self._settling = self._limit
