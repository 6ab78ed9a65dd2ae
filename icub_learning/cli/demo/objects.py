"""The second half of the demonstration: a simulated iCub is taught objects by service calls, one after the other."""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

import numpy as np
import rclpy
from rclpy.experimental import EventsExecutor
from rclpy.qos import QoSProfile
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import Image

from icub_learning.cli.demo.objects_report import WINDOW
from icub_learning.clients.processes import Processes
from icub_learning.clients.services import Services
from icub_learning.errors import IcubLearningError
from icub_learning.nodes.common.conversions import stamp_to_ns
from icub_learning.nodes.common.image_messages import rgb_of
from icub_learning.recognition.vision.images import Pixels
from icub_learning_msgs.msg import Recognition
from icub_learning_msgs.srv import ShowObject, TeachObject

OBJECTS = ("duck", "mug", "soccer_ball", "teddy", "wheel", "traffic_cone")
LESSON = 20  # views that an object is taught with
FEW = 3  # views of the last one
BEFORE = 10  # views of an object before it is taught
SIMULATION, FEATURES, RECOGNITION = "icub_simulation", "cnn_features", "object_recognition"
# The object turns in some seconds of simulated time, and light and background change. Five images in a simulated
# second show it from all sides in one lesson; four simulated seconds a second are what two cores manage.
IMAGE_RATE, FACTOR = 5.0, 4.0
PARAMETERS: dict[str, dict[str, Any]] = {
    SIMULATION: {"rate": 50.0, "real_time_factor": FACTOR, "task": "hold", "object": "", "image_rate": IMAGE_RATE},
    FEATURES: {},
    RECOGNITION: {"smoothing_window": WINDOW},
}
QOS = QoSProfile(depth=100)
PERIOD = 0.05  # [s] between looks at whether something has come
KEPT = 100  # images that wait for what the robot says of them
START_LIMIT, VIEWS_LIMIT = 60.0, 60.0  # [s]


@dataclass
class Sight:
    """One view: the image, and what the robot said of it.

    Attributes:
        shown: the object in the hand.
        image: RGB.
        label, confidence, scores: see Recognition.msg; scores by label.
    """

    shown: str
    image: Pixels
    label: str
    confidence: float
    scores: dict[str, float]


@dataclass
class Lesson:
    """An object taught, and what the robot knew then.

    Attributes:
        label: of the object.
        n_frames: views taught.
        seconds: from the call to its answer.
        before: what it said of the object before it was taught.
        taught: views it was taught with, as the robot saw them then.
        views: unseen views of each object known then.
    """

    label: str
    n_frames: int
    seconds: float = 0.0
    before: list[Sight] = field(default_factory=list)
    taught: list[Sight] = field(default_factory=list)
    views: dict[str, list[Sight]] = field(default_factory=dict)


def commands() -> dict[str, list[str]]:
    """The command line of each process, by node name."""
    table = {}
    for name, given in PARAMETERS.items():
        line = [sys.executable, "-m", f"icub_learning.nodes.{name}.node", "--ros-args"]
        for parameter, value in given.items():
            line += ["-p", f"{parameter}:={json.dumps(value)}"]
        table[name] = line
    return table


class Classroom:
    """Shows, teaches and listens; a context, because it needs ROS.

    Args:
        processes: that must run all the time.
        views: unseen ones of each known object after each lesson.
        show: is given a line that says where things are.
    """

    def __init__(self, processes: Processes, views: int, show: Callable[[str], None]) -> None:
        self._processes, self._views, self._show = processes, views, show
        rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
        node = rclpy.create_node("icub_learning_demo_objects")
        self._executor = EventsExecutor()
        self._executor.add_node(node)
        self._services = Services(node, self._wait)
        self._images: dict[int, Pixels] = {}
        self._sights: list[Sight] = []
        self._newest = self._from = 0  # stamps [ns]: of the newest image; from which on images count
        self._shown = self._where = ""
        node.create_subscription(Image, "image", self._on_image, QOS)
        node.create_subscription(Recognition, f"/{RECOGNITION}/recognition", self._on_recognition, QOS)

    def __enter__(self) -> "Classroom":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        rclpy.try_shutdown()

    def hold(self) -> list[Lesson]:
        """All lessons. Raises IcubLearningError when something is refused, ends or does not come in time."""
        lessons: list[Lesson] = []
        for number, label in enumerate(OBJECTS, 1):
            lesson = Lesson(label, FEW if number == len(OBJECTS) else LESSON)
            self._where = f"lesson {number} of {len(OBJECTS)}, {label}:"
            self._put(label)
            lesson.before = self._look(BEFORE, "what it says before")
            self._teach(lesson)
            for known in OBJECTS[:number]:
                self._put(known)
                lesson.views[known] = self._look(self._views, f"unseen views of {known}")
            lessons.append(lesson)
        return lessons

    def _put(self, name: str) -> None:
        """Put an object into the hand, if it is not there; from then on only images of it count."""
        if name != self._shown:
            self._ask(ShowObject, f"/{SIMULATION}/show_object", START_LIMIT, name=name)
            self._shown = name
        newest = self._newest
        # An image of what was there before may still have been on its way to here.
        self._must(lambda: self._newest > newest, VIEWS_LIMIT, "an image")
        self._from = self._newest + 1
        self._look(WINDOW - 1, f"showing {name}")  # afterwards no label rests on what was there before

    def _look(self, count: int, what: str) -> list[Sight]:
        """What is said of the next `count` views."""
        self._sights = []

        def line() -> str:
            return f"{self._where} {what} {len(self._sights)}/{count}"

        self._must(lambda: len(self._sights) >= count, VIEWS_LIMIT, "recognitions", line)
        return self._sights[:count]

    def _teach(self, lesson: Lesson) -> None:
        self._show(f"{self._where} teaching {lesson.n_frames} views")
        self._sights = []
        start = time.monotonic()
        fields = {"label": lesson.label, "n_frames": lesson.n_frames, "timeout": VIEWS_LIMIT}
        self._ask(TeachObject, f"/{RECOGNITION}/teach", VIEWS_LIMIT, **fields)
        lesson.seconds = time.monotonic() - start
        lesson.taught = self._sights[-lesson.n_frames :]

    def _ask(self, kind: Any, service: str, takes: float, **fields: Any) -> None:
        answer = self._services.call(kind, service, takes, START_LIMIT, **fields)
        if not answer.success:
            raise IcubLearningError(f"{service} refused: {answer.message}", name=service, value=fields)

    def _on_image(self, message: Image) -> None:
        self._newest = stamp_to_ns(message.header.stamp)
        self._images[self._newest] = rgb_of(message)
        while len(self._images) > KEPT:
            del self._images[next(iter(self._images))]

    def _on_recognition(self, message: Recognition) -> None:
        stamp = stamp_to_ns(message.header.stamp)
        image = self._images.pop(stamp, None)
        if image is None or stamp < self._from:
            return
        scores = dict(zip(message.labels, np.array(message.scores).tolist(), strict=True))
        self._sights.append(Sight(self._shown, image, message.label, message.confidence, scores))

    def _must(self, done: Callable[[], bool], limit: float, what: str, line: Callable[[], str] | None = None) -> None:
        if not self._wait(done, limit, line):
            raise IcubLearningError(f"waited {limit:g} s for {what} in vain; see the logs", name=what)

    def _wait(self, done: Callable[[], bool], limit: float, line: Callable[[], str] | None = None) -> bool:
        """Take messages in until `done`, at most `limit` seconds; whether it is done."""
        end, shown = time.monotonic() + limit, 0.0
        while not done():
            self._executor.spin_once(timeout_sec=PERIOD)
            now = time.monotonic()
            if now >= end:
                return False
            if now - shown >= 0.5:
                shown = now
                self._processes.check()
                if line:
                    self._show(line())
        return True
