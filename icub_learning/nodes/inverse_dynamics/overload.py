"""What is left out where a machine has too little time: samples to learn from, and judging what was predicted."""

from icub_learning.arrays import integer, real
from icub_learning.dynamics.stream.stream import SETTLED

LONGEST_SETTLED = 2 * SETTLED  # [ns] the same on a machine without spare time: each block of ChangeMonitor has a sample
FAIR = 0.5  # share of a core for predicting; of its time that learning may wait for one, as beside one busy program

SHARE_OF_NEWEST = 0.1  # weight of each new cost in the mean, which follows within some ten; no single one moves it far
LEAST_LEFT = 0.05  # least share of a core that counts as left, of which the learning share is taken


class Thinning:
    """Chooses which samples to learn: evenly spread, as many as a share of the core time left by predicting allows.

    Predicting and learning share one interpreter, so that together they have one core. What learning a sample costs is
    found as samples are learned. The time in which nothing was predicted earns processor time at the rate of the share;
    a sample is taken when its cost has been earned, and no more is saved than one costs: so there are no bursts after a
    pause. While `limit` samples wait, none is taken.

    Args:
        share: share of what is left of a core, above 0; 1 or more: all that there is.
        limit: largest number of waiting samples.

    Raises:
        ParameterError: an argument is outside its range.
    """

    def __init__(self, share: float, limit: int) -> None:
        self._share, self.limit = real("share", share, 0.0, low_open=True), integer("limit", limit, 1)
        self.cost = 0.0  # [s] core time that learning one sample takes; 0 before the first one
        self._earned, self._last, self._predicting = 0.0, 0.0, 0.0  # [s] core time; values of the last call of `take`
        self._count = 0  # samples since one was taken

    def take(self, now: float, waiting: int, predicting: float = 0.0) -> int:
        """Return how many samples this one stands for, itself among them; 0: it is left out.

        `now` is the time of a steady clock [s], `waiting` the number of samples that wait to be learned, and
        `predicting` the time of a core that predictions have taken in all [s].
        """
        self._count += 1
        passed, used = now - self._last, predicting - self._predicting
        self._earned = min(self._earned + self._share * max(passed - used, LEAST_LEFT * passed), self.cost)
        self._last, self._predicting = now, predicting
        if waiting >= self.limit or (self._share < 1.0 and self._earned < self.cost):
            return 0
        self._earned -= self.cost
        count, self._count = self._count, 0
        return count

    def learned(self, seconds: float) -> None:
        """Record the processor time [s] that learning a sample has taken."""
        self.cost += (SHARE_OF_NEWEST if self.cost else 1.0) * (seconds - self.cost)


class SettlingPeriod:
    """Chooses how often predictions are settled and judged: less often where processor time is short.

    Both take longer than the answer. Where all together take more than half of a core, joint states come to wait for
    each other, and at real-time priority learning, services and other programs get no time. `value` is the least time
    from one such prediction to the next [ns], SETTLED to LONGEST_SETTLED.
    """

    def __init__(self) -> None:
        self.value = SETTLED
        self._last = 0.0, 0.0, 0.0, 0.0

    def follow(self, ran: float, waited: float, predicting: float, now: float) -> int:
        """Return the next value, from total times [s]: the learning thread `ran` and `waited` for a core, the
        predicting one ran for `predicting`. `now` [s] is that of a steady clock."""
        times = ran, waited, predicting, now
        ran, waited, predicting, passed = (max(new - old, 0.0) for new, old in zip(times, self._last, strict=True))
        self._last = times
        short = max(waited / max(ran + waited, 1e-9), predicting / max(passed, 1e-9))
        self.value = min(max(round(self.value * short / FAIR), SETTLED), LONGEST_SETTLED)
        return self.value
