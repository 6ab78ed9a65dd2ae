"""What the demonstration hears: joint states, wrenches and the predictions of three nodes, with their times."""

from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState

from icub_learning.arrays import Array
from icub_learning.clients.topic_statistics import Series
from icub_learning.nodes.common.conversions import stamp_to_ns, wrench_to_array
from icub_learning_msgs.msg import DynamicsPrediction

QOS = QoSProfile(depth=2000)  # reliable: what is lost is lost before it gets here


def _by_poll(_message: Any) -> None:
    """Never called: `Monitor.poll` takes the messages."""


def _nothing(_message: JointState) -> Array:
    return np.empty(0)


def _wrench(message: WrenchStamped) -> Array:
    return wrench_to_array(message.wrench)


def _total(message: DynamicsPrediction) -> Array:
    return np.frombuffer(message.total, dtype=np.float64)


class Monitor:
    """Subscribes to the simulation and to one node for each estimator.

    It takes messages from the middleware itself, because it needs the times of publication and arrival, which
    EventsExecutor cannot hand over, and because five busy topics under another executor would cost the learners a core.

    Args:
        node: to subscribe with; no executor may spin it.
        nodes: node name of each estimator, by its short name.
    """

    def __init__(self, node: Node, nodes: dict[str, str]) -> None:
        self.joint_states, self.wrenches = Series(0), Series(6)
        self.predictions = {short: Series(6) for short in nodes}
        self._inputs = [
            (node.create_subscription(JointState, "joint_states", _by_poll, QOS), self.joint_states, _nothing),
            (node.create_subscription(WrenchStamped, "wrench", _by_poll, QOS), self.wrenches, _wrench),
        ]
        for short, name in nodes.items():
            subscription = node.create_subscription(DynamicsPrediction, f"/{name}/prediction", _by_poll, QOS)
            self._inputs.append((subscription, self.predictions[short], _total))

    def poll(self) -> None:
        """Take in all that has arrived; call it often enough that nothing is pushed out of a queue."""
        for subscription, series, numbers in self._inputs:
            while (taken := subscription.handle.take_message(subscription.msg_type, False)) is not None:
                message, info = taken
                series.add(stamp_to_ns(message.header.stamp), info, numbers(message))

    def running(self) -> bool:
        """Whether every topic has brought a message."""
        return all(len(series) for series in (self.joint_states, self.wrenches, *self.predictions.values()))

    def errors(self, short: str, newest: int | None = None) -> tuple[np.ndarray, Array]:
        """Stamps (n,) and errors (n, 6), predicted minus measured, of the samples that have both."""
        times, predicted = self.predictions[short].arrays(newest)
        wrench_times, measured = self.wrenches.arrays(newest)
        stamps, mine, theirs = np.intersect1d(times[:, 0], wrench_times[:, 0], return_indices=True)
        return stamps, predicted[mine] - measured[theirs]
