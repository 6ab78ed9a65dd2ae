"""The state of running nodes: which there are, what they publish, and what their services answer."""

import contextlib
import re
import time
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from rcl_interfaces.srv import GetParameters
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from icub_learning.clients.services import parameters_in
from icub_learning.errors import IcubLearningError, SampleError
from icub_learning.nodes.common.qos import DEEP_BEST_EFFORT, STATE, STREAM
from icub_learning.robots import find_urdf
from icub_learning.view import STATUS
from icub_learning.view.live.services import ServiceCalls
from icub_learning.view.live.topics import COMPRESSED, IMAGE, LearnerTopics, ObjectTopics, RawTopic
from icub_learning.view.shown.state import Health, State

PREDICTION = "icub_learning_msgs/msg/DynamicsPrediction"
RECOGNITION = "icub_learning_msgs/msg/Recognition"
DETECTIONS = "icub_learning_msgs/msg/Detections"
FEATURES = "icub_learning_msgs/msg/FeatureVector"
JOINT_STATE, WRENCH = "sensor_msgs/msg/JointState", "geometry_msgs/msg/WrenchStamped"
LOOK_PERIOD = 1.0  # [s] time between two looks for nodes
ASK_PERIOD = 3.0  # [s] time between two requests for what nodes do not publish
SETTINGS = ("urdf", "estimator", "output", "sensor")  # parameters of a learner that the page needs
FORGOTTEN = 60.0  # [s] time without a report after which a status is left out
WEIGHT = re.compile(r"(P|NP|SP) (\d+(?:\.\d+)?)")


@dataclass(frozen=True)
class Found:
    """The nodes that were found, by name, and the topics that they subscribe to."""

    learners: dict[str, tuple[str, str]]  # topics of joint states and wrenches of each learner; "" for none
    recognizers: list[str]
    detectors: list[str]
    image: tuple[str, str]  # topic and type of the camera's images that they subscribe to; "" for none


def look(node: Node, image: str = "") -> Found:
    """Return the nodes that run now; images come from the topic `image`, for "" from one that nodes subscribe to."""
    topics = {name: types[0] for name, types in node.get_topic_names_and_types() if types}

    def owners(kind: str, ending: str) -> list[str]:
        """Return the names of nodes that publish topics of a type below their own names."""
        found = [name for name, one in topics.items() if one == kind and name.endswith(ending)]
        return sorted(name.removesuffix(ending) for name in found if node.count_publishers(name))

    def first(owner: str, kind: str) -> str:
        return next(iter(_subscribed(node, owner, kind)), "")

    learners = {one: (first(one, JOINT_STATE), first(one, WRENCH)) for one in owners(PREDICTION, "/prediction")}
    recognizers, detectors = owners(RECOGNITION, "/recognition"), owners(DETECTIONS, "/detections")
    features = [name for name, kind in topics.items() if kind == FEATURES]
    publishers = [info for name in features for info in node.get_publishers_info_by_topic(name)]
    watchers = [*detectors, *(f"{one.node_namespace.rstrip('/')}/{one.node_name}" for one in publishers)]
    return Found(learners, recognizers, detectors, _image(node, topics, watchers, image))


def _subscribed(node: Node, owner: str, kind: str) -> list[str]:
    namespace, _, name = owner.rpartition("/")
    try:
        found = node.get_subscriber_names_and_types_by_node(name, namespace or "/")
    except Exception:  # rclpy's NodeNameNonExistentError: the node has left since
        return []
    return [topic for topic, types in found if kind in types]


def _image(node: Node, topics: dict[str, str], watchers: list[str], given: str) -> tuple[str, str]:
    if given:
        return given, topics.get(given, IMAGE)
    kinds = (IMAGE, COMPRESSED)
    watched = ((topic, kind) for one in watchers for kind in kinds for topic in _subscribed(node, one, kind))
    published = sorted((name, kind) for name, kind in topics.items() if kind in kinds)
    cameras = ((name, kind) for name, kind in published if not name.endswith("/annotated"))
    return next((one for one in chain(watched, cameras) if node.count_publishers(one[0])), ("", ""))


class LiveSource:
    """Keeps a state up to date with what nodes publish. Raises ModelError: there is no such URDF.

    The thread that runs the executor of `spun` calls `poll` ten times a second or more; no executor spins `polled`,
    which is for streams. `joint_states` is a topic, used while no learner subscribes to another; `urdf` is as for
    `find_urdf`, "" for that of robot_description or of a learner's parameter; `image` is a topic, "" for the one that
    nodes subscribe to; `folder` is that of a program that writes what it does into its file STATUS.
    """

    def __init__(
        self, spun: Node, polled: Node, joint_states: str, urdf: str = "", image: str = "", folder: Path | None = None
    ) -> None:
        self.state = State()
        self._spun, self._polled, self._image, self._folder = spun, polled, image, folder
        self._calls = ServiceCalls(spun)
        self.ask = self._calls.ask  # calls services, from any thread
        self._streams: dict[str, RawTopic] = {}
        self._learners: dict[str, LearnerTopics] = {}
        self._objects = ObjectTopics(self.state, spun, polled, self._calls)
        self._settings: dict[str, dict[str, str]] = {}  # settings of learners that were asked for them
        self._next_look = self._next_question = 0.0
        self._chosen_urdf = bool(urdf)
        if urdf:
            self.state.set_urdf(find_urdf(urdf))
        spun.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, STREAM)
        spun.create_subscription(String, "robot_description", self._on_description, STATE)
        self._joints = self._stream(joint_states, JointState)

    def poll(self) -> None:
        """Take in the messages that have come, and look for nodes that are new or gone."""
        now = time.monotonic()
        self._calls.handle()
        if now >= self._next_look:
            self._next_look = now + LOOK_PERIOD
            self._look()
        if now >= self._next_question:
            self._next_question = now + ASK_PERIOD
            self._objects.ask_detectors()
        for name, stream in self._streams.items():
            newest = stream.take()
            if newest and name == self._joints.name:
                with contextlib.suppress(SampleError):  # bytes that are no message
                    message = stream.decode(newest[-1][1])
                    self.state.joints.update(zip(message.name, message.position, strict=False))
        for name, topics in self._learners.items():
            topics.take()
            if topics.learner is not None:
                topics.learner.settings = self._settings.get(name, {})
                self.state.learners[name] = topics.learner
        self._objects.take()
        lost = {name: one.lost for name, one in self._streams.items()}
        lost |= {f"{name}/prediction": one.predictions.lost for name, one in self._learners.items()}
        self.state.lost = {name: count for name, count in lost.items() if count is not None}

    def _look(self) -> None:
        found = look(self._spun, self._image)
        for name, (joint_states, wrenches) in found.learners.items():
            if name not in self._learners:
                self._learners[name] = LearnerTopics(name, self._spun, self._polled)
            topics = self._learners[name]  # what it subscribes to may be discovered later than what it publishes
            if joint_states and topics.joint_states is None:
                self._joints = topics.joint_states = self._stream(joint_states, JointState)
            if wrenches and topics.wrenches is None:
                topics.wrenches = self._stream(wrenches, WrenchStamped)
            self._ask_settings(name)
        for name in [one for one in self._learners if one not in found.learners]:
            self._learners.pop(name).close()
            self.state.learners.pop(name, None)
            self._settings.pop(name, None)
        self._objects.follow(found.recognizers, found.detectors, found.image)
        limit = time.monotonic() - FORGOTTEN
        self.state.health = {name: one for name, one in self.state.health.items() if one.arrival > limit}
        if self._folder is not None:
            status = self._folder / STATUS
            self.state.doing = status.read_text(encoding="utf-8").strip() if status.is_file() else ""

    def _stream(self, topic: str, kind: Any) -> RawTopic:
        name = self._spun.resolve_topic_name(topic)
        if name not in self._streams:
            self._streams[name] = RawTopic(self._polled, kind, name, DEEP_BEST_EFFORT)
        return self._streams[name]

    def _ask_settings(self, name: str) -> None:
        if name in self._settings:
            return
        self._settings[name] = {}

        def keep(future: Any) -> None:
            if future.exception() is not None:
                self._settings.pop(name, None)  # the node may come up later
                return
            found = parameters_in(future.result(), SETTINGS)
            values = {key: value if isinstance(value, str) else "" for key, value in found.items()}
            self._settings[name] = values
            if values.get("urdf") and not self._chosen_urdf and not self.state.urdf:
                with contextlib.suppress(IcubLearningError):  # a path on another machine
                    self.state.set_urdf(find_urdf(values["urdf"]))

        self._calls.send(GetParameters, f"{name}/get_parameters", names=list(SETTINGS)).add_done_callback(keep)

    def _on_description(self, message: String) -> None:
        if not self._chosen_urdf and message.data:
            self.state.urdf, self.state.urdf_path = message.data, ""

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            values = {pair.key: pair.value for pair in status.values}
            level = status.level[0] if isinstance(status.level, bytes) else int(status.level)
            level = level if 0 <= level <= 3 else 2  # an unknown level counts as an error
            self.state.health[status.name] = Health(level, status.message, values, time.monotonic())
            node = "/" + status.hardware_id.lstrip("/")
            for name, learner in self.state.learners.items():
                if name.endswith(node) and (text := values.get("weights of experts")):
                    learner.weights = weights_of(text)


def weights_of(text: str) -> dict[str, dict[str, float]]:
    """Return the weights of P, NP and SP by output, from the text "force.x: P 0.10 NP 0.20 SP 0.70; force.y: ..."."""
    parts = (part.partition(":") for part in text.split(";"))
    found = {output.strip(): {kind: float(value) for kind, value in WEIGHT.findall(said)} for output, _, said in parts}
    return {output: weights for output, weights in found.items() if weights}
