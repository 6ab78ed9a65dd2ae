"""Which samples to learn from when they come faster than they can be learned."""

from icub_learning.arrays import integer

NEXT = 1  # samples that wait under overload: the next one, so that the learner is never idle


class Thinning:
    """Takes every sample while the learner keeps up; else as many as it can learn, evenly spread over time.

    Up to `limit` samples may wait, as after a hold-up of the machine. When so many do, this is overload: from then on a
    sample is taken only when the learner is about to need one, which spaces them by the time that one takes, until the
    learner had nothing to wait for during `limit` samples in a row. No sample waits longer than it takes to learn
    `limit` others.

    Args:
        limit: samples that may wait.

    Raises:
        ParameterError: limit is below 1.
    """

    def __init__(self, limit: int) -> None:
        self._limit = integer("limit", limit, 1)
        self._overload = False
        self._idle = 0  # samples in a row that found nothing waiting

    def take(self, waiting: int) -> bool:
        """Whether to learn the next sample, given how many wait already."""
        self._idle = self._idle + 1 if waiting == 0 else 0
        if waiting >= self._limit:
            self._overload = True
        elif self._idle >= self._limit:
            self._overload = False
        return waiting < (min(NEXT, self._limit) if self._overload else self._limit)
