"""A look at the first measurements of a sensor: axes that cannot be real, as faulty drivers publish them."""

from collections.abc import Sequence

import numpy as np

from icub_learning.arrays import Array

CHECKED_SAMPLES = 200
LONGEST_LEVER = 2.0  # m: a torque larger than force times this does not come from an arm


class SensorCheck:
    """Watches the first CHECKED_SAMPLES measurements and then says, once, which axes look wrong.

    Real sensors are noisy, so an axis that repeats one number exactly is not measured (a driver that reads the wrong
    index shows a constant or a number that is nearly zero). For a wrench, a torque beyond force times LONGEST_LEVER is
    not the torque of the same sensor.

    Args:
        names: of the axes.
        is_wrench: whether these are three forces and three torques.
    """

    def __init__(self, names: Sequence[str], is_wrench: bool) -> None:
        self._names = tuple(names)
        self._is_wrench = is_wrench
        self._first: Array | None = None
        self._moved = np.zeros(len(names), dtype=bool)
        self._largest = np.zeros(len(names))
        self._count = 0

    def add(self, measured: Array) -> str | None:
        """Take one measurement in; after the last one returns what looks wrong in words, "" for nothing, else None."""
        if self._count >= CHECKED_SAMPLES:
            return None
        if self._first is None:
            self._first = measured.copy()
        # What differs by less than this is no measurement but what was left in the memory that was read.
        self._moved |= np.abs(measured - self._first) > 1e-12
        np.maximum(self._largest, np.abs(measured), out=self._largest)
        self._count += 1
        return self._verdict() if self._count == CHECKED_SAMPLES else None

    def _verdict(self) -> str:
        findings = []
        if self._moved.any():
            still = [name for name, moved in zip(self._names, self._moved, strict=True) if not moved]
            if still:
                findings.append(f"{', '.join(still)} never changed: a faulty driver?")
        else:
            findings.append("no axis ever changed: is the sensor connected?")
        if self._is_wrench and self._moved[:3].any():
            limit = LONGEST_LEVER * max(float(np.linalg.norm(self._largest[:3])), 1.0)
            beyond = [self._names[i] for i in range(3, 6) if self._largest[i] > limit]
            if beyond:
                findings.append(
                    f"{', '.join(beyond)} beyond {limit:.3g} Nm, too much for these forces: a faulty driver?"
                )
        return "; ".join(findings)
