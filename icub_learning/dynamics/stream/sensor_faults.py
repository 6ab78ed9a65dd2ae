"""Measurements of a sensor in trouble: axes without a driver, a frozen sensor, one at the end of its range."""

from collections.abc import Sequence

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics import _checks

FROZEN_SECONDS = 0.5  # [s] least time in which all outputs of a frozen sensor repeat exactly
MOVED = 0.01  # [rad or m] least motion of some joint meanwhile
SATURATED_SECONDS = 0.2  # [s] least time in which a saturated output repeats the largest value that it has ever shown
LIVELY = 0.9  # least share of samples in which an output changes; coarser ones repeat their values anyway
SHARE = 0.01  # weight of each sample in that share
LIMITS = FROZEN_SECONDS, MOVED, SATURATED_SECONDS, LIVELY, SHARE
CHECKED_SAMPLES = 200  # measurements of a moving robot after which SensorCheck reports
LEAST_MOVE = 1e-3  # [rad or m] least motion of some joint from one measurement that counts to the next
LONGEST_LEVER = 2.0  # [m] a torque larger than force times this cannot come from an arm
FROZEN, SATURATED = "sensor_frozen", "sensor_saturated"


class SensorFaults:
    """Finds measurements that must not be learned although each of them alone is possible."""

    def __init__(self, n_outputs: int) -> None:
        # Last values, when they changed [ns after the first], shares of samples that change, largest magnitudes.
        self._state = np.zeros((4, n_outputs))
        self._first: int | None = None  # stamp [ns]
        self._position = np.zeros(0)  # joint positions at the last change of an output

    def check(self, stamp: int, measured: Array, position: Array) -> str | None:
        """Return FROZEN, SATURATED or None for a measurement (n_outputs,) at a stamp [ns] and joint positions."""
        measured, position = np.ascontiguousarray(measured), np.ascontiguousarray(position)  # may be rows of recordings
        if self._first is None:
            self._first, self._position, self._state[0] = stamp, position.copy(), measured
            return None
        found = _checks.sensor(
            self._state, self._position, measured, position, len(measured), len(position), stamp - self._first, *LIMITS
        )
        return (None, FROZEN, SATURATED)[found]


class SensorCheck:
    """Reports, once after CHECKED_SAMPLES measurements of a moving robot, which axes look wrong.

    An axis that repeats one number exactly while the robot moves is not measured (a driver that reads the wrong index
    shows a constant or a number near zero). A torque beyond force times LONGEST_LEVER is not that of the same sensor.

    Args:
        names: names of the axes.
        is_wrench: whether they are three forces and three torques.
    """

    def __init__(self, names: Sequence[str], is_wrench: bool) -> None:
        self._names, self._is_wrench = tuple(names), is_wrench
        self._first: Array | None = None
        self._position: Array | None = None  # joint positions at the last measurement that counted
        self._moved = np.zeros(len(names), dtype=bool)
        self._largest, self._count = np.zeros(len(names)), 0

    def add(self, measured: Array, position: Array) -> str | None:
        """Add one measurement (n_outputs,), taken at joint positions (n_joints,) [rad].

        Return the findings in words after the last one ("" if there are none), None before and afterwards.
        """
        if self._count >= CHECKED_SAMPLES:
            return None
        if self._position is not None and np.abs(position - self._position).max() < LEAST_MOVE:
            return None
        self._position = np.array(position)
        if self._first is None:
            self._first = measured.copy()
        # Smaller differences are remains in uninitialized memory, not measurements.
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
                text = f"beyond {limit:.3g} Nm, too much for these forces: a faulty driver?"
                findings.append(f"{', '.join(beyond)} {text}")
        return "; ".join(findings)
