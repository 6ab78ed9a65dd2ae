"""Random messages on every topic of a node, and random requests to each of its services.

Topics and services are those that the running node really has. A node first learns something valid; then come random
messages, messages that were valid but for a few fields, and bytes that are no messages. The model must stay the same to
the bit unless a sample was learned, no traceback may be logged, every request must be answered, and memory must not
grow.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from itertools import repeat
from operator import is_not
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import serialize_message
from sensor_msgs.msg import CompressedImage, Image, JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from benchmarks.endurance.children import ARM, CHECKOUT, node, own_domain
from benchmarks.endurance.probe import Probe
from benchmarks.endurance.random_messages import STRINGS, RandomMessages
from benchmarks.endurance.waiting_requests import WaitingRequests
from icub_learning.models.files import load_state
from icub_learning.nodes.common.conversions import set_stamp
from icub_learning.nodes.common.image_messages import image_message
from icub_learning.nodes.common.qos import DISCOVERY_TIME, SAMPLES
from icub_learning.testing import same_arrays
from icub_learning_msgs.msg import FeatureVector
from icub_learning_msgs.srv import ModelFile, TeachObject

START = 1_700_000_000 * 10**9  # [ns] stamp of the first valid message
PERIOD = 5_000_000  # [ns] between the stamps of valid messages
RATE = 3000.0  # messages per second; halved after each block of which half were lost in best-effort queues
BLOCK = 5000  # messages between two readings of the node's counts
MOST_SENT = 50  # largest ratio of messages sent to those to arrive: it ends a run against a node that gets none
RECEIVED, WAITING = "messages received", "samples waiting"  # keys in diagnostics: of each node, and of a learning one
LONGEST_START = 60.0  # [s] limit for a node to start, and between two of its reports
DRAWN, FILLINGS = 300, 3  # messages of which the largest one fills queues, and how often each place is filled
WARM = 0.2  # share of the messages after which memory must not grow
AT_ONCE = 16  # requests that may wait for their answers at a time
IMPATIENT = 0.2  # [s] timeout of lessons, which last as long as their request says
SOURCE = "fuzz/features"
WORDS = (*ARM, SOURCE, "mug", "duck", "kept", "circle_xy", "random", "rgb8", "mono8", "bayer_rggb8", "jpeg", "png")
QUICK = {"report_period": 0.1}
LIFECYCLE = "/change_state"  # transitions have a test of their own
FEATURES = 16


@dataclass
class Subject:
    """A node to be fuzzed: the name of its module, its parameters, and whether it learns and can save a model."""

    name: str
    parameters: dict[str, Any] = field(default_factory=dict)
    learns: bool = False


SUBJECTS = (
    Subject("inverse_dynamics", {"joints": list(ARM), "n_random_features": 100, **QUICK}, learns=True),
    Subject("object_recognition", QUICK, learns=True),
    Subject("cnn_features", QUICK),
    Subject("object_detection", QUICK),
    Subject("icub_simulation", {"image_rate": 0.0}),
    Subject("gazebo_controller", {"config": str(CHECKOUT / "config" / "gazebo.yaml")}),
    Subject("gazebo_joint_states", {}),
)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--nodes", nargs="*", default=[one.name for one in SUBJECTS], help="which")
    parser.add_argument("--messages", type=int, default=100_000, help="to each node")
    parser.add_argument("--requests", type=int, default=10_000, help="to each node")
    parser.add_argument("--seed", type=int, default=0)


def run(arguments: argparse.Namespace) -> int:
    """Fuzz; write messages.json; return 1 if a node broke a promise."""
    found, fine = {}, True
    for subject in SUBJECTS:
        if subject.name not in arguments.nodes:
            continue
        log = arguments.out / f"messages_{subject.name}.log"
        with TemporaryDirectory() as folder, own_domain():
            fuzz = Fuzz(subject, Path(folder), log, arguments.seed)
            found[subject.name] = report = fuzz.run(arguments.messages, arguments.requests)
        fine &= all(report["promises"].values())
        print(json.dumps({subject.name: report}, indent=1), flush=True)
    (arguments.out / "messages.json").write_text(json.dumps(found, indent=1))
    return int(not fine)


class Fuzz:
    """Fuzzes one node.

    Args:
        subject: the node.
        folder: folder for its models.
        log: file for its output.
        seed: seed of all random numbers.
        start: function that starts it, as `children.node` does.
    """

    def __init__(self, subject: Subject, folder: Path, log: Path, seed: int, start: Callable[..., Any] = node) -> None:
        self._subject, self._folder, self._log, self._start = subject, folder, log, start
        self._rng = Random(seed)
        self._random = RandomMessages(self._rng, WORDS)
        self._stamp, self._rate = START, RATE
        log.unlink(missing_ok=True)

    def run(self, n_messages: int, n_requests: int) -> dict[str, Any]:
        """Send messages and requests, and return the report: promises kept, counts, memory, answers."""
        models = {"models_folder": str(self._folder)} if self._subject.learns else {}
        name = self._subject.name
        with self._start(name, self._log, name, **self._subject.parameters, **models) as child, Probe() as probe:
            self._probe, self._child = probe, child
            self._find_topics()
            self._teach()
            before = self._model("before")
            memory = self._send_messages(n_messages)
            received = self._settled()
            after = self._model("after")
            learned = self._learned()
            asked = self._send_requests(n_requests)
            alive = child.running
            code = child.end()
        text = self._log.read_text(errors="replace")
        promises = {
            "alive": alive and code == 0,
            "enough messages arrived": int(received[RECEIVED]) >= n_messages,
            "no traceback": "Traceback" not in text and "internal_error" not in text,
            "every request answered": asked["answered"] == asked["requests"],
        }
        if n_messages > BLOCK:  # with fewer, queues are not filled beforehand, and what fills them is no leak
            promises["memory flat"] = memory["after [MiB]"] < 1.02 * memory["warm [MiB]"] + 2.0
        same = before is None or (after is not None and same_arrays(before, after))
        if self._subject.learns:
            promises["model unchanged by refused messages"] = same or learned > 0
        return {
            "promises": promises,
            "topics": sorted(self._topics),
            "counted by the node": received,
            "samples learned from random messages": learned,
            "model same to the bit": same,
            "memory": memory,
            "services": asked.pop("services"),
            **asked,
        }

    def _find_topics(self) -> None:
        """Find the topics that the node subscribes to, and make publishers for them."""
        name, node = self._subject.name, self._probe.node
        skipped = ("/parameter_events", "/clock")

        def topics() -> dict[str, str]:
            found = self._probe.seen(node.get_subscriber_names_and_types_by_node, name)
            return {topic: kind for topic, kind in found.items() if topic not in skipped}

        if not self._probe.until(lambda: self._report() and topics(), LONGEST_START):
            raise RuntimeError(f"{name} has no topics; see {self._log}")
        self._topics = {topic: node.create_publisher(kind_of(kind), topic, 100) for topic, kind in topics().items()}
        self._probe.until(lambda: all(one.get_subscription_count() for one in self._topics.values()), LONGEST_START)
        self._probe.spin(DISCOVERY_TIME)

    def _teach(self) -> None:
        """Give a node that learns something to remember, and a controller an arm to move."""
        if self._subject.name == "inverse_dynamics":
            for _ in range(400):
                for topic in ("/joint_states", "/wrench"):
                    self._topics[topic].publish(self._valid(self._topics[topic].msg_type))
                self._stamp += PERIOD
                self._probe.spin(0.001)
            for _ in range(300):  # no wrenches: samples that wait for later motion are learned here, none later
                self._topics["/joint_states"].publish(self._valid(JointState))
                self._stamp += PERIOD
                self._probe.spin(0.001)
            self._settled()
        elif self._subject.name == "object_recognition":
            ask: dict[str, Any] = {"label": "mug", "n_frames": 20, "timeout": LONGEST_START}
            future = self._probe.services.ask(TeachObject, "/object_recognition/teach", **ask)
            while not future.done():
                self._topics["/features"].publish(self._valid(FeatureVector))
                self._stamp += PERIOD
                self._probe.spin(0.01)
        elif self._subject.name == "gazebo_controller":
            # Stands in for Gazebo: a bridge that takes trajectories, and an arm at rest.
            self._probe.node.create_subscription(JointTrajectory, "gazebo/joint_trajectory", lambda _: None, 10)
            self._probe.spin(DISCOVERY_TIME)
            state = JointState(name=list(ARM), position=[0.0] * len(ARM), velocity=[0.0] * len(ARM))
            for _ in range(100):
                set_stamp(state.header.stamp, self._stamp)
                self._topics["/joint_states"].publish(state)
                self._stamp += PERIOD
                self._probe.spin(0.005)

    def _model(self, name: str) -> dict[str, Any] | None:
        if not self._subject.learns:
            return None
        answer = self._probe.services.call(ModelFile, f"/{self._subject.name}/save_model", takes=20.0, path=name)
        if not answer.success:
            raise RuntimeError(answer.message)
        return load_state(self._folder / f"{name}.npz")

    def _send_messages(self, number: int) -> dict[str, float]:
        """Send messages until the node reports `number` of them: on a busy machine many are lost in its queues."""
        topics, block = list(self._topics.values()), min(BLOCK, number)
        if number > BLOCK:  # memory is read after each block
            self._fill_queues()
        sent, warm = 0, 0.0
        while (before := self._counted()) < number and sent < MOST_SENT * number and self._child.running:
            self._publish(
                (publisher, self._draw(publisher.msg_type)) for publisher in self._rng.choices(topics, k=block)
            )
            sent += block
            self._settled()
            if self._counted() - before < block / 2:
                self._rate /= 2.0
            if not warm and self._counted() >= WARM * number:
                warm = self._child.memory()
        after = self._child.memory()
        return {"sent": sent, "warm [MiB]": round(warm or after, 2), "after [MiB]": round(after, 2)}

    def _fill_queues(self) -> None:
        """Have each buffer of the queues hold a large message: DDS keeps every buffer as large as it ever had to be."""
        for publisher in self._topics.values():
            drawn = [self._random.message(publisher.msg_type) for _ in range(DRAWN)]
            largest = max(drawn, key=lambda one: len(serialize_message(one)))
            self._publish(repeat((publisher, largest), FILLINGS * SAMPLES.depth))
        self._settled()

    def _publish(self, messages: Iterable[tuple[Any, Any]]) -> None:
        """Publish messages, each by its publisher, as fast as the node keeps up."""
        start = time.monotonic()
        for index, (publisher, message) in enumerate(messages):
            publisher.publish(message)
            if index % 4 == 0:
                self._probe.spin(max(start + index / self._rate - time.monotonic(), 0.0))

    def _counted(self) -> int:
        """Return how many messages the node reports as received."""
        return int(self._received().get(RECEIVED, 0))

    def _draw(self, kind: type) -> Any:
        if not self._subject.learns:  # a learning node would learn from valid messages with new stamps
            self._stamp += PERIOD
        choice = self._rng.random()
        if choice < 0.3:
            return self._random.message(kind)
        if choice < 0.85:
            return self._random.changed(self._valid(kind))
        return self._random.bytes_of(serialize_message(self._valid(kind)))

    def _valid(self, kind: type) -> Any:
        """Return a message as the node expects it; one with default fields for a type that is not known here."""
        message = kind()
        t = self._stamp * 1e-9 % 1000.0
        q = [float(0.4 * np.sin((1.0 + 0.5 * i) * t)) for i in range(len(ARM))]
        if kind is JointState:
            v = [float(0.4 * (1.0 + 0.5 * i) * np.cos((1.0 + 0.5 * i) * t)) for i in range(len(ARM))]
            message = JointState(name=list(ARM), position=q, velocity=v)
        elif kind is WrenchStamped:
            message.wrench.force.x, message.wrench.force.z, message.wrench.torque.y = q[0], 10.0 + q[1], q[2]
        elif kind is FeatureVector:
            values = np.sin(np.arange(FEATURES) + q[0]).astype(np.float32)
            message = FeatureVector(source=SOURCE, values=values.tolist())
        elif kind is Image:
            message = image_message(np.full((32, 32, 3), 100, np.uint8), self._stamp)
        elif kind is CompressedImage:
            message = CompressedImage(format="jpeg", data=list(self._rng.randbytes(40)))
        elif kind is JointTrajectory:
            points = [JointTrajectoryPoint(positions=[share * one for one in q]) for share in (0.5, 1.0)]
            for second, point in enumerate(points, start=1):
                point.time_from_start.sec = second
            message = JointTrajectory(joint_names=list(ARM), points=points)
        if hasattr(message, "header"):
            set_stamp(message.header.stamp, self._stamp)
        return message

    def _report(self) -> list[dict[str, str]]:
        """Return the values of the node's newest statuses; each report brings new objects."""
        name = self._subject.name
        return [values for status, values in self._probe.diagnostics.items() if status.startswith(f"{name}: ")]

    def _differs_from(self, report: list[dict[str, str]]) -> bool:
        return all(map(is_not, self._report(), report))

    def _settled(self) -> dict[str, str]:
        """Wait until the node has processed what was sent and reports the same counts twice; return them."""
        while True:
            before, counted = self._report(), self._received()
            if not self._probe.until(partial(self._differs_from, before), LONGEST_START):
                return counted
            if self._received() == counted and not any(int(one.get(WAITING, 0)) for one in self._report()):
                return counted

    def _received(self) -> dict[str, str]:
        """Return the counts that the node itself reports."""
        found = self._report()
        wanted = (
            RECEIVED,
            "refused",
            "predictions",
            "feature vectors",
            "features published",
            "samples learned",
            "passed on",
            "trajectories",
        )
        return {key: value for values in found for key, value in values.items() if key.startswith(wanted)}

    def _learned(self) -> int:
        """Return how many samples were learned from random messages."""
        if self._subject.name != "inverse_dynamics":
            return 0
        before, after = (load_state(self._folder / f"{name}.npz") for name in ("before", "after"))
        count = "bank.lasting.features.n_samples"
        return int(after[count]) - int(before[count])

    def _send_requests(self, number: int) -> dict[str, Any]:
        name, probe = self._subject.name, self._probe
        found = probe.seen(probe.node.get_service_names_and_types_by_node, name)
        types = {service: kind_of(kind) for service, kind in found.items() if not service.endswith(LIFECYCLE)}
        clients = list(probe.services.find_all(types).items())
        waiting = WaitingRequests(time.monotonic())

        def wait(condition: Any) -> None:
            while not condition():
                probe.spin(0.0005)
                waiting.look(time.monotonic())

        for _ in range(number):
            service, client = self._rng.choice(clients)
            wait(lambda service=service: len(waiting) < AT_ONCE and waiting.may_send(service))
            waiting.add(service, client.call_async(self._request(types[service])))
        wait(lambda: not len(waiting))
        return {
            "requests": number,
            "answered": waiting.answered,
            "not answered": waiting.mute[:10],
            "slowest answer [s]": round(waiting.slowest, 3),
            "services": {service: f"{waiting.accepted[service]} accepted" for service in sorted(types)},
        }

    def _request(self, kind: Any) -> Any:
        request = self._random.message(kind.Request)
        if hasattr(request, "timeout") and 0.0 < request.timeout < 3600.0:
            request.timeout = IMPATIENT
        if hasattr(request, "seconds") and 0.0 < request.seconds < 3600.0:
            request.seconds = IMPATIENT
        if hasattr(request, "path") and self._rng.random() < 0.5:
            request.path = self._rng.choice(("before", "after", "kept", *STRINGS))
        return request


def kind_of(name: str) -> Any:
    """Return the class of a type such as sensor_msgs/msg/Image."""
    package, part, kind = name.split("/")
    return getattr(import_module(f"{package}.{part}"), kind)
