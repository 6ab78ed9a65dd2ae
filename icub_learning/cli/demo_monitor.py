"""What the demonstration hears: joint states, wrenches and the predictions of three nodes, with their times."""

import time
from array import array
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState

from icub_learning.arrays import Array
from icub_learning.nodes.conversions import stamp_to_ns, wrench_to_array
from icub_learning_msgs.msg import DynamicsPrediction
from icub_learning_msgs.srv import SetTask

QOS = QoSProfile(depth=2000)  # reliable: what is lost is lost before it gets here


class Series:
    """Messages of one topic: stamps, times of publication and arrival [ns], and numbers."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._times = array("q")
        self._values = array("d")

    def __len__(self) -> int:
        return len(self._times) // 3

    def add(self, stamp: int, published: int, values: Array) -> None:
        """Take one message in; it arrived now."""
        self._times.extend((stamp, published, time.time_ns()))
        self._values.frombytes(values.tobytes())

    def arrays(self, newest: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Times (n, 3) and values (n, width) of all messages, or of the newest ones."""
        n = len(self) if newest is None else min(newest, len(self))
        times = np.array(self._times[len(self._times) - 3 * n :], dtype=np.int64).reshape(n, 3)
        values = np.array(self._values[len(self._values) - n * self._width :]).reshape(n, self._width)
        return times, values

    @property
    def last_stamp(self) -> int:
        """Stamp of the newest message [ns], 0 before the first."""
        return self._times[-3] if self._times else 0


class Monitor:
    """Subscribes to the simulation and to one node for each estimator.

    Args:
        node: to subscribe with.
        nodes: node name of each estimator, by its short name.
        simulation: node name of the simulation.
    """

    def __init__(self, node: Node, nodes: dict[str, str], simulation: str) -> None:
        self.joint_states, self.wrenches = Series(0), Series(6)
        self.predictions = {short: Series(6) for short in nodes}
        nothing = np.empty(0)

        def on_joint_state(message: JointState, info: Any) -> None:
            self.joint_states.add(stamp_to_ns(message.header.stamp), info["source_timestamp"], nothing)

        def on_wrench(message: WrenchStamped, info: Any) -> None:
            stamp = stamp_to_ns(message.header.stamp)
            self.wrenches.add(stamp, info["source_timestamp"], wrench_to_array(message.wrench))

        def on_prediction(series: Series) -> Any:
            def take(message: DynamicsPrediction, info: Any) -> None:
                total = np.frombuffer(message.total, dtype=np.float64)
                series.add(stamp_to_ns(message.header.stamp), info["source_timestamp"], total)

            return take

        node.create_subscription(JointState, "joint_states", on_joint_state, QOS)
        node.create_subscription(WrenchStamped, "wrench", on_wrench, QOS)
        for short, name in nodes.items():
            topic = f"/{name}/prediction"
            node.create_subscription(DynamicsPrediction, topic, on_prediction(self.predictions[short]), QOS)
        self._set_task = node.create_client(SetTask, f"/{simulation}/set_task")

    def running(self) -> bool:
        """Whether every topic has brought a message."""
        return all(len(series) for series in (self.joint_states, self.wrenches, *self.predictions.values()))

    def switch(self, task: str) -> Any:
        """Ask the simulation for another task; returns the future of its answer."""
        return self._set_task.call_async(SetTask.Request(task=task))

    def errors(self, short: str, newest: int | None = None) -> tuple[np.ndarray, Array]:
        """Stamps (n,) and errors (n, 6), predicted minus measured, of the samples that have both."""
        times, predicted = self.predictions[short].arrays(newest)
        wrench_times, measured = self.wrenches.arrays(newest)
        stamps, mine, theirs = np.intersect1d(times[:, 0], wrench_times[:, 0], return_indices=True)
        return stamps, predicted[mine] - measured[theirs]
