"""How long something has been in doubt without a quiet moment, and how many loads were found meanwhile."""

from icub_learning.dynamics.changes.load import Load

QUIET = 1.0  # [s] without any doubt, after which what comes is a new event; between two jolts there are shorter pauses
SETTLED = 3.0  # [s] after which a load is no longer in doubt


class Unrest:
    """The time since something was in doubt last for QUIET; `loads` were accepted since then."""

    def __init__(self, stamp: int = 0) -> None:
        # Stamps [ns] of the last quiet moment, and of the last doubt.
        self._quiet, self._doubt, self.loads = stamp, stamp, 0

    def follow(self, stamp: int, disturbed: bool, load: Load | None) -> None:
        """Note what is believed at a time [ns]."""
        if disturbed or (load is not None and (stamp - load.since) * 1e-9 < SETTLED):
            self._doubt = stamp
        elif (stamp - self._doubt) * 1e-9 > QUIET:
            self._quiet, self.loads = stamp, 0

    def seconds(self, stamp: int) -> float:
        """Return for how long there has been no quiet moment at a time [ns]."""
        return (stamp - self._quiet) * 1e-9
