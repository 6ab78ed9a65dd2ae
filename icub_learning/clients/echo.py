"""A node that only sends each joint state back: a baseline for the latency of other nodes."""

import argparse
import math
import sys

from sensor_msgs.msg import JointState

from icub_learning.clients.topics import ros_node
from icub_learning.nodes.common.qos import SAMPLES, STREAM
from icub_learning.nodes.common.threads.scheduling import ask_for_real_time

ANSWERS = "/icub_learning_echo/joint_states"
URGENT = "--urgent"


def command(joint_states: str = "joint_states", *options: str) -> list[str]:
    """Return the command of a process that answers the joint states of a topic on ANSWERS until SIGTERM.

    With the option URGENT it asks for the real-time priority that nodes have, else it has ordinary scheduling."""
    return [sys.executable, "-m", "icub_learning.clients.echo", joint_states, *options]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("joint_states", metavar="TOPIC")
    parser.add_argument(URGENT, action="store_true")
    args = parser.parse_args()
    with ros_node("icub_learning_echo") as (node, wait, stopped):
        if args.urgent:
            ask_for_real_time()
        publisher = node.create_publisher(JointState, ANSWERS, STREAM)
        node.create_subscription(JointState, args.joint_states, publisher.publish, SAMPLES)
        wait(stopped, math.inf)


if __name__ == "__main__":
    main()
