"""The other side of the inverse dynamics node in tests: publishes what a robot would, and keeps all that comes back."""

from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from helpers.ros_probe import LATCHED, MANY, RELIABLE, RosProbe
from sensor_msgs.msg import JointState

from icub_learning.nodes.common.conversions import set_stamp, set_wrench, stamp_to_ns
from icub_learning_msgs.msg import DynamicsPrediction, InertialParameters

START = 1_700_000_000 * 10**9  # ns
PERIOD = 5_000_000  # ns


class NodeProbe(RosProbe):
    """Use as a context manager, inside the test's own ROS domain; `wrench`: whether the node takes wrenches."""

    def __init__(self, joints: tuple[str, ...], wrench: bool = True) -> None:
        super().__init__("/inverse_dynamics", "stream")
        self.joints, self._takes_wrenches = joints, wrench
        self.sent = 0  # number of published joint states and wrenches

    def open(self) -> None:
        """Subscribe to all that the node publishes."""
        self.predictions: list[DynamicsPrediction] = self.hear(DynamicsPrediction, f"{self.node_name}/prediction")
        self.outputs: dict[str, list[Any]] = {"predicted": [], "parametric": [], "external": [], "deviation": []}
        for kind, kept in self.outputs.items():
            for what, suffix in (WrenchStamped, "wrench"), (JointState, "effort"):
                topic = f"external_{suffix}_deviation" if kind == "deviation" else f"{kind}_{suffix}"
                self.node.create_subscription(what, f"{self.node_name}/{topic}", kept.append, MANY)
        self.inertial = self.hear(InertialParameters, f"{self.node_name}/inertial_parameters", LATCHED)
        self.states = self.node.create_publisher(JointState, "joint_states", RELIABLE)
        self.wrenches = self.node.create_publisher(WrenchStamped, "wrench", RELIABLE)

    def connect(self) -> None:
        """Wait until both sides have found each other."""
        publishers = [self.states, self.wrenches] if self._takes_wrenches else [self.states]
        self.matched(*publishers, topics=(f"{self.node_name}/prediction",))

    def state(self, stamp: int, **fields: Any) -> None:
        """Publish a joint state; `fields`: name, position, velocity, effort."""
        message = JointState(name=list(self.joints))
        for name, values in fields.items():
            setattr(message, name, list(values))
        set_stamp(message.header.stamp, stamp)
        self.states.publish(message)
        self.sent += 1

    def wrench(self, stamp: int, values: Any) -> None:
        """Publish a wrench."""
        message = WrenchStamped()
        set_wrench(message.wrench, np.asarray(values, dtype=float))
        set_stamp(message.header.stamp, stamp)
        self.wrenches.publish(message)
        self.sent += 1

    def stamps(self) -> list[int]:
        """Return the stamps [ns] of the predictions that came."""
        return [stamp_to_ns(message.header.stamp) for message in self.predictions]
