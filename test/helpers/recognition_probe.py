"""The other side of the object recognition node in tests: publishes features, and keeps all that comes back."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.experimental import EventsExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from icub_learning.clients.services import Services
from icub_learning.nodes.common.conversions import set_stamp
from icub_learning_msgs.msg import FeatureVector, ObjectList, Recognition
from icub_learning_msgs.srv import TeachObject

PERIOD = 50_000_000  # [ns]: stamps of 20 frames a second
MANY = QoSProfile(depth=1000)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class RecognitionProbe:
    """Use as a context manager, inside the test's own ROS domain."""

    def __init__(self, node: str = "/object_recognition", source: str = "net/features") -> None:
        self.node_name, self.source = node, source
        self.recognitions: list[Recognition] = []
        self.objects: list[ObjectList] = []
        self.diagnostics: dict[str, str] = {}
        self.message, self.level = "", b""
        self.stamp = 1_700_000_000 * 10**9

    def __enter__(self) -> "RecognitionProbe":
        self._context = rclpy.Context()
        rclpy.init(context=self._context)
        self._node = rclpy.create_node("probe", context=self._context)
        self._executor = EventsExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._services = Services(self._node, self.spin_until)
        subscribe = self._node.create_subscription
        subscribe(Recognition, f"{self.node_name}/recognition", self.recognitions.append, MANY)
        subscribe(ObjectList, f"{self.node_name}/objects", self.objects.append, LATCHED)
        subscribe(DiagnosticArray, "/diagnostics", self._on_diagnostics, MANY)
        reliable = QoSProfile(depth=50, reliability=ReliabilityPolicy.RELIABLE)
        self._features = self._node.create_publisher(FeatureVector, "features", reliable)
        return self

    def __exit__(self, *_: object) -> None:
        self._executor.remove_node(self._node)
        self._node.destroy_node()
        rclpy.shutdown(context=self._context)

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if "recognition" in status.name:
                self.message, self.level = status.message, status.level
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
                self._features.get_subscription_count() and self._node.count_publishers(f"{self.node_name}/recognition")
            ),
            timeout,
        )
        assert found, "the node did not appear"
        self._services.find(TeachObject, f"{self.node_name}/teach", timeout)
        self.spin(0.5)  # matching is mutual, but the two ends learn of it one after the other

    def publish(self, values: Any, source: str | None = None, stamp: int | None = None) -> None:
        """Publish a feature vector, a frame later than the last one."""
        self.stamp += PERIOD
        message = FeatureVector(source=self.source if source is None else source)
        message.values = np.asarray(values, dtype=np.float32).tolist()
        message.header.frame_id = "eye"
        set_stamp(message.header.stamp, self.stamp if stamp is None else stamp)
        self._features.publish(message)

    def feed(self, vectors: Any, source: str | None = None) -> list[Recognition]:
        """Publish vectors one by one, each after the recognition of the one before; returns the recognitions."""
        first = len(self.recognitions)
        for n, x in enumerate(vectors, first + 1):
            self.publish(x, source)
            assert self.spin_until(lambda n=n: len(self.recognitions) >= n), f"no recognition {n - first}"
        return self.recognitions[first:]

    def ask(self, kind: Any, name: str, **fields: Any) -> Any:
        """Send a request; returns the future of its answer."""
        return self._services.ask(kind, f"{self.node_name}/{name}", **fields)

    def answer(self, future: Any, timeout: float = 30.0) -> Any:
        """Wait for the answer to a request."""
        assert self.spin_until(future.done, timeout), "no answer"
        return future.result()

    def call(self, kind: Any, name: str, **fields: Any) -> Any:
        """Call a service of the node and return its response."""
        return self._services.call(kind, f"{self.node_name}/{name}", takes=20.0, **fields)

    def teach(self, label: str, vectors: Any, n_frames: int | None = None, timeout: float = 10.0) -> Any:
        """Start to teach, wait until the node says that it learns, publish vectors, return the answer."""
        vectors = list(vectors)
        future = self.ask(
            TeachObject, "teach", label=label, n_frames=len(vectors) if n_frames is None else n_frames, timeout=timeout
        )
        self.spin(0.1)
        self.feed(vectors)
        return self.answer(future, timeout + 20.0)

    def refused(self, reason: str) -> int:
        """How many vectors diagnostics say were refused for this reason."""
        return int(self.diagnostics.get(f"refused: {reason}", 0))
