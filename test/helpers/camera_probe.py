"""The other side of the CNN features node in tests: a camera that keeps all features that come back."""

import array
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rclpy.experimental import EventsExecutor
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import CompressedImage, Image

from icub_learning.clients.services import Services
from icub_learning.nodes.common.conversions import set_stamp
from icub_learning_msgs.msg import FeatureVector

MANY = QoSProfile(depth=1000)


class CameraProbe:
    """Use as a context manager, inside the test's own ROS domain."""

    def __init__(self, reliability: ReliabilityPolicy = ReliabilityPolicy.RELIABLE, topic: str = "image") -> None:
        self._reliability, self._topic = reliability, topic
        self.features: list[FeatureVector] = []
        self.diagnostics: dict[str, str] = {}
        self.level, self.message = b"", ""

    def __enter__(self) -> "CameraProbe":
        self._context = rclpy.Context()
        rclpy.init(context=self._context)
        self._node = rclpy.create_node("camera", context=self._context)
        self._executor = EventsExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._services = Services(self._node, self.spin_until)
        self._node.create_subscription(FeatureVector, "features", self.features.append, MANY)
        self._node.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, MANY)
        profile = QoSProfile(depth=10, reliability=self._reliability)
        self._raw = self._node.create_publisher(Image, self._topic, profile)
        self._compressed = self._node.create_publisher(CompressedImage, f"{self._topic}/compressed", profile)
        return self

    def __exit__(self, *_: object) -> None:
        self._executor.remove_node(self._node)
        self._node.destroy_node()
        rclpy.shutdown(context=self._context)

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name.endswith(": images"):
                self.level, self.message = status.level, status.message
                self.diagnostics = {pair.key: pair.value for pair in status.values}

    def connect(self) -> None:
        """Wait until both sides have found each other."""
        found = self.spin_until(
            lambda: (
                self._raw.get_subscription_count()
                and self._compressed.get_subscription_count()
                and self._node.count_publishers("features")
            ),
            20.0,
        )
        assert found, "the node did not appear"
        self.spin(1.0)  # the node has seen what these publishers offer, and the ends of each topic know each other

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

    def show(self, pixels: Any, stamp: int, encoding: str = "rgb8", **fields: Any) -> None:
        """Publish pixels (H, W, ...) as an Image, fields of it overridden by `fields`."""
        pixels = np.ascontiguousarray(pixels)
        height, width = pixels.shape[:2]
        message = Image(height=height, width=width, encoding=encoding, step=pixels.nbytes // max(height, 1))
        message.data = array.array("B", pixels.tobytes())
        for name, value in fields.items():
            setattr(message, name, value)
        self._send(self._raw, message, stamp)

    def show_compressed(self, content: bytes, stamp: int, description: str = "jpeg") -> None:
        """Publish a CompressedImage."""
        message = CompressedImage(format=description, data=array.array("B", content))
        self._send(self._compressed, message, stamp)

    def _send(self, publisher: Any, message: Any, stamp: int) -> None:
        set_stamp(message.header.stamp, stamp)
        message.header.frame_id = f"eye_{stamp}"
        publisher.publish(message)

    def answer(self, stamp: int, timeout: float = 30.0) -> np.ndarray:
        """Wait for the features of the image of this stamp."""

        def found() -> list[FeatureVector]:
            return [entry for entry in self.features if entry.header.frame_id == f"eye_{stamp}"]

        assert self.spin_until(found, timeout), f"no features of image {stamp}: {self.diagnostics}"
        return np.array(found()[0].values, np.float32)

    def report(self) -> dict[str, str]:
        """The diagnostics that come next."""
        self.diagnostics = {}
        assert self.spin_until(lambda: self.diagnostics), "no diagnostics"
        return self.diagnostics

    def change_state(self, transition: int) -> bool:
        """Ask the node for a lifecycle transition; whether it succeeded."""
        service = "/cnn_features/change_state"
        return self._services.call(ChangeState, service, 20.0, transition=Transition(id=transition)).success
