"""The thread for files: jobs one after the other, errors for those who wait, its end; services that wait for jobs."""

import os
import threading
from concurrent.futures import Future

import pytest

from icub_learning.nodes.common.threads import background
from icub_learning.nodes.common.threads.background import PAUSE, Background, others_first, until


def test_jobs_are_done_in_order_and_errors_are_kept():
    worker, done = Background(), []
    jobs = [worker.submit(lambda k=k: done.append(k) or k) for k in range(5)]
    assert isinstance(worker.submit(lambda: 1 / 0).exception(10.0), ZeroDivisionError) and done == [0, 1, 2, 3, 4]
    assert [job.result() for job in jobs] == done and worker.stop(10.0)


def test_the_end_does_not_wait_for_ever():
    worker, gate = Background(), threading.Event()
    worker.submit(lambda: gate.wait(30.0))
    assert not worker.stop(0.1)
    gate.set()


@pytest.mark.skipif(not hasattr(os, "sched_getparam"), reason="no real-time scheduling here")
def test_the_thread_stays_one_below_the_real_time_priority_it_was_given(monkeypatch):
    priority, asked = [10], []
    monkeypatch.setattr(background.os, "sched_getparam", lambda _: os.sched_param(priority[0]))
    monkeypatch.setattr(background.os, "sched_getscheduler", lambda _: os.SCHED_RR)

    def give(_thread, _policy, given):
        asked.append(given.sched_priority)
        priority[0] = given.sched_priority

    monkeypatch.setattr(background.os, "sched_setscheduler", give)
    worker = Background()
    # The second time it is as when the node is activated again; ordinary scheduling, 0, stays.
    for given, expected in ((10, [9]), (10, [9, 9]), (0, [9, 9])):
        priority[0] = given
        for _ in range(3):
            worker.submit(lambda: None).result(10.0)
        assert asked == expected
    worker.stop(10.0)


def test_a_service_that_waits_leaves_the_executor_to_others_and_keeps_no_core_busy(monkeypatch):
    """Executors of rclpy resume a waiting coroutine again and again, as is done here by hand."""
    slept, answer = [], Future()
    monkeypatch.setattr(background.time, "sleep", slept.append)
    waiting = until(answer.done)
    for _ in range(5):
        waiting.send(None)
    others_first().send(None)
    answer.set_result("done")
    with pytest.raises(StopIteration) as returned:
        waiting.send(None)
    assert (returned.value.value, slept) == (True, [PAUSE] * 6)
    with pytest.raises(StopIteration) as returned:
        until(lambda: False, timeout=-1.0).send(None)
    assert returned.value.value is False
