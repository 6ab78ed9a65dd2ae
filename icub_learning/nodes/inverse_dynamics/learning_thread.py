"""A supervised thread that learns while another one predicts, and the requests that it serves."""

import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, NamedTuple

from icub_learning.dynamics.estimators.prediction import Predictor
from icub_learning.dynamics.regressors.regressor import Regressor
from icub_learning.dynamics.stream.records import Sample
from icub_learning.errors import IcubLearningError, StateError
from icub_learning.models.ledger import accounted
from icub_learning.models.states import broken_entries
from icub_learning.nodes.common.timing import DurationWindow
from icub_learning.nodes.inverse_dynamics.overload import Thinning

# Longest time that a thread waits for the interpreter lock while another one runs Python [s].
SWITCH_INTERVAL = 1e-4
LONGEST_WORK = 30.0  # [s] on one sample or request after which the thread is considered to hang
LAST_SAMPLES = 2.0  # [s] at the end in which samples that wait are still learned
LAST_WORK = 4.0  # [s] until the thread is left behind at the end: launch kills a node after 5 s, saved or not


class Request(NamedTuple):
    """A request of `LearningThread.ask`."""

    act: Callable[[Any], Any]
    changes: bool
    exchanges: bool
    answer: "Future[Any]"


_WAKE = object()  # item in the queue of samples: there is a request, or the thread is to end


class LearningThread:
    """Owns an estimator, which no other thread may use: others see `predictor`, which is replaced after each sample.

    Requests go before samples that wait, so none waits longer than one sample takes to learn. `supervise` replaces the
    thread if it has died or works on one thing for more than LONGEST_WORK, and restores the last good state of the
    estimator. The thread itself also restores it after an error that no estimator foresees, since what was learned may
    be half changed then. Predictions go on, with a `regressor` of their own. `thinning` says which samples are learned,
    and `on_error` gets an unexpected error in words with its traceback.
    """

    def __init__(
        self, estimator: Any, regressor: Regressor, thinning: Thinning, on_error: Callable[[str], None]
    ) -> None:
        self.predictor: Predictor = estimator.predictor(regressor)  # makes the predictions
        self.n_samples: int = estimator.n_samples  # samples that the estimator holds
        self.learned = self.skipped = self.refused = 0  # samples; left out by thinning, refused by the estimator
        self.revision = 0  # number of changes of what was learned
        self.restored = 0  # how often the estimator was replaced by its last good state
        self.failure = ""  # why it was replaced last
        self._newest: Sample | None = None  # the last one learned
        self.times = DurationWindow()  # time to learn a sample and make the new predictor
        self._estimator = estimator
        self._regressor: Any = regressor
        self._good: tuple[dict[str, Any], int] = accounted(estimator), estimator.n_samples  # state, number of samples
        self._offered = self._taken = 0  # samples that were put into the queue, and taken out of it
        self._queue: SimpleQueue[Any] = SimpleQueue()  # samples, each with the number that it stands for, and _WAKE
        self._requests: deque[Request] = deque()
        self._thinning, self._on_error = thinning, on_error
        self._generation, self._stopping, self._late = 0, False, False
        self._busy_since = 0.0  # start of the present work [s, time.monotonic()]; 0 while there is none
        self._current: Request | None = None  # request that is being served
        sys.setswitchinterval(SWITCH_INTERVAL)
        self._start()

    @property
    def waiting(self) -> int:
        return self._offered - self._taken

    @property
    def full(self) -> bool:
        """Whether the queue of samples is at least nine tenths full."""
        return self.waiting >= max(0.9 * self._thinning.limit, 1.0)

    def offer(self, sample: Sample) -> None:
        """Hand over a sample from the thread that predicts, or leave it out: the next one taken then stands for it."""
        if count := self._thinning.take(time.monotonic(), self.waiting, time.thread_time()):
            self._offered += 1
            self._queue.put((sample, count))
        else:
            self.skipped += 1

    def ask(self, act: Callable[[Any], Any], *, changes: bool = True, exchanges: bool = False) -> "Future[Any]":
        """Request `act` on the estimator before the next sample; if it raises, nothing changes.

        `changes` says whether `act` changes what was learned; `exchanges`, whether it returns the estimator to continue
        with, and the result. The request may be cancelled until it is served.
        """
        answer: Future[Any] = Future()
        if self._stopping:
            answer.set_exception(StateError("the node has stopped learning"))
            return answer
        self._requests.append(Request(act, changes, exchanges, answer))
        self._queue.put(_WAKE)
        return answer

    def checkpoint(self) -> "Future[tuple[dict[str, Any], int, int]]":
        """Request that the present state become the one that is restored after an error. The result is the state, which
        the caller shares and must not change, the number of its samples and its revision."""

        def keep(estimator: Any) -> tuple[dict[str, Any], int, int]:
            state = accounted(estimator)
            if fault := self._fault(state):
                self._restore(fault)
                self._on_error(f"{fault}: the last good state is restored")
                raise StateError(fault)
            self._good = state, estimator.n_samples
            return state, estimator.n_samples, self.revision

        return self.ask(keep, changes=False)

    def final_state(self) -> tuple[dict[str, Any], int]:
        """Return the state and its number of samples after `stop`; the last good state if the thread has not ended."""
        if self._thread.is_alive():
            return self._good
        state = accounted(self._estimator)
        return self._good if self._fault(state) else (state, self._estimator.n_samples)

    def _fault(self, state: dict[str, Any]) -> str:
        """Return the reason why the present state of the estimator must not be kept, or "" if there is none."""
        if broken_entries(state):
            return "what was learned held numbers that are not finite"
        try:
            if self._newest is not None:
                self._estimator.predict(*self._newest.known[1:])
        except Exception as error:  # of a class of the user's, whose state is finite all the same
            return f"what was learned predicts nothing: {type(error).__name__}: {error}"
        return ""

    def supervise(self) -> str:
        """Replace the thread if it has died or hangs; return what happened, in words, or ""."""
        if self._stopping:
            return ""
        busy = time.monotonic() - self._busy_since if self._busy_since else 0.0
        if not self._thread.is_alive():
            found = "the learning thread had died"
        elif busy > LONGEST_WORK:
            found = f"the learning thread has worked on one thing for {busy:.0f} s"
        else:
            return ""
        self._generation += 1  # tells a thread that comes back after all that it was replaced
        if self._current is not None and not self._current.answer.done():
            self._current.answer.set_exception(StateError(f"{found}; nothing was changed"))
        self._busy_since, self._current = 0.0, None
        self._regressor = self._regressor.twin()  # the old thread may still use the old regressor and estimator
        self._restore(found, own_regressor=True)
        self._start()
        return f"{found}: it was replaced, with the last good state of {self.n_samples} samples"

    def stop(self, timeout: float = 5.0) -> None:
        """End the thread after the requests that wait and the samples for which LAST_SAMPLES is enough; a thread that
        takes longer than `timeout` [s] or LAST_WORK is left behind."""
        self._stopping = True
        self._queue.put(_WAKE)
        self._thread.join(min(timeout, LAST_SAMPLES))
        self._late = True
        self._thread.join(min(timeout, LAST_WORK - LAST_SAMPLES))
        self._generation += 1
        while self._requests:
            answer = self._requests.popleft().answer
            if answer.set_running_or_notify_cancel():
                answer.set_exception(StateError("the node has stopped learning"))

    def _start(self) -> None:
        self._thread = threading.Thread(target=self._run, args=(self._generation,), name="learning", daemon=True)
        self._thread.start()
        self.thread_id = self._thread.native_id or 0  # native id, by which the system knows the thread

    def _run(self, generation: int) -> None:
        while generation == self._generation:
            item = self._queue.get()
            self._serve_all(generation)
            self._taken += item is not _WAKE
            if item is not _WAKE and not self._late:
                self._learn(item[0], item[1], generation)
            elif self._stopping and self._queue.empty():
                return

    def _serve_all(self, generation: int) -> None:
        while self._requests and generation == self._generation:
            request = self._requests.popleft()
            if request.answer.set_running_or_notify_cancel():
                self._busy_since, self._current = time.monotonic(), request
                self._serve(request, generation)
                self._rest(generation)

    def _learn(self, sample: Sample, count: int, generation: int) -> None:
        self._busy_since, start, start_of_work = time.monotonic(), time.perf_counter(), time.thread_time()
        try:
            sample.teach(self._estimator, count)
            if generation == self._generation:
                self._publish()
                self.times.add(time.perf_counter() - start)
                self._thinning.learned(time.thread_time() - start_of_work)
                self.learned += 1
                self._newest = sample
        except IcubLearningError as error:  # by contract the estimator is as it was
            if generation == self._generation:
                self.refused += 1
                self._on_error(f"a sample was refused: {error}")
        except Exception as error:
            if generation == self._generation:
                self._restore(f"{type(error).__name__}: {error}")
                self._on_error(f"learning failed, the last good state is restored: {traceback.format_exc()}")
        self._rest(generation)

    def _rest(self, generation: int) -> None:
        """Note that the thread is not busy, unless it was replaced: its successor may be."""
        if generation == self._generation:
            self._busy_since, self._current = 0.0, None

    def _serve(self, request: Request, generation: int) -> None:
        failure: IcubLearningError | None = None
        try:
            result = request.act(self._estimator)
            if generation == self._generation:
                if request.exchanges:
                    self._estimator, result = result
                if request.changes:
                    self._publish()
        except IcubLearningError as error:
            failure = error
        except Exception as error:
            failure, details = StateError(f"failed: {error}"), traceback.format_exc()
            if request.changes and generation == self._generation:
                self._restore(str(failure))
                details = f"the last good state is restored: {details}"
            self._on_error(f"a request failed: {details}")
        if generation == self._generation and failure is None:
            request.answer.set_result(result)
        elif generation == self._generation:
            request.answer.set_exception(failure)

    def _publish(self) -> None:
        self.predictor, self.n_samples = self._estimator.predictor(self._regressor), self._estimator.n_samples
        self.revision += 1

    def _restore(self, why: str, *, own_regressor: bool = False) -> None:
        """Replace the estimator by its last good state."""
        self.failure, self._newest = why, None
        regressor = self._estimator.regressor
        regressor = regressor.twin() if own_regressor else regressor
        self._estimator = type(self._estimator).from_state(self._good[0], regressor)
        self.restored += 1
        self._publish()
