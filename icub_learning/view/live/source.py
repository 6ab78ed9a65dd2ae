"""The state of running nodes: which there are, what they publish, and what their services answer."""

import contextlib
import re
import time
from dataclasses import dataclass
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
from icub_learning.view.live.topics import COMPRESSED, IMAGE, Camera, LearnerTopics, ObjectTopics, RawTopic, guarded
from icub_learning.view.shown.state import Health, State

PREDICTION, RECOGNITION = "icub_learning_msgs/msg/DynamicsPrediction", "icub_learning_msgs/msg/Recognition"
DETECTIONS, FEATURES = "icub_learning_msgs/msg/Detections", "icub_learning_msgs/msg/FeatureVector"
KINDS = (IMAGE, COMPRESSED)
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
    recognizers: dict[str, Camera]  # camera of each node; "" while nothing publishes its images
    detectors: dict[str, Camera]
    camera: Camera  # camera that any of them subscribes to, else the first


def look(node: Node, image: str = "") -> Found:
    """Return the nodes that run now; images come from the topic `image`, or if that is "" from theirs."""
    topics = {name: types[0] for name, types in node.get_topic_names_and_types() if types}

    def owners(kind: str, ending: str) -> list[str]:
        """Return the names of nodes that publish topics of a type below their own names."""
        found = [name for name, one in topics.items() if one == kind and name.endswith(ending)]
        return sorted(name.removesuffix(ending) for name in found if node.count_publishers(name))

    def first(owner: str, kind: str) -> str:
        return next(iter(_subscribed(node, owner, kind)), "")

    learners = {one: (first(one, JOINT_STATE), first(one, WRENCH)) for one in owners(PREDICTION, "/prediction")}
    recognizers, detectors = owners(RECOGNITION, "/recognition"), owners(DETECTIONS, "/detections")

    def watched(owners: list[str], features: list[str]) -> list[Camera]:
        """Return the cameras to which these nodes, and those that publish these features, subscribe."""
        publishers = [info for name in features for info in node.get_publishers_info_by_topic(name)]
        owners = [*owners, *(f"{one.node_namespace.rstrip('/')}/{one.node_name}" for one in publishers)]
        return [(topic, kind) for one in owners for kind in KINDS for topic in _subscribed(node, one, kind)]

    def published(cameras: list[Camera]) -> Camera:
        return next((one for one in cameras if node.count_publishers(one[0])), ("", ""))

    cameras = [one for one in topics.items() if one[1] in KINDS and image in (one[0], "")]
    cameras = [one for one in cameras if image or not one[0].endswith("/annotated")]  # those of depths come last
    every = [] if image else watched(detectors, [name for name, kind in topics.items() if kind == FEATURES])
    camera = published([*every, *sorted(cameras, key=lambda one: ("depth" in one[0].lower(), one))])

    def with_cameras(owners: list[str]) -> dict[str, Camera]:
        own = {one: [] if image else watched([one], _subscribed(node, one, FEATURES)) for one in owners}
        return {one: published(found) if found else camera for one, found in own.items()}

    return Found(learners, with_cameras(recognizers), with_cameras(detectors), camera)


def _subscribed(node: Node, owner: str, kind: str) -> list[str]:
    namespace, _, name = owner.rpartition("/")
    try:
        found = node.get_subscriber_names_and_types_by_node(name, namespace or "/")
    except Exception:  # rclpy's NodeNameNonExistentError: the node has left since
        return []
    return [topic for topic, types in found if kind in types]


class LiveSource:
    """Keeps a state up to date with what nodes publish. Raises ModelError: there is no such URDF.

    The thread that runs the executor of `spun` calls `poll` ten times a second or more; no executor spins `polled`,
    which is for streams. `joint_states` is a topic, beside those to which learners subscribe; `urdf` is as for
    `find_urdf`, "" for that of robot_description or of a learner's parameter; `image` is a topic, "" for those that
    nodes subscribe to; `folder` is that of a program that writes what it does into its file STATUS.
    """

    def __init__(
        self, spun: Node, polled: Node, joint_states: str, urdf: str = "", image: str = "", folder: Path | None = None
    ) -> None:
        self.state = State()
        self._spun, self._polled, self._folder = spun, polled, folder
        self._image = spun.resolve_topic_name(image) if image else ""
        self._calls = ServiceCalls(spun)
        self.ask = self._calls.ask  # calls services, from any thread
        self._streams: dict[str, RawTopic] = {}
        self._learners: dict[str, LearnerTopics] = {}
        self._objects = ObjectTopics(self.state, spun, polled, self._calls)
        self._joints: dict[str, dict[str, float]] = {}  # positions of joints, by topic
        self._next_look = self._next_question = 0.0
        self._chosen_urdf = bool(urdf)
        if urdf:
            self.state.set_urdf(find_urdf(urdf))
        spun.create_subscription(DiagnosticArray, "/diagnostics", guarded(self._on_diagnostics), STREAM)
        spun.create_subscription(String, "robot_description", self._on_description, STATE)
        self.state.joints = self._joints.setdefault(self._stream(joint_states, JointState).name, {})

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
            if (newest := stream.take()) and name in self._joints:
                with contextlib.suppress(SampleError):  # bytes that are no message
                    message = stream.decode(newest[-1][1])
                    self._joints[name].update(zip(message.name, message.position, strict=False))
        for name, topics in self._learners.items():
            topics.take()
            if topics.learner is not None:
                topics.learner.settings = topics.settings or {}
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
                self.state.robots[name] = self._learners[name].robot
            topics = self._learners[name]  # what it subscribes to may be discovered later than what it publishes
            if joint_states and topics.joint_states is None:
                topics.joint_states = self._stream(joint_states, JointState)
                topics.robot.joints = self._joints.setdefault(topics.joint_states.name, {})
            if wrenches and topics.wrenches is None:
                topics.wrenches = self._stream(wrenches, WrenchStamped)
            self._ask_settings(topics)
        for name in [one for one in self._learners if one not in found.learners]:
            self._learners.pop(name).close()
            self.state.learners.pop(name, None)
            del self.state.robots[name]
        self._objects.follow(found.recognizers, found.detectors, found.camera)
        limit = time.monotonic() - FORGOTTEN
        self.state.health = {name: one for name, one in self.state.health.items() if one.arrival > limit}
        if self._folder is not None:
            status = self._folder / STATUS
            said = status.read_text(encoding="utf-8", errors="replace") if status.is_file() else ""
            self.state.doing = said.strip()

    def _stream(self, topic: str, kind: Any) -> RawTopic:
        name = self._spun.resolve_topic_name(topic)
        if name not in self._streams:
            self._streams[name] = RawTopic(self._polled, kind, name, DEEP_BEST_EFFORT)
        return self._streams[name]

    def _ask_settings(self, topics: LearnerTopics) -> None:
        if topics.settings is not None:
            return
        topics.settings = {}

        def keep(future: Any) -> None:
            if future.exception() is not None:
                topics.settings = None  # the node may come up later
                return
            found = parameters_in(future.result(), SETTINGS)
            topics.settings = {key: value if isinstance(value, str) else "" for key, value in found.items()}
            if urdf := topics.settings.get("urdf"):
                with contextlib.suppress(IcubLearningError):  # a path on another machine
                    topics.robot.set_urdf(find_urdf(urdf))

        self._calls.send(GetParameters, f"{topics.name}/get_parameters", names=list(SETTINGS)).add_done_callback(keep)

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
