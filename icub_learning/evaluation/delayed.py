"""An estimator whose measurements come late: what it has to judge and to learn waits."""

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
    """Whether a stamp [ns] is older than the delay [ns]; one far ahead is of a clock that was set back since."""
    return not now - delay < stamp <= now + delay


class DelayedEstimator:
    """Predicts by what an estimator, with predict and update, knew `delay` [ns] ago; the predictor of a stream.

    What the stream asks it to judge or to learn, it does when joint states come that are `delay` newer than the
    measurement. So experts are weighed by how right they were in predictions that looked as far ahead. With an infinite
    delay nothing is judged, or learned before `finish`.
    """

    def __init__(self, estimator: Any, delay: float) -> None:
        self._estimator, self._delay = estimator, delay
        # Work, and the stamp [ns] from which its delay counts: verdicts on experts; samples, which are complete later.
        self._verdicts: deque[tuple[int, Callable[[], None]]] = deque()
        self._samples: deque[tuple[int, Callable[[], None]]] = deque()
        self._now = 0  # stamp of the newest joint state [ns]
        self.seconds = array("d")  # that learning a sample took, for each of those learned

    def advance(self, stamp: int) -> None:
        """Do what is due when a joint state of this stamp [ns] comes; all of it when the clock was set back."""
        self._do(lambda counted_from: is_due(counted_from, stamp, self._delay))
        self._now = stamp

    def finish(self) -> None:
        """Do all that waits."""
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
        """Predict before it is found how well the motion is known; see JointPredictor.answer."""
        return answer_of(self._estimator, *motion)

    def undisturbed(self, prediction: Prediction) -> Prediction:
        """Return a prediction as it would be by weights that no push moves."""
        found: Prediction = self._estimator.undisturbed(prediction)
        return found

    def judge(self, prediction: Prediction, measured: Array, elapsed: float) -> None:
        """Learn from a measurement (n_outputs,) which experts were right, after the delay."""
        if self._delay < inf:
            self._verdicts.append((self._now, lambda: self._estimator.judge(prediction, measured, elapsed)))

    def hold(self) -> None:
        """Keep to weights that no push moves, after the delay."""
        if self._delay < inf:
            self._verdicts.append((self._now, self._estimator.hold))

    def teach(self, sample: Sample) -> None:
        """Learn a sample, after the delay from its own stamp on."""
        self._samples.append((sample.motion.stamp, lambda: self._teach(sample)))

    def _teach(self, sample: Sample) -> None:
        start = perf_counter_ns()
        sample.teach(self._estimator)
        self.seconds.append((perf_counter_ns() - start) * 1e-9)
