"""Time stamps of a stream: accepted only while they move forward."""

from icub_learning.errors import SampleError

RESTART_AFTER = 50  # stamps in a row below the last accepted one, rising among themselves, that show a clock set back
CAUGHT_UP = 5  # the same, if later ones then follow: a clock set back by less has caught up; late messages are fewer
NEAREST = 1000  # [ns] least time between two stamps: no topic comes at 1 MHz, and velocities would be absurd
USUAL_SAMPLES = 16  # samples over which what is usual is averaged: a quarter of their scatter is left in it


class UsualInterval:
    """The usual time between two stamps of a topic, in any unit: `value`, 0 before the first; a pause counts little."""

    def __init__(self) -> None:
        self.value = 0.0

    def follow(self, elapsed: float) -> None:
        """Take in the time since the last stamp, above 0."""
        usual = self.value or elapsed
        self.value = usual + (min(elapsed, 2.0 * usual) - usual) / USUAL_SAMPLES


class StampSequence:
    """Refuses stamps that are zero, negative, repeated (NEAREST) or older than the last accepted one.

    A simulator that restarts or a recording that loops sets the clock back for good: after RESTART_AFTER stamps that
    lie behind but rise among themselves, repetitions aside, or CAUGHT_UP if these come up to the last one, the new time
    is taken.
    """

    def __init__(self) -> None:
        self.last = 0  # accepted stamp [ns]
        self._behind_last, self._behind_count = 0, 0

    def accept(self, stamp: int) -> bool:
        """Accept a stamp [ns], of a sample whose values have been checked; return whether the clock was set back.
        Raises SampleError: reason one of stamp_zero, stamp_negative, stamp_repeated, stamp_backwards."""
        if stamp == 0:
            raise SampleError("stamp_zero", "the stamp is zero: its source sets no time", value=stamp)
        if stamp < 0:
            raise SampleError("stamp_negative", f"the stamp is {stamp} ns, before time began", value=stamp)
        if self.last and 0 <= (after := stamp - self.last) < NEAREST:
            text = f"came {after} ns after the last one, less than a microsecond" if after else "came before"
            raise SampleError("stamp_repeated", f"the stamp {stamp} ns {text}", value=stamp)
        if set_back := stamp < self.last:
            risen = stamp - self._behind_last
            self._behind_count = 1 if risen < 0 else self._behind_count + (risen >= NEAREST)
            self._behind_last = stamp
            if self._behind_count < RESTART_AFTER:
                late = (self.last - stamp) * 1e-9
                text = f"the stamp {stamp} ns is {late:.6f} s behind the last one"
                raise SampleError("stamp_backwards", text, value=stamp, bound=f"above {self.last}")
        caught_up, self._behind_count = self._behind_count >= CAUGHT_UP, 0
        self.last = stamp
        return set_back or caught_up
