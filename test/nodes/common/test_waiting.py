"""A service that waits lets the executor do its other work, and does not ask for the answer without pause."""

import time

import rclpy
from rclpy.clock import Clock, ClockType
from rclpy.experimental import EventsExecutor
from rclpy.task import Future
from std_srvs.srv import Trigger

from icub_learning.nodes.common.waiting import PAUSE, until


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
