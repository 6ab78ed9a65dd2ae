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
from icub_learning.view.shown.state import PERIOD, Learner, Load, Masses, Robot, State, Watcher
from icub_learning_msgs.msg import Detections, DynamicsPrediction, InertialParameters, ObjectList, Recognition
from icub_learning_msgs.srv import ListObjects

KEPT = 400  # newest messages of a topic that are kept for `nearest`
SAMPLES = 200  # steps between stamps from which the period is estimated
IMAGE, COMPRESSED = "sensor_msgs/msg/Image", "sensor_msgs/msg/CompressedImage"
Camera = tuple[str, str]  # topic and type of images; "" for none
LONGEST_GAP = 5_000_000_000  # [ns] longest gap that counts as a loss; a longer one is a pause
STEP = round(PERIOD * 1e9)  # [ns] time between two points of a curve
TOLERANCE = 20_000_000  # [ns] largest difference between a prediction and the measurement that it is compared with
SILENT = 3.0  # [s] time without predictions after which a node is taken to have gone


def guarded(take: Callable[..., None]) -> Callable[..., None]:
    """Return a callback that ignores what `take` cannot take: anybody may publish fewer values than names."""

    def taken(*given: Any) -> None:
        with contextlib.suppress(Exception):
            take(*given)

    return taken


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
        self.heard = time.monotonic()  # when messages came last, at first when the subscription was made [s]
        self.lost: int | None = None  # messages that did not come, judged by stamps; None: unknown period

    def take(self) -> list[tuple[int, bytes]]:
        """Take in what has arrived; return stamp [ns] and bytes of each new message."""
        found, subscription = [], self._subscription
        while (taken := subscription.handle.take_message(subscription.msg_type, True)) is not None:
            data = bytes(taken[0])
            if len(data) >= STAMP_END:
                found.append((stamp_in(data), data))
        if found:
            self.heard = time.monotonic()
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
        self.name, self._spun = name, spun
        self.joint_states: RawTopic | None = None  # None: not discovered yet, or there is none
        self.wrenches: RawTopic | None = None
        self.predictions = RawTopic(polled, DynamicsPrediction, f"{name}/prediction", DEEP_BEST_EFFORT)
        self._waiting: list[tuple[int, bytes]] = []  # predictions whose measurement may still be on its way
        self._last, self.robot = 0, Robot()
        self.settings: dict[str, str] | None = None  # parameters that the page needs; None before they are asked for
        self.learner: Learner | None = None  # None before its first prediction
        self._early: dict[str, Any] = {}  # latched messages that came before the first prediction
        latched = (
            (InertialParameters, "inertial_parameters", "masses", masses_of),
            (InertiaStamped, "payload", "load", load_of), (Bool, "contact", "contact", lambda one: bool(one.data)),
        )  # fmt: skip
        self._subscriptions = [
            spun.create_subscription(kind, f"{name}/{topic}", guarded(partial(self._set, field, read)), STATE)
            for kind, topic, field, read in latched
        ]

    def take(self) -> None:
        """Take in predictions, and pair those that are shown with the measurements of their time."""
        new = self.predictions.take()
        if self.learner is not None:
            self.learner.alive = time.monotonic() - self.predictions.heard < SILENT
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
        self._images: dict[Camera, RawTopic] = {}

    def follow(self, recognizers: dict[str, Camera], detectors: dict[str, Camera], camera: Camera) -> None:
        """Subscribe to these nodes, to their cameras and to another camera; unsubscribe from what is not among them."""
        self._state.camera = camera[0]
        recognition, objects = (Recognition, "recognition", _recognized, SENSOR), (ObjectList, "objects", _known, STATE)
        self._watch(recognizers, self._state.recognizers, recognition, objects)
        self._watch(detectors, self._state.detectors, (Detections, "detections", _found, SENSOR))
        wanted = {camera, *recognizers.values(), *detectors.values()} - {("", "")}
        for one in self._images.keys() - wanted:
            self._images.pop(one).close()
            self._state.images.pop(one[0], None)
        for topic, kind in wanted - self._images.keys():
            message = CompressedImage if kind == COMPRESSED else Image
            self._images[topic, kind] = RawTopic(self._polled, message, topic, SENSOR)

    def _watch(self, cameras: dict[str, Camera], known: dict[str, Watcher], *topics: tuple[Any, ...]) -> None:
        for name in [one for one in known if one not in cameras]:
            del known[name]
            for subscription in self._subscriptions.pop(name):
                self._spun.destroy_subscription(subscription)
        for name, (camera, _) in cameras.items():
            if name not in known:
                known[name], self._subscriptions[name] = Watcher(), []
                for kind, topic, take, qos in topics:
                    taken = guarded(partial(take, known[name]))
                    made = self._spun.create_subscription(kind, f"{name}/{topic}", taken, qos)
                    self._subscriptions[name].append(made)
            known[name].camera = camera

    def take(self) -> None:
        """Decode the newest image of each camera, and drop what a camera or a node that went silent said last."""
        silent = time.monotonic() - SILENT
        for one in (*self._state.recognizers.values(), *self._state.detectors.values()):
            if one.heard < silent:
                one.recognized = one.boxes = None
        for (topic, _), stream in self._images.items():
            if new := stream.take():
                with contextlib.suppress(SampleError):  # no image; nodes that subscribe to it say so in diagnostics
                    self._state.images[topic] = rgb_of(stream.decode(new[-1][1]))
            elif stream.heard < silent:
                self._state.images.pop(topic, None)

    def ask_detectors(self) -> None:
        """Ask detectors which objects they know; the answers come later."""
        for name, one in self._state.detectors.items():
            keep = guarded(lambda future, one=one: _known(one, future.result()))
            self._calls.send(ListObjects, f"{name}/list_objects").add_done_callback(keep)


def _known(one: Watcher, found: Any) -> None:
    one.objects = dict(zip(found.labels, map(int, found.counts), strict=True))
    one.recall = dict(zip(found.labels, found.recall, strict=False))


def _recognized(one: Watcher, message: Recognition) -> None:
    given = {name: getattr(message, name) for name in ("label", "nearest", "confidence", "typicality", "labels")}
    one.recognized = Recognized(stamp_to_ns(message.header.stamp), scores=np.array(message.scores), **given)
    one.heard = time.monotonic()


def _found(one: Watcher, message: Detections) -> None:
    found, one.heard = message.detections, time.monotonic()
    boxes = np.array([one.box for one in found], dtype=float).reshape(-1, 4)
    one.boxes = Boxes(boxes, [one.label for one in found], np.array([one.score for one in found]))
