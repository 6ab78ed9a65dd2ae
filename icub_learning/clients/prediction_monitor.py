"""Joint states, wrenches and the predictions of several inverse dynamics nodes, with their times."""

import numpy as np
from geometry_msgs.msg import WrenchStamped
from numpy.typing import NDArray
from rclpy.node import Node
from sensor_msgs.msg import JointState

from icub_learning.arrays import Array
from icub_learning.clients.polling import PolledTopic
from icub_learning.nodes.common.conversions import wrench_to_array
from icub_learning.nodes.common.qos import DEEP
from icub_learning_msgs.msg import DynamicsPrediction


class PredictionMonitor:
    """Subscribes to a simulation and to one node for each estimator, by its short name; no executor may spin `node`.

    It takes messages from the middleware itself: five busy topics under an executor would cost the learners a core.
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

    def errors(self, short: str, newest: int | None = None) -> tuple[NDArray[np.int64], Array]:
        """Return stamps (n,) [ns] and errors (n, 6), predicted minus measured, of the newest samples that have both."""
        times, predicted = self.predictions[short].arrays(newest)
        wrench_times, measured = self.wrenches.arrays(newest)
        stamps, first, second = np.intersect1d(times[:, 0], wrench_times[:, 0], return_indices=True)
        return stamps, predicted[first] - measured[second]
