"""The newest seconds of several outputs: measured, predicted, and how sure the prediction was."""

import numpy as np

from icub_learning.arrays import Array
from icub_learning.evaluation.metrics import group_rmse

SPAN = 8.0  # [s] of the curves
PERIOD = 0.05  # [s] between two points of a curve
ERROR_SPAN = 3.0  # [s] under the mean of squared errors
SIGMAS = 2.0  # half the width of the band around a prediction, in standard deviations


class Curves:
    """A window of the newest `capacity` points; older ones drop out."""

    def __init__(self, n_outputs: int, capacity: int = round(SPAN / PERIOD)) -> None:
        self._capacity, self._n_outputs = capacity, n_outputs
        self.clear()

    def clear(self) -> None:
        """Drop all points: time has been set back, or the learner is another one."""
        n = self._n_outputs
        self._start = self.newest_stamp = 0  # [ns]
        self.seconds = np.zeros(0)  # (n,) since the first point ever [s]
        # (n, n_outputs) each, the last one a standard deviation
        self.measured, self.predicted, self.parametric, self.deviation = (np.zeros((0, n)) for _ in range(4))

    def __len__(self) -> int:
        return len(self.seconds)

    def add(self, stamp: int, measured: Array, predicted: Array, parametric: Array, variance: Array) -> None:
        """Append a point at a stamp [ns], (n_outputs,) each; one older than the newest starts the curves anew."""
        if stamp < self.newest_stamp:
            self.clear()
        if not len(self):
            self._start = stamp
        self.newest_stamp = stamp
        kept = slice(max(0, len(self) + 1 - self._capacity), None)
        self.seconds = np.append(self.seconds[kept], (stamp - self._start) * 1e-9)
        for name, row in (
            ("measured", measured),
            ("predicted", predicted),
            ("parametric", parametric),
            ("deviation", np.sqrt(np.maximum(variance, 0.0))),
        ):
            setattr(self, name, np.vstack([getattr(self, name)[kept], row]))

    @property
    def external(self) -> Array:
        """(n, n_outputs) measured minus predicted: contacts, and what is not known yet."""
        return self.measured - self.predicted

    def rmse(self, columns: slice, part: str = "predicted") -> float:
        """Return the RMSE of outputs over ERROR_SPAN, of the prediction or its rigid-body part; NaN without points."""
        if not len(self):
            return float("nan")
        recent = self.seconds > self.seconds[-1] - ERROR_SPAN
        return group_rmse((self.measured - getattr(self, part))[recent][:, columns])


class ErrorCurve:
    """Errors over minutes: a point a second (times [s], and rows of a number a curve), thinned by half when full."""

    def __init__(self, capacity: int = 600) -> None:
        self._capacity, self._step = capacity, 1.0
        self.seconds: list[float] = []
        self.values: list[list[float]] = []

    def add(self, seconds: float, row: list[float]) -> bool:
        """Append a point unless it is too near to the last one; return whether it was. Time set back starts anew."""
        if self.seconds and seconds < self.seconds[-1]:
            self.seconds, self.values, self._step = [], [], 1.0
        if self.seconds and seconds < self.seconds[-1] + self._step:
            return False
        self.seconds.append(seconds)
        self.values.append(row)
        if len(self.seconds) > self._capacity:
            self.seconds, self.values, self._step = self.seconds[::2], self.values[::2], 2.0 * self._step
        return len(self.seconds) > 1
