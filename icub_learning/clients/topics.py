"""A ROS node for a command, and joint states and wrenches as messages and as events of a recording."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import rclpy
from geometry_msgs.msg import WrenchStamped
from rclpy.exceptions import InvalidTopicNameException
from rclpy.experimental import EventsExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState

from icub_learning.errors import IcubLearningError
from icub_learning.nodes.common.conversions import doubles, set_stamp, set_wrench, stamp_to_ns, wrench_to_array
from icub_learning.nodes.common.threads.scheduling import ask_for_real_time, giving_way, threads
from icub_learning.recording import JointStateEvent, WrenchEvent
from icub_learning.signals import stop_signals

SPIN_TIMEOUT = 0.02  # [s] longest time until a signal, or a condition that no message changes, is noticed
Wait = Callable[[Callable[[], object], float], bool]


@contextmanager
def executed_node(name: str) -> Iterator[tuple[Node, EventsExecutor]]:
    """Initialize ROS for a context; yield a node and an executor for its messages.

    The middleware's threads get real-time priority where permitted: one that waits for a core while it takes a message
    from memory that it shares with publishers holds these up, whatever their own priority.
    """
    others = threads()
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    node, executor = rclpy.create_node(name), EventsExecutor()
    ask_for_real_time(but=others)
    try:
        yield node, executor
    finally:
        executor.shutdown()
        with giving_way(but=others):
            node.destroy_node()
        rclpy.try_shutdown()


@contextmanager
def ros_node(name: str, polled: bool = False) -> Iterator[tuple[Node, Wait, Callable[[], bool]]]:
    """Make a node for a command, as a context; with `polled`, `wait` only waits and handles no messages.

    Yields the node; `wait(done, seconds)`, which handles messages until `done` returns true, a signal came or the
    time is over, and returns whether it is done; and `stopped()`, which returns whether a signal came.
    """
    with executed_node(name) as (node, executor), stop_signals() as stopped:
        if not polled:
            executor.add_node(node)

        def wait(done: Callable[[], object], seconds: float) -> bool:
            end = time.monotonic() + seconds
            while not done():
                left = end - time.monotonic()
                step = max(0.0, min(left, SPIN_TIMEOUT))
                time.sleep(step) if polled else executor.spin_once(timeout_sec=step)
                if left <= 0 or stopped():  # after a signal messages are handled once: what cleans up calls again
                    break
            return bool(done())

        try:
            yield node, wait, stopped
        except InvalidTopicNameException as error:
            raise IcubLearningError(str(error), name="topic", bound="a valid topic name") from error


def joint_state_event(message: JointState, arrival: int) -> JointStateEvent:
    """Return a message as an event that arrived at `arrival` [ns]."""
    fields = (np.array(values, dtype=np.float64) for values in (message.position, message.velocity, message.effort))
    return JointStateEvent(arrival, stamp_to_ns(message.header.stamp), tuple(message.name), *fields)


def wrench_event(message: WrenchStamped, arrival: int) -> WrenchEvent:
    """Return a message as an event that arrived at `arrival` [ns]."""
    return WrenchEvent(arrival, stamp_to_ns(message.header.stamp), wrench_to_array(message.wrench))


def joint_state_message(event: JointStateEvent, stamp: int) -> JointState:
    """Return an event as a message with another stamp [ns]."""
    message = JointState(name=list(event.names))
    set_stamp(message.header.stamp, stamp)
    message.position, message.velocity = doubles(event.position), doubles(event.velocity)
    message.effort = doubles(event.effort)
    return message


def wrench_message(event: WrenchEvent, stamp: int, frame: str) -> WrenchStamped:
    """Return an event as a message with another stamp [ns]."""
    message = WrenchStamped()
    message.header.frame_id = frame
    set_stamp(message.header.stamp, stamp)
    set_wrench(message.wrench, event.values)
    return message
