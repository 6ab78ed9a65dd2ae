"""The thread for files: one job after the other, errors for who waits, an end; and services that wait for jobs."""

import os
import threading
import time

import pytest
import rclpy
from rclpy.clock import Clock, ClockType
from rclpy.experimental import EventsExecutor
from rclpy.task import Future
from std_srvs.srv import Trigger

from icub_learning.nodes.common import background
from icub_learning.nodes.common.background import PAUSE, Background, until


def test_jobs_are_done_in_order_and_errors_are_kept():
    worker, done = Background(), []
    jobs = [worker.submit(lambda k=k: done.append(k) or k) for k in range(5)]
    failed = worker.submit(lambda: 1 / 0)
    assert isinstance(failed.exception(10.0), ZeroDivisionError)
    assert done == [0, 1, 2, 3, 4]
    assert [job.result() for job in jobs] == done
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
        worker.submit(lambda: None).result(10.0)
    assert asked == [9]
    priority[0] = 10  # activated again
    worker.submit(lambda: None).result(10.0)
    assert asked == [9, 9]
    priority[0] = 0  # ordinary scheduling stays
    worker.submit(lambda: None).result(10.0)
    assert asked == [9, 9]
    worker.stop(10.0)


class CountedFuture(Future):
    """Counts how often it is asked whether it is done."""

    asked = 0

    def done(self):
        self.asked += 1
        return super().done()


def test_a_waiting_service_leaves_the_executor_to_others(ros_domain):
    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node("waiter", context=context)
    executor = EventsExecutor(context=context)
    executor.add_node(node)
    answer = CountedFuture(executor=executor)
    ticks = []

    async def serve(_request, response):
        response.success = await until(answer.done)
        response.message = answer.result()
        return response

    def tick():
        ticks.append(time.monotonic())
        if len(ticks) == 20:
            answer.set_result("done")

    try:
        node.create_service(Trigger, "wait", serve)
        client = node.create_client(Trigger, "wait")
        deadline = time.monotonic() + 20.0
        while not client.service_is_ready() and time.monotonic() < deadline:
            executor.spin_once(timeout_sec=0.1)
        asked = client.call_async(Trigger.Request())
        timer = node.create_timer(0.02, tick, clock=Clock(clock_type=ClockType.STEADY_TIME))
        start = time.monotonic()
        while not asked.done() and time.monotonic() < deadline:
            executor.spin_once(timeout_sec=0.1)
        assert asked.done()
        assert asked.result().message == "done"
        assert 10 < answer.asked <= (time.monotonic() - start) / PAUSE + 2
        node.destroy_timer(timer)
    finally:
        executor.shutdown()
        node.destroy_node()
        rclpy.shutdown(context=context)
