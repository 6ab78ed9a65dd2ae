"""Which joint state a measurement belongs to: the one nearest in time."""

from collections import deque
from collections.abc import Sequence
from itertools import takewhile

from icub_learning.arrays import Array
from icub_learning.dynamics.motion.stamps import StampSequence, UsualInterval
from icub_learning.dynamics.stream.records import StateRecord

RARER = 0.75  # ratio of the times between messages of two topics, halfway from equal rates to one twice the other
MOST_WAITING = 64  # measurements kept until the joint state that they belong to has arrived


class Pairing:
    """Measurements that wait for the joint state nearest to them in time.

    Topics have rates of their own. Of measurements that come more often than joint states, the one nearest to each
    joint state is paired; the others are left out.

    Args:
        tolerance: largest difference between the stamps of a measurement and its joint state [ns].
    """

    def __init__(self, tolerance: int) -> None:
        self.tolerance, self._stamps = tolerance, StampSequence()
        self.waiting: deque[tuple[int, Array]] = deque()  # stamps [ns] and values, oldest first
        self._usual = UsualInterval()  # usual time between measurements [ns]

    def add(self, stamp: int, measured: Array) -> int | None:
        """Let a measurement wait; return the stamp of the oldest one if that has to give way to it. Raises SampleError:
        its stamp is not later than that of the measurement before; nothing changes."""
        last = self._stamps.last
        if self._stamps.accept(stamp):  # the clock was set back
            self.waiting.clear()
        elif last:
            self._usual.follow(stamp - last)
        self.waiting.append((stamp, measured))
        return self.waiting.popleft()[0] if len(self.waiting) > MOST_WAITING else None

    def take(self, newest: int) -> tuple[int, Array] | None:
        """Return the oldest measurement that waits, unless it is later than `newest`, the last joint state [ns]."""
        return self.waiting.popleft() if self.waiting and self.waiting[0][0] <= newest else None

    def is_awaited(self, record: StateRecord) -> bool:
        """Return whether a measurement that belongs to a joint state may be waiting, or still come."""
        latest = record.stamp + self.tolerance
        return self._stamps.last <= latest or (bool(self.waiting) and self.waiting[0][0] <= latest)

    def nearest(self, stamp: int, records: Sequence[StateRecord]) -> StateRecord | None:
        """Return the joint state of `records`, oldest first, that is nearest to the `stamp` of a measurement [ns].

        Those without a measurement are preferred. None: there is none within the tolerance.
        """
        recent = takewhile(lambda record: record.stamp >= stamp - self.tolerance, reversed(records))
        near = [record for record in recent if record.stamp <= stamp + self.tolerance]
        return min(near, key=lambda one: (one.measured is not None, abs(one.stamp - stamp)), default=None)

    def is_surplus(self, stamp: int, record: StateRecord | None, usual: float) -> bool:
        """Return whether the joint state nearest to the measurement that `take` returned last has one already, or a
        nearer one is about to come; without a nearest one, whether joint states, which come each `usual` ns, are rarer.
        """
        if record is None:
            return 0.0 < self._usual.value < RARER * usual
        following = self.waiting[0][0] if self.waiting else stamp + self._usual.value
        return record.measured is not None or abs(following - record.stamp) < abs(stamp - record.stamp)
