"""A thread for slow work that is not urgent, such as reading and writing files; and coroutines that wait for it."""

import contextlib
import math
import os
import threading
import time
import types
from collections.abc import Callable, Generator
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any

from icub_learning.errors import StateError

PAUSE = 0.0005  # [s] between two checks of a condition: other work of the executor is delayed by at most this


class Background:
    """Does one job after the other in a thread whose real-time priority is one below that of the node's other threads.

    With ordinary scheduling another process may take its core while it holds the interpreter lock. The thread that
    predicts then waits for both, for tenths of a second on a busy machine.
    """

    def __init__(self) -> None:
        self._jobs: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self._priority = 0  # real-time priority that this thread gave itself; 0: none yet
        self._thread = threading.Thread(target=self._run, name="files", daemon=True)
        self._thread.start()

    def submit(self, work: Callable[[], Any]) -> "Future[Any]":
        job: Future[Any] = Future()
        self._jobs.put((job, work))
        return job

    def stop(self, timeout: float) -> bool:
        """End the thread after the jobs that wait; return whether it ended within `timeout` [s]."""
        self._jobs.put(None)
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while (item := self._jobs.get()) is not None:
            self._step_back()
            job, work = item
            try:
                job.set_result(work())
            except Exception as error:
                job.set_exception(error)

    def _step_back(self) -> None:
        """Lower this thread to one below the real-time priority that the node gave all its threads on activation."""
        with contextlib.suppress(OSError, AttributeError):
            if (given := os.sched_getparam(0).sched_priority) > 1 and given != self._priority:
                self._priority = given - 1
                os.sched_setscheduler(0, os.sched_getscheduler(0), os.sched_param(self._priority))


@types.coroutine
def until(condition: Callable[[], bool], timeout: float = math.inf) -> Generator[None, None, bool]:
    """Wait in the coroutine of a service until a condition holds; return whether it did within `timeout` [s].

    Executors of rclpy resume a waiting coroutine again and again without a pause, which would keep a core busy.
    """
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(PAUSE)
        yield
    return True


@types.coroutine
def others_first() -> Generator[None, None, None]:
    """Let the executor and other threads do their work before the coroutine of a service goes on."""
    time.sleep(PAUSE)
    yield


async def finished(job: "Future[Any]", deadline: float) -> Any:
    """Return the result of a job that reads or writes a file. Raises the job's error; StateError: there was not enough
    memory, or the job is not done by `deadline` [s, time.monotonic()]."""
    if not await until(job.done, deadline - time.monotonic()):
        raise StateError("the file was not read or written in time: the disk is slow, or others wait for it too")
    try:
        return job.result()
    except MemoryError as error:
        raise StateError("there is not enough memory for this model") from error
