"""The other side of the object detection node in tests: publishes images and boxes, and keeps all that comes back."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from helpers.ros_probe import MANY, RosProbe
from sensor_msgs.msg import Image

from icub_learning.nodes.common.conversions import set_stamp, stamp_to_ns
from icub_learning.nodes.common.image_messages import image_message
from icub_learning_msgs.msg import Detection, Detections
from icub_learning_msgs.srv import ForgetObject, ListObjects, TeachDetection

PERIOD = 50_000_000  # [ns]: stamps of 20 frames a second


class DetectionProbe(RosProbe):
    """Use as a context manager, inside the test's own ROS domain."""

    def __init__(self) -> None:
        super().__init__("/object_detection", "detection")
        self.stamp = 1_700_000_000 * 10**9

    def open(self) -> None:
        """Subscribe to all that the node publishes."""
        self.detections: list[Detections] = self.hear(Detections, f"{self.node_name}/detections")
        self.annotated: list[Image] = self.hear(Image, f"{self.node_name}/annotated")
        self._images = self.node.create_publisher(Image, "image", MANY)
        self._boxes = self.node.create_publisher(Detections, "boxes", MANY)

    def connect(self) -> None:
        """Wait until both sides have found each other."""
        self.matched(self._images, self._boxes, topics=(f"{self.node_name}/detections",))

    def show(self, image: Any, boxes: Mapping[str, Any] | None = None, late: bool = False) -> Detections:
        """Publish an image one PERIOD after the last one, and the boxes of things before it, or `late`, once it was
        worked on; return what is detected."""
        message, message.header.frame_id = image_message(np.ascontiguousarray(image), 0), "eye"
        found = [Detection(label=name, score=1.0, box=list(map(float, box))) for name, box in (boxes or {}).items()]
        given = Detections(detections=found)
        set_stamp(given.header.stamp, self.stamp + PERIOD)
        for step in ("image", "boxes") if late else ("boxes", "image"):
            if step == "image":
                self.publish(message)
                self.until(lambda: self.newest == self.stamp, f"detections of the image at {self.stamp} ns")
            elif boxes is not None:
                self._boxes.publish(given)
                self.call(ListObjects, "list_objects")  # once it is answered, the boxes are there
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

    def counts(self) -> dict[str, int]:
        """Return the number of frames of each object that the node says it knows."""
        answer = self.call(ListObjects, "list_objects")
        assert answer.success
        return dict(zip(answer.labels, answer.counts, strict=True))

    def teach(self, label: str, images: Iterable[Any], first: Any = None, late: bool = False, **fields: Any) -> Any:
        """Teach an object while pairs (image, boxes or None) are shown, after the image `first`; return the answer. A
        lesson lasts a fixed time: if it ends before a busy node has seen all images, a longer one is given."""
        images = list(images)
        for seconds in (1.5, 6.0, 24.0, 96.0):
            if first is not None:
                self.show(first)
            future = self.ask(TeachDetection, "teach_detection", label=label, seconds=seconds, **fields)
            self.report(lambda values, future=future: future.done() or label in values["lesson"], "of the lesson")
            for image, boxes in images:
                self.show(image, boxes, late)
            answer = self.answer(future)
            if sum(map(int, re.findall(r"(\d+) images with a box, (\d+) without", answer.message)[0])) >= len(images):
                break
            assert not answer.success or self.call(ForgetObject, "forget_object", label=label).success
        return answer
