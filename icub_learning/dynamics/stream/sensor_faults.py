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
        self._last: list[float] = []  # all in lists: for a few outputs NumPy's calls take longer than their work
        self._since = [0] * n_outputs  # stamp [ns] at which each output took its present value
        self._position = np.zeros(0)  # at the newest of these
        self._lively = [0.0] * n_outputs
        self._largest = [0.0] * n_outputs

    def check(self, stamp: int, measured: Array, position: Array) -> str | None:
        """Return FROZEN, SATURATED or None for a measurement (n_outputs,) at a stamp [ns] and joint positions."""
        values, last = measured.tolist(), self._last
        self._last = values
        if not last:
            self._position = position
            self._since = [stamp] * len(values)
            return None
        since = self._since
        if values == last:
            long_ago = (stamp - max(since)) * 1e-9 >= FROZEN_SECONDS
            if long_ago and np.abs(position - self._position).max() > MOVED:
                return FROZEN
        else:
            self._position = position
        stuck, shares = False, []
        for i, value in enumerate(values):
            changed, size = value != last[i], abs(value)
            if changed:
                since[i] = stamp
            self._largest[i] = max(self._largest[i], size)
            lasted = (stamp - since[i]) * 1e-9
            at_end = not changed and size == self._largest[i]
            stuck |= at_end and lasted >= SATURATED_SECONDS and self._lively[i] > LIVELY
            # What may be stuck tells nothing.
            shares.append(0.0 if at_end and lasted < 2.0 * SATURATED_SECONDS else SHARE)
        if stuck and values != last:
            return SATURATED
        for i, share in enumerate(shares):
            self._lively[i] += share * ((values[i] != last[i]) - self._lively[i])
        return None
