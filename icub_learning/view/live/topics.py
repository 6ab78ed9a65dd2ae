"""Topics of nodes that learn, as the state of a learner and of objects, and the images to which they subscribe."""

import contextlib
import time
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from geometry_msgs.msg import InertiaStamped
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import CompressedImage, Image, JointState
from std_msgs.msg import Bool

from icub_learning.arrays import Array
from icub_learning.detection.boxes import Detections as Boxes
from icub_learning.errors import SampleError
from icub_learning.nodes.common.conversions import stamp_to_ns, wrench_to_array
from icub_learning.nodes.common.image_messages import rgb_of
from icub_learning.nodes.common.qos import DEEP_BEST_EFFORT, SENSOR, STATE
from icub_learning.nodes.common.serialized import STAMP_END, message_of, stamp_in
from icub_learning.recognition.recognizer import Recognition as Recognized
from icub_learning.view.live.services import ServiceCalls
from icub_learning.view.shown.state import PERIOD, Learner, Load, Masses, State
from icub_learning_msgs.msg import Detections, DynamicsPrediction, InertialParameters, ObjectList, Recognition
from icub_learning_msgs.srv import ListObjects

KEPT = 400  # newest messages of a topic that are kept for `nearest`
SAMPLES = 200  # steps between stamps from which the period is estimated
IMAGE, COMPRESSED = "sensor_msgs/msg/Image", "sensor_msgs/msg/CompressedImage"
LONGEST_GAP = 5_000_000_000  # [ns] longest gap that counts as a loss; a longer one is a pause
STEP = round(PERIOD * 1e9)  # [ns] time between two points of a curve
TOLERANCE = 20_000_000  # [ns] largest difference between a prediction and the measurement that it is compared with
SILENT = 3.0  # [s] time without predictions after which a node is taken to have gone


class RawTopic:
    """A subscription to messages with a header, by a node that no executor spins; made like create_subscription."""

    def __init__(self, node: Node, kind: type, topic: str, qos: QoSProfile) -> None:
        self._node = node
        self._subscription = node.create_subscription(kind, topic, lambda _: None, qos, raw=True)
        self._messages: deque[tuple[int, bytes]] = deque(maxlen=KEPT)
        self._last = 0
        self._steps: list[int] = []
        self._period = 0  # median step between stamps [ns]
        self.name: str = self._subscription.topic_name
        self.lost: int | None = None  # messages that did not come, judged by stamps; None: unknown period

    def take(self) -> list[tuple[int, bytes]]:
        """Take in what has arrived; return stamp [ns] and bytes of each new message."""
        found = []
        subscription = self._subscription
        while (taken := subscription.handle.take_message(subscription.msg_type, True)) is not None:
            data = bytes(taken[0])
            if len(data) >= STAMP_END:
                found.append((stamp_in(data), data))
        self._count([stamp for stamp, _ in found])
        self._messages.extend(found)
        return found

    def decode(self, data: bytes) -> Any:
        """Return the message that bytes hold. Raises SampleError if they hold none."""
        return message_of(data, self._subscription.msg_type)

    def nearest(self, stamp: int, tolerance: int) -> bytes | None:
        """Return the kept message whose stamp is nearest to `stamp` [ns], or None if none is within the tolerance."""
        near = min(self._messages, key=lambda one: abs(one[0] - stamp), default=None)
        return near[1] if near is not None and abs(near[0] - stamp) <= tolerance else None

    def close(self) -> None:
        self._node.destroy_subscription(self._subscription)

    def _count(self, stamps: list[int]) -> None:
        for stamp in stamps:
            step, self._last = stamp - self._last, stamp
            if not 0 < step < LONGEST_GAP:  # a stamp that is repeated, set back, after a pause, or the first
                continue
            if self.lost is not None:
                self.lost += max(0, round(step / self._period) - 1)
                continue
            self._steps.append(step)
            if len(self._steps) == SAMPLES:
                self.lost, self._period = 0, sorted(self._steps)[SAMPLES // 2]


def sampled(messages: list[tuple[int, bytes]], last: int, period: int) -> Iterator[tuple[int, bytes]]:
    """Yield the first message of each period [ns] after stamp `last` [ns]; a stamp that went back is yielded too."""
    for stamp, data in messages:
        if stamp // period != last // period:
            last = stamp
            yield stamp, data


class LearnerTopics:
    """Subscribes to the topics of one learner: rare ones with the node `spun` of an executor, streams with `polled`.

    The streams of joint states and wrenches that the learner uses are shared with other learners.
    """

    def __init__(self, name: str, spun: Node, polled: Node) -> None:
        self.name = name
        self._spun = spun
        self.joint_states: RawTopic | None = None  # None: not discovered yet, or there is none
        self.wrenches: RawTopic | None = None
        self.predictions = RawTopic(polled, DynamicsPrediction, f"{name}/prediction", DEEP_BEST_EFFORT)
        self._waiting: list[tuple[int, bytes]] = []  # predictions whose measurement may still be on its way
        self._last, self._heard = 0, time.monotonic()
        self.learner: Learner | None = None  # None before its first prediction
        self._early: dict[str, Any] = {}  # latched messages that came before the first prediction
        latched = (
            (InertialParameters, "inertial_parameters", "masses", masses_of),
            (InertiaStamped, "payload", "load", load_of),
            (Bool, "contact", "contact", lambda message: bool(message.data)),
        )
        self._subscriptions = [
            spun.create_subscription(kind, f"{name}/{topic}", partial(self._set, field, read), STATE)
            for kind, topic, field, read in latched
        ]

    def take(self) -> None:
        """Take in predictions, and pair those that are shown with the measurements of their time."""
        new = self.predictions.take()
        now = time.monotonic()
        if new:
            self._heard = now
        if self.learner is not None:
            self.learner.alive = now - self._heard < SILENT
        paired, self._waiting = self._waiting, list(sampled(new, self._last, STEP))
        if self._waiting:
            self._last = self._waiting[-1][0]
        for stamp, data in paired:
            with contextlib.suppress(Exception):  # the bytes are no message; the next ones may be
                self._pair(stamp, self.predictions.decode(data))

    def _pair(self, stamp: int, message: DynamicsPrediction) -> None:
        learner = self.learner
        if learner is None or learner.outputs != tuple(message.names):
            learner = self.learner = Learner(self.name, tuple(message.names), message.header.frame_id)
            for name, value in self._early.items():
                setattr(learner, name, value)
        topic = self.wrenches if learner.is_wrench else self.joint_states
        if topic is None or (data := topic.nearest(stamp, TOLERANCE)) is None:
            return
        found = topic.decode(data)
        measured = wrench_to_array(found.wrench) if learner.is_wrench else efforts(found, learner.outputs)
        if measured is not None and np.isfinite(measured).all():
            predicted = map(np.array, (message.total, message.parametric, message.variance))
            learner.curves.add(stamp, measured, *predicted)

    def close(self) -> None:
        self.predictions.close()
        for one in self._subscriptions:
            self._spun.destroy_subscription(one)

    def _set(self, field: str, read: Callable[[Any], Any], message: Any) -> None:
        if self.learner is None:
            self._early[field] = read(message)
        else:
            setattr(self.learner, field, read(message))


def load_of(message: InertiaStamped) -> Load:
    centre = message.inertia.com
    return Load(message.inertia.m, np.array([centre.x, centre.y, centre.z]), message.header.frame_id)


def masses_of(message: Any) -> Masses:
    """Return the masses among inertial parameters: those whose names end in .m."""
    places = [place for place, name in enumerate(message.names) if name.endswith(".m")]
    possible = message.consistent_values or message.values
    learned, nominal, consistent = (np.array(one)[places] for one in (message.values, message.nominal, possible))
    links = tuple(message.names[place].removesuffix(".m") for place in places)
    return Masses(links, learned, nominal, consistent, int(message.n_samples))


def efforts(message: JointState, joints: tuple[str, ...]) -> Array | None:
    """Return the efforts of joints, or None if the message lacks one."""
    values = dict(zip(message.name, message.effort, strict=False))
    return np.array([values[name] for name in joints]) if all(name in values for name in joints) else None


class ObjectTopics:
    """Puts recognitions, detections, images and lists of objects, requested from detectors by `calls`, into a state."""

    def __init__(self, state: State, spun: Node, polled: Node, calls: ServiceCalls) -> None:
        self._state, self._spun, self._polled, self._calls = state, spun, polled, calls
        self._subscriptions: dict[str, list[Any]] = {}
        self._images: RawTopic | None = None
        self._heard: dict[str, float] = {}  # when each field of the state was last heard of [s, time.monotonic()]

    def follow(self, recognizers: list[str], detectors: list[str], image: tuple[str, str]) -> None:
        """Subscribe to the topics of these nodes, and to their images; unsubscribe from nodes that have gone."""
        self._state.recognizers, self._state.detectors = recognizers, detectors
        for name in [one for one in self._subscriptions if one not in (*recognizers, *detectors)]:
            for subscription in self._subscriptions.pop(name):
                self._spun.destroy_subscription(subscription)
            self._state.objects.pop(name, None)
            self._state.recall.pop(name, None)
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
        """Decode the newest image that has come, and drop what a node that went silent said of those before."""
        for field in ("recognized", "boxes"):
            if time.monotonic() - self._heard.get(field, 0.0) > SILENT:
                setattr(self._state, field, None)
        if self._images is None or not (new := self._images.take()):
            return
        with contextlib.suppress(SampleError):  # no image; nodes that subscribe to it say so in diagnostics
            self._state.image = rgb_of(self._images.decode(new[-1][1]))
            self._state.image_number += 1

    def ask_detectors(self) -> None:
        """Ask detectors which objects they know; the answers come later."""
        for name in self._state.detectors:
            self._calls.send(ListObjects, f"{name}/list_objects").add_done_callback(partial(self._on_list, name))

    def _on_list(self, name: str, future: Any) -> None:
        if future.exception() is None:
            self._on_objects(name, future.result())

    def _on_objects(self, name: str, found: Any) -> None:
        self._state.objects[name] = dict(zip(found.labels, map(int, found.counts), strict=True))
        if isinstance(found, ObjectList):
            self._state.recall[name] = dict(zip(found.labels, found.recall, strict=False))

    def _on_recognition(self, message: Recognition) -> None:
        given = {name: getattr(message, name) for name in ("label", "nearest", "confidence", "typicality", "labels")}
        stamp, self._heard["recognized"] = stamp_to_ns(message.header.stamp), time.monotonic()
        self._state.recognized = Recognized(stamp, scores=np.array(message.scores), **given)

    def _on_detections(self, message: Detections) -> None:
        found, self._heard["boxes"] = message.detections, time.monotonic()
        boxes = np.array([one.box for one in found], dtype=float).reshape(-1, 4)
        self._state.boxes = Boxes(boxes, [one.label for one in found], np.array([one.score for one in found]))
