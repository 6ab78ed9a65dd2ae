"""The least a node can do: it sends each joint state back. What another node takes longer is its own."""

import argparse
import signal
import sys

import rclpy
from rclpy.experimental import EventsExecutor
from rclpy.qos import QoSProfile
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState

from icub_learning.nodes.common.qos import SAMPLES

ANSWERS = "/icub_learning_echo/joint_states"
SPIN_TIMEOUT = 0.2  # [s], longest time until a signal is noticed


def command(joint_states: str = "joint_states") -> list[str]:
    """Return the command of a process that answers the joint states of a topic on ANSWERS until SIGTERM."""
    return [sys.executable, "-m", "icub_learning.clients.echo", joint_states]


def main() -> None:
    """Send joint states back until SIGTERM."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("joint_states", metavar="TOPIC")
    topic = parser.parse_args().joint_states
    stopping: list[bool] = []
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    signal.signal(signal.SIGTERM, lambda *_: stopping.append(True))
    node = rclpy.create_node("icub_learning_echo")
    publisher = node.create_publisher(JointState, ANSWERS, QoSProfile(depth=10))
    node.create_subscription(JointState, topic, publisher.publish, SAMPLES)
    executor = EventsExecutor()
    executor.add_node(node)
    while not stopping:
        executor.spin_once(timeout_sec=SPIN_TIMEOUT)
    node.destroy_node()
    rclpy.try_shutdown()


if __name__ == "__main__":
    main()
