"""The thread for files: one job after the other, errors for who waits, an end."""

import os
import threading
import time

import pytest

from icub_learning.nodes.common import background
from icub_learning.nodes.common.background import Background


def test_jobs_are_done_in_order_and_errors_are_kept():
    worker, done = Background(), []
    jobs = [worker.submit(lambda k=k: done.append(k) or k) for k in range(5)]
    failed = worker.submit(lambda: 1 / 0)
    assert failed.done.wait(10.0)
    assert done == [0, 1, 2, 3, 4]
    assert [job.result for job in jobs] == done
    assert isinstance(failed.error, ZeroDivisionError)
    assert worker.stop(10.0)


def test_the_end_does_not_wait_for_ever():
    worker, gate = Background(), threading.Event()
    worker.submit(lambda: gate.wait(30.0))
    start = time.monotonic()
    assert not worker.stop(0.1)
    assert time.monotonic() - start < 10.0
    gate.set()


@pytest.mark.skipif(not hasattr(os, "sched_getparam"), reason="no real-time scheduling here")
def test_the_thread_stays_one_below_the_real_time_priority_it_was_given(monkeypatch):
    priority, asked = [10], []
    monkeypatch.setattr(background.os, "sched_getparam", lambda _: os.sched_param(priority[0]))
    monkeypatch.setattr(background.os, "sched_getscheduler", lambda _: os.SCHED_FIFO)

    def give(_thread, _policy, given):
        asked.append(given.sched_priority)
        priority[0] = given.sched_priority

    monkeypatch.setattr(background.os, "sched_setscheduler", give)
    worker = Background()
    for _ in range(3):
        worker.submit(lambda: None).done.wait(10.0)
    assert asked == [9]
    priority[0] = 10  # activated again
    worker.submit(lambda: None).done.wait(10.0)
    assert asked == [9, 9]
    priority[0] = 0  # ordinary scheduling stays
    worker.submit(lambda: None).done.wait(10.0)
    assert asked == [9, 9]
    worker.stop(10.0)
