"""Topics whose messages are taken from the middleware itself, with their times of publication and arrival."""

from collections.abc import Callable
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState

from icub_learning.arrays import Array
from icub_learning.clients.topic_statistics import Series
from icub_learning.nodes.common.conversions import stamp_to_ns, wrench_to_array
from icub_learning.nodes.common.qos import DEEP
from icub_learning_msgs.msg import DynamicsPrediction


class PolledTopic:
    """A subscription of a node that no executor spins: EventsExecutor cannot hand over the times of messages.

    `series` has what was taken so far, with the `width` numbers of each message that `values` returns, if it is given.
    """

    def __init__(
        self,
        node: Node,
        kind: type,
        topic: str,
        qos: QoSProfile,
        width: int = 0,
        values: Callable[[Any], Array] | None = None,
    ) -> None:
        self._subscription = node.create_subscription(kind, topic, lambda _: None, qos)
        self._values = values
        self.series = Series(width)
        self.name: str = self._subscription.topic_name

    def poll(self) -> None:
        """Handle the messages that have arrived; to be called so often that no queue overflows."""
        subscription = self._subscription
        while (taken := subscription.handle.take_message(subscription.msg_type, False)) is not None:
            message, info = taken
            self.series.add(stamp_to_ns(message.header.stamp), info, self._values(message) if self._values else None)


class PredictionMonitor:
    """Joint states, wrenches and predictions of one node for each estimator, by its short name; no executor may spin
    `node`: five busy topics under an executor would cost the learners a core.
    """

    def __init__(self, node: Node, nodes: dict[str, str]) -> None:
        joint_states = PolledTopic(node, JointState, "joint_states", DEEP)
        wrenches = PolledTopic(node, WrenchStamped, "wrench", DEEP, 6, lambda one: wrench_to_array(one.wrench))
        predictions = {
            short: PolledTopic(node, DynamicsPrediction, f"/{name}/prediction", DEEP, 6, lambda it: np.array(it.total))
            for short, name in nodes.items()
        }
        self._topics = (joint_states, wrenches, *predictions.values())
        self.joint_states, self.wrenches = joint_states.series, wrenches.series
        self.predictions = {short: topic.series for short, topic in predictions.items()}

    def poll(self) -> None:
        """Record the messages that have arrived; to be called so often that no queue overflows."""
        for topic in self._topics:
            topic.poll()

    def complete(self) -> bool:
        """Return whether a message of every topic has come."""
        return all(len(topic.series) for topic in self._topics)

    def errors(self, short: str, newest: int | None = None) -> tuple[np.ndarray, Array]:
        """Return stamps (n,) [ns] and errors (n, 6), predicted minus measured, of the newest samples that have both."""
        times, predicted = self.predictions[short].arrays(newest)
        wrench_times, measured = self.wrenches.arrays(newest)
        stamps, first, second = np.intersect1d(times[:, 0], wrench_times[:, 0], return_indices=True)
        return stamps, predicted[first] - measured[second]
