"""The other side of the object detection node in tests: publishes images and boxes, and keeps all that comes back."""

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.experimental import EventsExecutor
from rclpy.qos import QoSProfile
from sensor_msgs.msg import Image

from icub_learning.clients.services import Services
from icub_learning.nodes.common.conversions import set_stamp, stamp_to_ns
from icub_learning.nodes.common.image_messages import image_message
from icub_learning_msgs.msg import Detection, Detections
from icub_learning_msgs.srv import ListObjects, TeachDetection

PERIOD = 50_000_000  # [ns]: stamps of 20 frames a second
MANY = QoSProfile(depth=100)
NODE = "/object_detection"


class DetectionProbe:
    """Use as a context manager, inside the test's own ROS domain."""

    def __init__(self) -> None:
        self.detections: list[Detections] = []
        self.annotated: list[Image] = []
        self.diagnostics: dict[str, str] = {}
        self.stamp = 1_700_000_000 * 10**9

    def __enter__(self) -> "DetectionProbe":
        self._context = rclpy.Context()
        rclpy.init(context=self._context)
        self._node = rclpy.create_node("probe", context=self._context)
        self._executor = EventsExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._services = Services(self._node, self.spin_until)
        subscribe = self._node.create_subscription
        subscribe(Detections, f"{NODE}/detections", self.detections.append, MANY)
        subscribe(Image, f"{NODE}/annotated", self.annotated.append, MANY)
        subscribe(DiagnosticArray, "/diagnostics", self._on_diagnostics, MANY)
        self._images = self._node.create_publisher(Image, "image", MANY)
        self._boxes = self._node.create_publisher(Detections, "boxes", MANY)
        return self

    def __exit__(self, *_: object) -> None:
        self._executor.remove_node(self._node)
        self._node.destroy_node()
        rclpy.shutdown(context=self._context)

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if "detection" in status.name:
                self.diagnostics = {pair.key: pair.value for pair in status.values}

    def spin(self, seconds: float) -> None:
        """Take in what arrives for so long."""
        self.spin_until(lambda: False, seconds)

    def spin_until(self, condition: Callable[[], Any], timeout: float = 30.0) -> bool:
        """Spin until the condition holds; whether it did in time."""
        deadline = time.monotonic() + timeout
        while (left := deadline - time.monotonic()) > 0:
            if condition():
                return True
            self._executor.spin_once(timeout_sec=min(left, 0.02))
        return bool(condition())

    def connect(self, timeout: float = 20.0) -> None:
        """Wait until both sides have found each other."""
        found = self.spin_until(
            lambda: (
                self._images.get_subscription_count()
                and self._boxes.get_subscription_count()
                and self._node.count_publishers(f"{NODE}/detections")
            ),
            timeout,
        )
        assert found, "the node did not appear"
        self._services.find(TeachDetection, f"{NODE}/teach_detection", timeout)
        self.spin(0.5)  # matching is mutual, but the two ends learn of it one after the other

    def show(self, image: Any, boxes: Mapping[str, Any] | None = None) -> Detections:
        """Publish the boxes of things and the image, a frame later than the last one; return what is detected."""
        self.stamp += PERIOD
        if boxes is not None:
            given = Detections(
                detections=[Detection(label=name, score=1.0, box=list(map(float, box))) for name, box in boxes.items()]
            )
            set_stamp(given.header.stamp, self.stamp)
            self._boxes.publish(given)
            self.spin(0.05)  # boxes are there before their image
        message = image_message(np.ascontiguousarray(image), 0)
        message.header.frame_id = "eye"
        set_stamp(message.header.stamp, self.stamp)
        self._images.publish(message)
        stamp = self.stamp
        assert self.spin_until(lambda: self.newest == stamp), f"nothing was said of the image at {stamp} ns"
        return self.detections[-1]

    def publish(self, message: Image) -> None:
        """Publish an image as it is, with the next stamp."""
        self.stamp += PERIOD
        set_stamp(message.header.stamp, self.stamp)
        self._images.publish(message)

    @property
    def newest(self) -> int:
        """Stamp of the newest detections [ns], 0 before any."""
        return stamp_to_ns(self.detections[-1].header.stamp) if self.detections else 0

    def ask(self, kind: Any, name: str, **fields: Any) -> Any:
        """Send a request; returns the future of its answer."""
        return self._services.ask(kind, f"{NODE}/{name}", **fields)

    def answer(self, future: Any, timeout: float = 60.0) -> Any:
        """Wait for the answer to a request."""
        assert self.spin_until(future.done, timeout), "no answer"
        return future.result()

    def call(self, kind: Any, name: str, **fields: Any) -> Any:
        """Call a service of the node and return its response."""
        return self._services.call(kind, f"{NODE}/{name}", takes=20.0, **fields)

    def counts(self) -> dict[str, int]:
        """Return what the node says that it knows: frames of each object."""
        answer = self.call(ListObjects, "list_objects")
        assert answer.success
        return dict(zip(answer.labels, answer.counts, strict=True))
