"""A node that only sends each joint state back: a baseline for the latency of other nodes."""

import argparse
import math
import sys

from sensor_msgs.msg import JointState

from icub_learning.clients.topics import ros_node
from icub_learning.nodes.common.qos import SAMPLES, STREAM

ANSWERS = "/icub_learning_echo/joint_states"


def command(joint_states: str = "joint_states") -> list[str]:
    """Return the command of a process that answers the joint states of a topic on ANSWERS until SIGTERM."""
    return [sys.executable, "-m", "icub_learning.clients.echo", joint_states]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("joint_states", metavar="TOPIC")
    topic = parser.parse_args().joint_states
    with ros_node("icub_learning_echo") as (node, wait, stopped):
        publisher = node.create_publisher(JointState, ANSWERS, STREAM)
        node.create_subscription(JointState, topic, publisher.publish, SAMPLES)
        wait(stopped, math.inf)


if __name__ == "__main__":
    main()
