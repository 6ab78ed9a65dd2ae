"""A thread that learns while another one predicts, and what they exchange."""

import sys
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any

from icub_learning.dynamics.estimators.prediction import Predictor
from icub_learning.dynamics.regressors.regressor import Regressor
from icub_learning.dynamics.stream.overload import Thinning
from icub_learning.dynamics.stream.stream import Sample
from icub_learning.errors import IcubLearningError
from icub_learning.nodes.common.timing import DurationWindow

# Longest time that a thread waits for the interpreter lock while another one runs Python [s].
SWITCH_INTERVAL = 1e-4


@dataclass
class Request:
    """A request to act on the estimator between two samples, and its result once `done` is set."""

    act: Callable[[Any], Any]  # takes the estimator; returns the estimator to continue with, and a message
    success: bool = False
    message: str = ""
    done: threading.Event = field(default_factory=threading.Event)


class LearningThread:
    """Owns an estimator; others see it through `predictor`, which is replaced after each sample.

    Args:
        estimator: the estimator; only this thread may use it from now on.
        regressor: regressor of the predictors, so that the two threads share none.
        backlog: number of samples that may wait, see Thinning.
        on_error: called with the traceback of an unexpected error.
    """

    def __init__(self, estimator: Any, regressor: Regressor, backlog: int, on_error: Callable[[str], None]) -> None:
        self.predictor: Predictor = estimator.predictor(regressor)
        self.n_samples: int = estimator.n_samples
        self.learned = self.skipped = 0
        self.times = DurationWindow()  # of a sample: its learning and the new predictor
        self._estimator, self._regressor = estimator, regressor
        self._thinning = Thinning(backlog)
        self._queue: SimpleQueue[Sample | Request | None] = SimpleQueue()
        self._on_error = on_error
        sys.setswitchinterval(SWITCH_INTERVAL)
        self._thread = threading.Thread(target=self._run, name="learning", daemon=True)
        self._thread.start()

    @property
    def thread_id(self) -> int | None:
        """The native id of the thread."""
        return self._thread.native_id

    @property
    def waiting(self) -> int:
        """The number of samples and requests that wait."""
        return self._queue.qsize()

    def offer(self, sample: Sample) -> None:
        """Hand a sample over; skip it if too many wait."""
        if self._thinning.take(self._queue.qsize()):
            self._queue.put(sample)
        else:
            self.skipped += 1

    def ask(self, act: Callable[[Any], tuple[Any, str]]) -> Request:
        """Request `act` on the estimator after the samples that wait; if it raises, nothing changes."""
        request = Request(act)
        self._queue.put(request)
        return request

    def stop(self) -> None:
        """End the thread after all samples and requests that wait."""
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (item := self._queue.get()) is not None:
            try:
                if isinstance(item, Request):
                    self._serve(item)
                else:
                    start = time.perf_counter()
                    item.teach(self._estimator)
                    self._publish()
                    self.times.add(time.perf_counter() - start)
                    self.learned += 1
            except Exception:  # one sample or request must not end learning
                self._on_error(traceback.format_exc())

    def _serve(self, request: Request) -> None:
        try:
            self._estimator, request.message = request.act(self._estimator)
            request.success = True
            self._publish()
        except IcubLearningError as error:
            request.message = str(error)
        except Exception as error:
            request.message = f"failed: {error}"
            raise
        finally:
            request.done.set()

    def _publish(self) -> None:
        self.predictor = self._estimator.predictor(self._regressor)
        self.n_samples = self._estimator.n_samples
