"""Measurements that a sensor in trouble shows: frozen while the robot moves, or at the end of its range."""

import numpy as np

from icub_learning.arrays import Array

FROZEN_SECONDS = 0.5  # in which all outputs repeat exactly
MOVED = 0.01  # [rad or m] that a joint must have moved meanwhile
SATURATED_SECONDS = 0.2  # in which an output repeats the largest value that it has ever shown
LIVELY = 0.9  # share of samples in which an output changes; coarser ones repeat their values anyway
SHARE = 0.01  # of each sample in that share
FROZEN, SATURATED = "sensor_frozen", "sensor_saturated"


class SensorFaults:
    """Finds measurements that must not be learned although each of them alone is possible.

    Args:
        n_outputs: number of outputs.
    """

    def __init__(self, n_outputs: int) -> None:
        self._last: Array | None = None
        self._since = np.zeros(n_outputs, dtype=np.int64)  # stamp [ns] at which each output took its present value
        self._position = np.zeros(0)  # at the newest of these
        self._lively = np.zeros(n_outputs)
        self._largest = np.zeros(n_outputs)

    def check(self, stamp: int, measured: Array, position: Array) -> str | None:
        """Return FROZEN, SATURATED or None for a measurement (n_outputs,) at a stamp [ns] and joint positions."""
        if self._last is None:
            self._last, self._position = measured, position
            self._since[:] = stamp
            return None
        changed = measured != self._last
        self._last = measured
        if changed.any():
            self._position = position
        self._since[changed] = stamp
        lasted = (stamp - self._since) * 1e-9
        if not changed.any() and lasted.min() >= FROZEN_SECONDS and np.abs(position - self._position).max() > MOVED:
            return FROZEN
        np.maximum(self._largest, np.abs(measured), out=self._largest)
        at_end = ~changed & (np.abs(measured) == self._largest)
        stuck = at_end & (lasted >= SATURATED_SECONDS) & (self._lively > LIVELY)
        if stuck.any() and changed.any():
            return SATURATED
        share = np.where(at_end & (lasted < 2.0 * SATURATED_SECONDS), 0.0, SHARE)  # what may be stuck tells nothing
        self._lively += share * (changed - self._lively)
        return None
