"""Measurements of a sensor in trouble: axes without a driver, a frozen sensor, one at the end of its range."""

from collections.abc import Mapping, Sequence

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
MARGIN = 0.5  # [rad or m] distance beyond a limit of the URDF that calibration may explain
MOST_BEYOND = 0.2  # share of the samples in which a joint may be beyond its limits by more
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
    """Reports, once after CHECKED_SAMPLES measurements of a moving robot, which axes and positions look wrong.

    An axis that repeats one number exactly while the robot moves is not measured (a driver that reads the wrong index
    shows a constant or a number near zero). A torque beyond force times LONGEST_LEVER is not that of the same sensor.

    Args:
        names: names of the axes.
        is_wrench: whether they are three forces and three torques.
        limits: lowest and highest position of each joint by its name [rad or m], infinite without any.
    """

    def __init__(self, names: Sequence[str], is_wrench: bool, limits: Mapping[str, tuple[float, float]]) -> None:
        self._names, self._is_wrench, self._joints = tuple(names), is_wrench, tuple(limits)
        self._low, self._high = np.array(list(limits.values())).T
        self._beyond = np.zeros(len(limits))  # numbers of samples beyond the limits
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
        self._beyond += beyond_limits(position, self._low, self._high)
        self._count += 1
        return self._verdict() if self._count == CHECKED_SAMPLES else None

    def _verdict(self) -> str:
        findings = []
        still = [name for name, moved in zip(self._names, self._moved, strict=True) if not moved]
        if len(still) == len(self._names):
            findings.append("no axis ever changed: is the sensor connected?")
        elif still:
            findings.append(f"{', '.join(still)} never changed: a faulty driver?")
        if self._is_wrench and self._moved[:3].any():
            limit = LONGEST_LEVER * max(float(np.linalg.norm(self._largest[:3])), 1.0)
            if beyond := [self._names[i] for i in range(3, 6) if self._largest[i] > limit]:
                text = f"beyond {limit:.3g} Nm, too much for these forces: a faulty driver?"
                findings.append(f"{', '.join(beyond)} {text}")
        if (far := self._beyond > MOST_BEYOND * self._count).any():
            joints = ", ".join(name for name, beyond in zip(self._joints, far, strict=True) if beyond)
            findings.append(f"{joints} more than {MARGIN:g} rad, or m, beyond the URDF's limits: degrees?")
        return "; ".join(findings)


def beyond_limits(position: Array, low: Array, high: Array) -> Array:
    """Return whether positions (..., n_joints) lie more than MARGIN beyond limits (n_joints,)."""
    return np.asarray((position < low - MARGIN) | (position > high + MARGIN))
