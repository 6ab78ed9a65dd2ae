"""The robot's description from other nodes: its URDF from a topic, its joints from a controller's parameters."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import rclpy
from rcl_interfaces.srv import GetParameters
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import String

from icub_learning.errors import ModelError, ParameterError
from icub_learning.nodes.common.qos import STATE
from icub_learning.robots import joint_names, read_urdf

STEP = 0.1  # [s] longest time between two checks of the timeout
ASK_AGAIN = 2.0  # [s] after which a request that got no answer is sent again


def receive_urdf(node: Node, timeout: float) -> str:
    """Return the URDF on the latched topic of robot_state_publisher, also in the middle of a callback of `node`.

    Raises ModelError: none came within `timeout` [s], or it is no URDF.
    """
    topic = node.resolve_topic_name("robot_description")
    received: list[str] = []
    with _aside(node) as (other, wait):
        other.create_subscription(String, topic, lambda message: received.append(message.data), STATE)
        wait(lambda: bool(received), timeout)
    if not received:
        text = f"no URDF came on {topic} within {timeout:g} s: start robot_state_publisher, or set urdf"
        raise ModelError(text, name=topic, bound="a URDF as std_msgs/String, latched")
    read_urdf(received[-1] or "<none/>")
    return received[-1]


def joints_of_controller(node: Node, controller: str, timeout: float) -> tuple[str, ...]:
    """Return the parameter `joints` of a controller's node, also in the middle of a callback of `node`.

    Raises ParameterError: no such node answers within `timeout` [s], or it has no such parameter.
    """
    service = node.resolve_service_name(f"{controller}/get_parameters")
    with _aside(node) as (other, wait):
        client, end = other.create_client(GetParameters, service), time.monotonic() + timeout
        wait(client.service_is_ready, timeout)
        answered = None
        while answered is None and (left := end - time.monotonic()) > 0.0:
            # An answer is lost where the other node has not yet discovered this client.
            asked = client.call_async(GetParameters.Request(names=["joints"]))
            wait(asked.done, min(left, ASK_AGAIN))
            answered = asked.result() if asked.done() else None
    if answered is None:
        raise ParameterError("controller", controller, f"a node that answers {service} within {timeout:g} s")
    values = answered.values
    if not (names := tuple(values[0].string_array_value) if values else ()):
        raise ParameterError("controller", controller, "a node whose parameter `joints` names joints")
    return names


def movable_joints(urdf: str) -> tuple[str, ...]:
    """Return the joints of a URDF (path or XML text) that move independently: no mimic joints. Raises ModelError."""
    mimics = {joint.get("name") for joint in read_urdf(urdf).findall("joint") if joint.find("mimic") is not None}
    return tuple(name for name in joint_names(urdf) if name not in mimics)


@contextmanager
def _aside(node: Node) -> Iterator[tuple[Node, Callable[[Callable[[], bool], float], None]]]:
    """Make a node with an executor of its own, so that a callback of `node` can wait for messages."""
    other = rclpy.create_node(
        f"{node.get_name()}_inquiry", context=node.context, namespace=node.get_namespace(),
        use_global_arguments=False, start_parameter_services=False, enable_rosout=False,
    )  # fmt: skip
    executor: Any = SingleThreadedExecutor(context=node.context)
    executor.add_node(other)

    def wait(done: Callable[[], bool], timeout: float) -> None:
        end = time.monotonic() + timeout
        while not done() and time.monotonic() < end and rclpy.ok(context=node.context):
            executor.spin_once(timeout_sec=STEP)

    try:
        yield other, wait
    finally:
        executor.remove_node(other)
        executor.shutdown()
        other.destroy_node()
