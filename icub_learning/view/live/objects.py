"""What nodes that are taught objects publish, and the images that they look at."""

import contextlib
from functools import partial
from typing import Any

import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import CompressedImage, Image

from icub_learning.errors import SampleError
from icub_learning.nodes.common.image_messages import rgb_of
from icub_learning.nodes.common.qos import SENSOR, STATE
from icub_learning.view.live.graph import COMPRESSED
from icub_learning.view.live.raw_topic import RawTopic
from icub_learning.view.live.services import ServiceCalls
from icub_learning.view.shown.state import Boxes, Recognized, State
from icub_learning_msgs.msg import Detections, ObjectList, Recognition
from icub_learning_msgs.srv import ListObjects


class ObjectTopics:
    """Recognitions, detections, lists of objects, for which `calls` asks detectors, and images come into a state."""

    def __init__(self, state: State, spun: Node, polled: Node, calls: ServiceCalls) -> None:
        self._state, self._spun, self._polled, self._calls = state, spun, polled, calls
        self._subscriptions: dict[str, list[Any]] = {}
        self._images: RawTopic | None = None

    def follow(self, recognizers: tuple[str, ...], detectors: tuple[str, ...], image: tuple[str, str]) -> None:
        """Subscribe to what these nodes publish, and to their images; leave those that have gone."""
        self._state.recognizers, self._state.detectors = list(recognizers), list(detectors)
        for name in [one for one in self._subscriptions if one not in (*recognizers, *detectors)]:
            for subscription in self._subscriptions.pop(name):
                self._spun.destroy_subscription(subscription)
            self._state.objects.pop(name, None)
            self._state.recall.pop(name, None)
        if not recognizers:
            self._state.recognized = None
        if not detectors:
            self._state.boxes = None
        subscribe = self._spun.create_subscription
        for name in (one for one in recognizers if one not in self._subscriptions):
            self._subscriptions[name] = [
                subscribe(Recognition, f"{name}/recognition", self._on_recognition, SENSOR),
                subscribe(ObjectList, f"{name}/objects", partial(self._on_objects, name), STATE),
            ]
        for name in (one for one in detectors if one not in self._subscriptions):
            self._subscriptions[name] = [subscribe(Detections, f"{name}/detections", self._on_detections, SENSOR)]
        topic, kind = image
        if self._images is not None and self._images.name != topic:
            self._images.close()
            self._images = None
        if self._images is None and topic:
            self._images = RawTopic(self._polled, CompressedImage if kind == COMPRESSED else Image, topic, SENSOR)

    def take(self) -> None:
        """Decode the newest image that has come."""
        if self._images is None or not (new := self._images.take()):
            return
        with contextlib.suppress(SampleError):  # no image; the nodes that look at it say so in their diagnostics
            self._state.image = rgb_of(self._images.decode(new[-1][1]))
            self._state.image_number += 1

    def ask_detectors(self) -> None:
        """Ask detectors which objects they know; the answers come later."""
        for name in self._state.detectors:
            self._calls.send(ListObjects, f"{name}/list_objects").add_done_callback(partial(self._on_list, name))

    def _on_list(self, name: str, future: Any) -> None:
        if future.exception() is None:
            self._count(name, future.result())

    def _count(self, name: str, found: Any) -> None:
        self._state.objects[name] = dict(zip(found.labels, map(int, found.counts), strict=True))

    def _on_objects(self, name: str, message: ObjectList) -> None:
        self._count(name, message)
        self._state.recall[name] = dict(zip(message.labels, message.recall, strict=False))

    def _on_recognition(self, message: Recognition) -> None:
        scores = dict(zip(message.labels, map(float, message.scores), strict=False))
        named = message.label, message.nearest, message.confidence, message.typicality
        self._state.recognized = Recognized(*named, scores)

    def _on_detections(self, message: Detections) -> None:
        found = message.detections
        boxes = np.array([one.box for one in found], dtype=float).reshape(-1, 4)
        scores = np.array([one.score for one in found])
        self._state.boxes = Boxes(boxes, tuple(one.label for one in found), scores)
