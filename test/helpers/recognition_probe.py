"""The other side of the object recognition node in tests: publishes features, and keeps all that comes back."""

from typing import Any

import numpy as np
from helpers.ros_probe import LATCHED, RELIABLE, RosProbe

from icub_learning.nodes.common.conversions import set_stamp
from icub_learning_msgs.msg import FeatureVector, ObjectList, Recognition
from icub_learning_msgs.srv import TeachObject

PERIOD = 50_000_000  # [ns]: stamps of 20 frames a second


class RecognitionProbe(RosProbe):
    """Use as a context manager, inside the test's own ROS domain."""

    def __init__(self) -> None:
        super().__init__("/object_recognition", "recognition")
        self.stamp = 1_700_000_000 * 10**9

    def open(self) -> None:
        """Subscribe to all that the node publishes."""
        self.recognitions: list[Recognition] = self.hear(Recognition, f"{self.node_name}/recognition")
        self.objects: list[ObjectList] = self.hear(ObjectList, f"{self.node_name}/objects", LATCHED)
        self._features = self.node.create_publisher(FeatureVector, "features", RELIABLE)

    def connect(self) -> None:
        """Wait until both sides have found each other."""
        self.matched(self._features, topics=(f"{self.node_name}/recognition",))

    def publish(self, values: Any, source: str | None = None) -> None:
        """Publish a feature vector, one PERIOD after the last one."""
        self.stamp += PERIOD
        message = FeatureVector(source="net/features" if source is None else source)
        message.values, message.header.frame_id = np.asarray(values, dtype=np.float32).tolist(), "eye"
        set_stamp(message.header.stamp, self.stamp)
        self._features.publish(message)

    def feed(self, vectors: Any) -> list[Recognition]:
        """Publish vectors one by one, each after the recognition of the one before; return the recognitions."""
        first = len(self.recognitions)
        for n, x in enumerate(vectors, first + 1):
            self.publish(x)
            self.until(lambda n=n: len(self.recognitions) >= n, f"recognition {n - first}")
        return self.recognitions[first:]

    def begin_lesson(self, label: str, n_frames: int, timeout: float) -> Any:
        """Ask for a lesson and wait until the node says that it has begun; return the future of the answer."""
        future = self.ask(TeachObject, "teach", label=label, n_frames=n_frames, timeout=timeout)
        self.report(lambda values: future.done() or f"{label}: 0 of" in values["lesson"], "of the lesson")
        return future

    def teach(self, label: str, vectors: Any, n_frames: int | None = None, timeout: float = 200.0) -> Any:
        """Begin a lesson, wait until the node says that it learns, publish vectors, and return the answer."""
        vectors = list(vectors)
        future = self.begin_lesson(label, len(vectors) if n_frames is None else n_frames, timeout)
        self.feed(vectors)
        return self.answer(future)
