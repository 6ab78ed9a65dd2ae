"""The newest measurements and their motions, from which a sensor is tared."""

from collections import deque

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics.stream.records import External
from icub_learning.dynamics.stream.stream import Estimator
from icub_learning.errors import ParameterError

SPAN = 0.5  # [s] over which a tare averages
FEWEST = 5  # measurements in it
MOST = 1000  # measurements kept


class RecentMeasurements:
    """Keeps the measurements that arrived within the last 0.5 s, the newest 1000 of them at most."""

    def __init__(self) -> None:
        self._kept: deque[tuple[float, External]] = deque(maxlen=MOST)

    def add(self, arrival: float, measured: External) -> None:
        """Add a measurement that arrived now [s, of any steady clock]."""
        self._kept.append((arrival, measured))
        while arrival - self._kept[0][0] > SPAN:
            self._kept.popleft()

    def within(self, now: float) -> list[External]:
        """Return the measurements that arrived in the last 0.5 s before `now`."""
        return [measured for arrival, measured in self._kept if now - arrival <= SPAN]


def mean_error(estimator: Estimator, recent: list[External]) -> Array:
    """Return the mean of what was measured minus what the estimator predicts now for the same motions, (n_outputs,).

    Raises:
        ParameterError: fewer than 5 measurements.
    """
    if len(recent) < FEWEST:
        text = f"at least {FEWEST} to tare the sensor"
        raise ParameterError(f"number of measurements in the last {SPAN:g} s", len(recent), text)
    motions = [(one.known.position, one.known.velocity, one.known.acceleration) for one in recent]
    errors = [one.measured - estimator.predict(*motion).total for one, motion in zip(recent, motions, strict=True)]
    return np.asarray(np.mean(errors, axis=0))
