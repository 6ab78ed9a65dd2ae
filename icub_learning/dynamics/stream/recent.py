"""The newest measurements and their motions, from which a sensor is tared."""

from collections import deque

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics.estimators.prediction import Predictor
from icub_learning.dynamics.motion.motion import Motion
from icub_learning.dynamics.stream.stream import REMEMBERED_STATES
from icub_learning.errors import ParameterError

SPAN = 0.5  # [s] over which a tare averages
FEWEST = 5  # measurements in it


class RecentMeasurements:
    """Keeps the measurements that arrived within the last 0.5 s, the newest REMEMBERED_STATES of them at most."""

    def __init__(self) -> None:
        self._kept: deque[tuple[float, Motion, Array]] = deque(maxlen=REMEMBERED_STATES)

    def add(self, arrival: float, known: Motion, measured: Array) -> None:
        """Add a measurement (n_outputs,) that arrived now [s, of any steady clock], and the motion it belongs to."""
        self._kept.append((arrival, known, measured))
        while arrival - self._kept[0][0] > SPAN:
            self._kept.popleft()

    def within(self, now: float) -> list[tuple[Motion, Array]]:
        """Return motions and measurements of those that arrived in the last 0.5 s before `now`."""
        return [(known, measured) for arrival, known, measured in self._kept if now - arrival <= SPAN]


def mean_error(estimator: Predictor, recent: list[tuple[Motion, Array]]) -> Array:
    """Return the mean of what was measured minus what the estimator predicts now for the same motions, (n_outputs,).

    Raises ParameterError: fewer than 5 measurements.
    """
    if len(recent) < FEWEST:
        text = f"at least {FEWEST} to tare the sensor"
        raise ParameterError(f"number of measurements in the last {SPAN:g} s", len(recent), text)
    errors = [measured - estimator.predict(*known[1:]).total for known, measured in recent]
    return np.asarray(np.mean(errors, axis=0))
