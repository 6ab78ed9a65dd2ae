"""The robot that a person teaches: its images, its recognitions and its services."""

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from rclpy.node import Node
from sensor_msgs.msg import CompressedImage, Image

from icub_learning.cli.common.image_sources import Source
from icub_learning.clients.services import Services
from icub_learning.clients.topics import Wait
from icub_learning.errors import IcubLearningError, ParameterError
from icub_learning.nodes.common.image_messages import image_message, rgb_of
from icub_learning.nodes.common.image_subscription import ImageSubscription
from icub_learning.nodes.common.qos import DISCOVERY_TIME, STREAM
from icub_learning.recognition.vision.images import Pixels
from icub_learning_msgs.msg import Detections, Recognition
from icub_learning_msgs.srv import TeachObject

PERIOD = 0.02  # [s] time between two looks for messages
ANSWER_LIMIT = 5.0  # [s] longest wait for the answer to a picture of a folder, which may have 50 million pixels
FRAME = "camera"  # frame_id of the images that are published
Ros = tuple[Node, Wait, Callable[[], bool]]  # node, wait and stopped, as `ros_node` yields them


class Robot:
    """One object recognition node and its images, compressed if their topic ends in "/compressed".

    The images are those of `source`, which are published there; without it, those that another node publishes. Each
    picture of a folder waits for the answer to the one before it, so that none is passed over."""

    node_name = "/object_recognition"
    system = "recognition"  # name of the needed processes for `icub-learning launch`
    answer: tuple[type, str] = Recognition, "recognition"  # answers of the node to images: type and topic

    def __init__(self, ros: Ros, name: str, topic: str, source: Source | None) -> None:
        node, self._handle, self._stopped = ros
        self._name, self._topic, self._source = name.rstrip("/"), topic, source
        self._message: Image | CompressedImage | None = None
        self._images = 0
        self._answer: Any = None
        self._answers, self._due = 0, time.monotonic()
        self._services = Services(node, self.wait)
        kind_of_answer, answers = self.answer
        node.create_subscription(kind_of_answer, f"{self._name}/{answers}", self._on_answer, STREAM)
        if source is None:
            kind = CompressedImage if topic.endswith("/compressed") else Image
            self._subscription = ImageSubscription(node, kind, topic, self._on_image)
        else:
            self._publisher = node.create_publisher(Image, topic, STREAM)

    def frame(self, limit: float) -> Pixels:
        """Return the next image, RGB. Raises IcubLearningError: none in `limit` seconds; SampleError: not an image."""
        before = self._images
        if not self.wait(lambda: self._images > before, limit):
            text = f"no image on '{self._topic}' within {limit:g} s: does a camera publish there? See --image, --source"
            raise IcubLearningError(text, name="image")
        assert self._message is not None
        return rgb_of(self._message)

    def found_after(self, count: int, limit: float) -> Any:
        """Return the `count`-th answer from now on; None if it does not come within `limit` seconds."""
        before = self._answers
        return self._answer if self.wait(lambda: self._answers >= before + count, limit) else None

    def call(self, kind: Any, service: str, takes: float = 0.0, **fields: Any) -> Any:
        """Call a service of the node and go on publishing images meanwhile; see Services.call."""
        try:
            return self._services.call(kind, f"{self._name}/{service}", takes, **fields)
        except ParameterError:  # of an image
            raise
        except IcubLearningError as error:
            raise IcubLearningError(f"{error} (is `icub-learning launch {self.system}` running? See --node)") from error

    def interrupt(self, label: str) -> None:
        """Ask the node to end the lesson of an object, and do not wait: it would learn whatever is shown next."""
        with suppress(IcubLearningError, KeyboardInterrupt):
            self._services.ask(TeachObject, f"{self._name}/teach", 0.0, label=label, n_frames=0)
        time.sleep(DISCOVERY_TIME)  # the request leaves before the node of this command ends

    def wait(self, done: Callable[[], bool], limit: float) -> bool:
        """Publish images and handle messages until `done` returns true, at most `limit` seconds; return whether it did.
        Raises KeyboardInterrupt: a signal came."""
        end = time.monotonic() + limit
        while not done():
            if self._stopped():
                raise KeyboardInterrupt
            now = time.monotonic()
            if now >= end:
                return False
            if self._source is None:
                self._subscription.adapt()
            elif now >= self._due + (self._wait_for_answer() if self._source.files else 0.0):
                self._due = max(self._due + self._source.period, now)
                self._on_image(image_message(self._source.read(), time.time_ns(), FRAME))
                self._publisher.publish(self._message)
            self._handle(self._stopped, PERIOD)
        return True

    def _on_image(self, message: Image | CompressedImage) -> None:
        self._message = message
        self._images += 1

    def _on_answer(self, message: Any) -> None:
        self._answer = message
        self._answers += 1

    def _wait_for_answer(self) -> float:
        """Return for how long [s] the next image waits for the answer to the newest one, which bears its stamp."""
        if self._message is None:
            return 0.0
        if self._answer is None:  # the newest image is lost if the node has not been discovered yet
            return DISCOVERY_TIME
        return 0.0 if self._answer.header.stamp == self._message.header.stamp else ANSWER_LIMIT


class DetectingRobot(Robot):
    """One object detection node and its images; see Robot."""

    node_name, system = "/object_detection", "detection"
    answer = Detections, "detections"
