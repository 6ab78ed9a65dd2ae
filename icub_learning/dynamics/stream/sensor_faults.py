"""Measurements that a sensor in trouble shows: frozen while the robot moves, or at the end of its range."""

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics import _checks

FROZEN_SECONDS = 0.5  # in which all outputs repeat exactly
MOVED = 0.01  # [rad or m] that a joint must have moved meanwhile
SATURATED_SECONDS = 0.2  # in which an output repeats the largest value that it has ever shown
LIVELY = 0.9  # share of samples in which an output changes; coarser ones repeat their values anyway
SHARE = 0.01  # of each sample in that share
LIMITS = FROZEN_SECONDS, MOVED, SATURATED_SECONDS, LIVELY, SHARE
FROZEN, SATURATED = "sensor_frozen", "sensor_saturated"
FINDINGS = None, FROZEN, SATURATED


class SensorFaults:
    """Finds measurements that must not be learned although each of them alone is possible.

    Args:
        n_outputs: number of outputs.
    """

    def __init__(self, n_outputs: int) -> None:
        # Last values, since when [ns after the first], how lively they are, and largest magnitudes so far.
        self._state = np.zeros((4, n_outputs))
        self._first: int | None = None  # stamp [ns]
        self._position = np.zeros(0)  # at the last change of an output

    def check(self, stamp: int, measured: Array, position: Array) -> str | None:
        """Return FROZEN, SATURATED or None for a measurement (n_outputs,) at a stamp [ns] and joint positions."""
        measured, position = np.ascontiguousarray(measured), np.ascontiguousarray(position)  # may be rows of recordings
        if self._first is None:
            self._first, self._position, self._state[0] = stamp, position.copy(), measured
            return None
        found = _checks.sensor(
            self._state, self._position, measured, position, len(measured), len(position), stamp - self._first, *LIMITS
        )
        return FINDINGS[found]
