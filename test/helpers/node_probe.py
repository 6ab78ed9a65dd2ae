"""The other side of the inverse dynamics node in tests: publishes what a robot would, and keeps all that comes back."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from rclpy.experimental import EventsExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState

from icub_learning.clients.services import Services
from icub_learning.nodes.common.conversions import set_stamp, set_wrench, stamp_to_ns
from icub_learning_msgs.msg import DynamicsPrediction, InertialParameters

START = 1_700_000_000 * 10**9  # ns
PERIOD = 5_000_000  # ns
MANY = QoSProfile(depth=1000)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class NodeProbe:
    """Use as a context manager, inside the test's own ROS domain."""

    def __init__(self, joints: tuple[str, ...], node: str = "/inverse_dynamics") -> None:
        self.joints, self.node_name = joints, node
        self.predictions: list[DynamicsPrediction] = []
        self.outputs: dict[str, list[Any]] = {"predicted": [], "parametric": [], "external": []}
        self.inertial: list[InertialParameters] = []
        self.diagnostics: dict[str, str] = {}
        self.message = ""

    def __enter__(self) -> "NodeProbe":
        self._context = rclpy.Context()
        rclpy.init(context=self._context)
        self._node = rclpy.create_node("probe", context=self._context)
        self._executor = EventsExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._services = Services(self._node, self.spin_until)
        subscribe = self._node.create_subscription
        subscribe(DynamicsPrediction, f"{self.node_name}/prediction", self.predictions.append, MANY)
        for kind, kept in self.outputs.items():
            subscribe(WrenchStamped, f"{self.node_name}/{kind}_wrench", kept.append, MANY)
            subscribe(JointState, f"{self.node_name}/{kind}_effort", kept.append, MANY)
        subscribe(InertialParameters, f"{self.node_name}/inertial_parameters", self.inertial.append, LATCHED)
        subscribe(DiagnosticArray, "/diagnostics", self._on_diagnostics, MANY)
        reliable = QoSProfile(depth=50, reliability=ReliabilityPolicy.RELIABLE)
        self._states = self._node.create_publisher(JointState, "joint_states", reliable)
        self._wrenches = self._node.create_publisher(WrenchStamped, "wrench", reliable)
        return self

    def __exit__(self, *_: object) -> None:
        self._executor.remove_node(self._node)
        self._node.destroy_node()
        rclpy.shutdown(context=self._context)

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if "stream" in status.name:
                self.message = status.message
                self.diagnostics = {pair.key: pair.value for pair in status.values}

    def spin(self, seconds: float) -> None:
        """Take in what arrives for so long."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self._executor.spin_once(timeout_sec=min(left, 0.02))

    def spin_until(self, condition: Callable[[], Any], timeout: float = 30.0) -> bool:
        """Spin until the condition holds; whether it did in time."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            if condition():
                return True
            self._executor.spin_once(timeout_sec=0.02)
        return bool(condition())

    def connect(self, wrench: bool = True, timeout: float = 20.0) -> None:
        """Wait until both sides have found each other."""
        found = self.spin_until(
            lambda: (
                self._states.get_subscription_count()
                and (not wrench or self._wrenches.get_subscription_count())
                and self._node.count_publishers(f"{self.node_name}/prediction")
            ),
            timeout,
        )
        assert found, "the node did not appear"
        self.spin(0.5)  # matching is mutual, but the two ends learn of it one after the other

    def state(self, stamp: int, **fields: Any) -> None:
        """Publish a joint state: name, position, velocity, effort."""
        message = JointState(name=list(self.joints))
        for name, values in fields.items():
            setattr(message, name, list(values))
        _set_any_stamp(message, stamp)
        self._states.publish(message)

    def wrench(self, stamp: int, values: Any) -> None:
        """Publish a wrench."""
        message = WrenchStamped()
        set_wrench(message.wrench, np.asarray(values, dtype=float))
        _set_any_stamp(message, stamp)
        self._wrenches.publish(message)

    def call(self, kind: Any, name: str, **fields: Any) -> Any:
        """Call a service of the node and return its response."""
        return self._services.call(kind, f"{self.node_name}/{name}", takes=20.0, **fields)

    def refused(self, reason: str) -> int:
        """How many samples diagnostics say were refused for this reason."""
        return int(self.diagnostics.get(f"refused: {reason}", 0))

    def stamps(self) -> list[int]:
        """Of the predictions that came, in ns."""
        return [stamp_to_ns(message.header.stamp) for message in self.predictions]


def _set_any_stamp(message: Any, stamp: int) -> None:
    set_stamp(message.header.stamp, stamp)
