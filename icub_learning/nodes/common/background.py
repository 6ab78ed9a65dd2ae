"""A thread for what may take long and is not urgent: reading and writing files."""

import contextlib
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any


@dataclass
class Job:
    """Something to be done, and its result or error once `done` is set."""

    work: Callable[[], Any]
    result: Any = None
    error: Exception | None = None
    done: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Do it; what it raises is kept for whoever waits."""
        try:
            self.result = self.work()
        except Exception as error:
            self.error = error
        self.done.set()


class Background:
    """Does one job after the other in a thread whose real-time priority is one below that of the others.

    Ordinary scheduling would not do: between two system calls the thread holds the interpreter lock, and if another
    process takes its core then, the thread that predicts waits for both, for tenths of a second on a busy machine.
    """

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._priority = 0  # that this thread gave itself
        self._thread = threading.Thread(target=self._run, name="files", daemon=True)
        self._thread.start()

    def submit(self, work: Callable[[], Any]) -> Job:
        """Have `work` done after what waits already."""
        job = Job(work)
        self._jobs.put(job)
        return job

    def stop(self, timeout: float) -> bool:
        """End the thread after what waits, or after `timeout` [s]; whether it ended in time."""
        self._jobs.put(None)
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            self._step_back()
            job.run()

    def _step_back(self) -> None:
        """Go one below the real-time priority that the node gave all its threads when it was activated."""
        with contextlib.suppress(OSError, AttributeError):
            given = os.sched_getparam(0).sched_priority
            if given > 1 and given != self._priority:
                self._priority = given - 1
                os.sched_setscheduler(0, os.sched_getscheduler(0), os.sched_param(self._priority))
