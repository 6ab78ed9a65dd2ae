"""What becomes of joint states and measurements on their way through a stream."""

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics.estimators.prediction import Estimator, Prediction, Predictor
from icub_learning.dynamics.motion.motion import Motion
from icub_learning.errors import ParameterError

REMEMBERED_STATES = 512  # joint states kept until their measurement has arrived, and measurements for a tare
SPAN = 0.5  # [s] length of the interval over which a tare averages
FEWEST = 5  # least number of measurements in that interval


@dataclass
class StateRecord:
    """One joint state on its way from prediction to learning."""

    stamp: int  # ns
    known: Motion  # motion at `stamp`, derived without delay: what the prediction was made from
    prediction: Prediction
    body: Prediction  # the part of it without the load, which the model predicted; the same where none is carried
    load: Array | None  # (n_outputs,) what a load adds
    settled: bool  # whether it was found how well this very motion is known, so that its error is judged
    motion: Motion | None = None  # motion at `stamp`, smoothed by later samples
    measured: Array | None = None  # (n_outputs,)
    fault: str | None = None  # fault of the sensor, see SensorFaults


@dataclass(frozen=True)
class Sample:
    """One sample to learn from: the motion and the measurement of one instant."""

    motion: Motion  # smoothed by later samples
    known: Motion  # derived without delay: what the prediction was made from
    measured: Array  # (n_outputs,)
    published: Prediction | None  # prediction judged by the measurement; None: the estimator is to judge itself

    def teach(self, estimator: Estimator, count: int = 1) -> None:
        """Update an estimator with this sample, which stands for `count` of them where others were left out."""
        # An estimator that is given every sample need not accept `count`.
        more: dict[str, Any] = {"count": count} if count > 1 else {}
        q, v, a = self.motion[1:]
        known, stamp = self.known[1:], self.motion.stamp
        estimator.update(q, v, a, self.measured, known=known, stamp=stamp, published=self.published, **more)


@dataclass(frozen=True)
class External:
    """A measurement and its external part: what the prediction made for the same instant does not explain."""

    stamp: int  # stamp of the joint state [ns]
    measured: Array  # (n_outputs,)
    known: Motion  # motion that the prediction was made from
    predict: Callable[[], Prediction]  # makes the prediction again, without what follows the newest errors
    load: Array | None  # (n_outputs,) what a load adds; None without one
    more_variance: Callable[[Array], Array] | None = None  # of the load, and of gain errors in reading a signal

    @cached_property
    def undisturbed(self) -> Prediction:
        """The prediction of the body alone by weights that no push moves."""
        return self.predict()

    @property
    def unexpected(self) -> Array:
        """What the body alone does not explain of the measurement, (n_outputs,): load and contact."""
        return np.asarray(self.measured - self.undisturbed.total)

    @property
    def external(self) -> Array:
        """Measured minus predicted, (n_outputs,): contact alone."""
        return self.unexpected if self.load is None else self.unexpected - self.load

    @property
    def deviation(self) -> Array:
        """Standard deviation of `external`, (n_outputs,): of the prediction, the load and the sensor's gain errors."""
        variance = self.undisturbed.variance
        return np.sqrt(variance if self.more_variance is None else variance + self.more_variance(self.external))


@dataclass
class StreamCounts:
    """How many messages a stream has accepted, paired, learned and refused."""

    predicted: int = 0  # joint states accepted, each answered by one prediction
    measured: int = 0  # measurements paired with a joint state
    learned: int = 0  # samples learned by `learn`
    withheld: int = 0  # samples not learned because something was carried or touched
    # Samples not learned because of a sensor in trouble, by what is wrong with it.
    faults: Counter[str] = field(default_factory=Counter)
    unpaired: int = 0  # joint states for which no measurement came within the tolerance
    surplus: int = 0  # measurements that came more often than joint states; those nearest to joint states are paired
    refused: Counter[str] = field(default_factory=Counter)  # messages, by reason
    last_refusal: str = ""  # reason and text of the newest one


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
    Raises ParameterError: fewer than 5 measurements."""
    if len(recent) < FEWEST:
        text = f"at least {FEWEST} to tare the sensor"
        raise ParameterError(f"number of measurements in the last {SPAN:g} s", len(recent), text)
    return np.asarray(np.mean([measured - estimator.predict(*known[1:]).total for known, measured in recent], axis=0))
