"""An estimator that judges and learns measurements only after a delay."""

from array import array
from collections import deque
from collections.abc import Callable
from math import inf
from time import perf_counter_ns
from typing import Any

from numpy.typing import ArrayLike

from icub_learning.arrays import Array
from icub_learning.dynamics.estimators.prediction import Prediction
from icub_learning.dynamics.stream.records import Sample
from icub_learning.dynamics.stream.stream import answer_of


def is_due(stamp: int, now: int, delay: float) -> bool:
    """Return whether a stamp [ns] is older than `delay` [ns], or so far ahead that the clock was set back since."""
    return not now - delay < stamp <= now + delay


class DelayedEstimator:
    """Predicts by what an estimator, with predict and update, knew `delay` [ns] ago; the predictor of a stream.

    It judges and learns measurements only when joint states come that are newer than them by `delay`. Experts are thus
    weighted by the errors of predictions that looked as far ahead. With an infinite delay nothing is judged, and
    nothing is learned before `finish`.
    """

    def __init__(self, estimator: Any, delay: float) -> None:
        self._estimator, self._delay = estimator, delay
        # Waiting calls with the stamps [ns] from which their delay counts: they judge experts, or learn samples.
        self._verdicts: deque[tuple[int, Callable[[], None]]] = deque()
        self._samples: deque[tuple[int, Callable[[], None]]] = deque()
        self._now = 0  # stamp of the newest joint state [ns]
        self.seconds = array("d")  # time to learn each sample [s]

    def advance(self, stamp: int) -> None:
        """Judge and learn what is due at a joint state of this stamp [ns]; all that waits if the clock was set back."""
        self._do(lambda counted_from: is_due(counted_from, stamp, self._delay))
        self._now = stamp
        if told := getattr(self._estimator, "nothing_measured", None):
            told(self._delay * 1e-9)

    def finish(self) -> None:
        """Judge and learn all that waits."""
        self._do(lambda _: True)

    def _do(self, due: Callable[[int], bool]) -> None:
        for waiting in (self._verdicts, self._samples):
            while waiting and due(waiting[0][0]):
                waiting.popleft()[1]()

    def predict(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Prediction:
        """Predict from position, velocity, acceleration, each (n_joints,). Raises ShapeError, NotFiniteError."""
        made: Prediction = self._estimator.predict(q, v, a)
        return made

    def answer(self, *motion: Any) -> Prediction:
        """Predict without computing first how well the motion is known; see JointPredictor.answer."""
        return answer_of(self._estimator, *motion)

    def undisturbed(self, prediction: Prediction) -> Prediction:
        """Return a prediction as it would be with expert weights that no push changes."""
        found: Prediction = self._estimator.undisturbed(prediction)
        return found

    def judge(self, prediction: Prediction, measured: Array, elapsed: float) -> None:
        """Judge experts by a measurement (n_outputs,), `elapsed` s after the one before, when the delay is over."""
        if self._delay < inf:
            self._verdicts.append((self._now, lambda: self._estimator.judge(prediction, measured, elapsed)))

    def hold(self) -> None:
        """Switch to expert weights that no push changes, when the delay is over."""
        if self._delay < inf:
            self._verdicts.append((self._now, self._estimator.hold))

    def change(self, stamp: int, ratio: float) -> None:
        """Tell a change of the body when the delay, counted from a stamp [ns], is over; see Estimator.body_changed."""
        forget = getattr(self._estimator, "body_changed", lambda _: None)
        self._samples.append((stamp, lambda: forget(ratio)))

    def teach(self, sample: Sample) -> None:
        """Learn a sample when the delay, counted from its stamp, is over."""
        self._samples.append((sample.motion.stamp, lambda: self._teach(sample)))

    def _teach(self, sample: Sample) -> None:
        start = perf_counter_ns()
        sample.teach(self._estimator)
        self.seconds.append((perf_counter_ns() - start) * 1e-9)
