"""The second half of the demonstration: a simulated iCub is taught objects by service calls, one after the other."""

import contextlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sensor_msgs.msg import Image

from icub_learning.cli.demo import lessons
from icub_learning.cli.demo.lessons import FEW, LESSON, OBJECTS, WINDOW, Lesson, RecognizedView
from icub_learning.cli.demo.watching import StatusLine
from icub_learning.clients.processes import Processes
from icub_learning.clients.session import Session
from icub_learning.errors import IcubLearningError
from icub_learning.launching.commands import node_command
from icub_learning.nodes.common.conversions import stamp_to_ns
from icub_learning.nodes.common.image_messages import rgb_of
from icub_learning.nodes.common.qos import DEEP
from icub_learning.recognition.vision.images import Pixels
from icub_learning_msgs.msg import Recognition
from icub_learning_msgs.srv import ShowObject, TeachObject

BEFORE = 10  # views of an object that are recognized before it is taught
SIMULATION, FEATURES, RECOGNITION = "icub_simulation", "cnn_features", "object_recognition"
# [1/s] images in a simulated second: the object turns in some seconds, and light and background change, so that five
# show it from all sides in one lesson. And simulated seconds in a second: four are what two cores manage.
IMAGE_RATE, FACTOR = 5.0, 4.0
PARAMETERS: dict[str, dict[str, Any]] = {
    SIMULATION: {"rate": 50.0, "real_time_factor": FACTOR, "task": "hold", "object": "", "image_rate": IMAGE_RATE},
    FEATURES: {}, RECOGNITION: {"smoothing_window": WINDOW}
}  # fmt: skip
KEPT = 100  # most images that wait for their recognition
START_LIMIT, VIEWS_LIMIT = 60.0, 60.0  # [s] longest waits: for services, and for images and recognitions


def show(folder: Path, n_views: int) -> tuple[dict[str, Any], str]:
    """Teach objects, print the figures and draw the picture; return the figures, and their text."""
    began, line = time.monotonic(), StatusLine(folder)
    print(f"\nThe same iCub is taught {len(OBJECTS)} objects, one after the other.", flush=True)
    with contextlib.ExitStack() as stack:
        processes = stack.enter_context(Processes(folder / "log"))
        for name, given in PARAMETERS.items():
            processes.start(f"objects_{name}", node_command(name, name, given), {})
        taught = stack.enter_context(ObjectSession(processes, n_views, line.show)).teach_all()
        line.end()
    figures = lessons.figures_of(taught) | {"wall_s": time.monotonic() - began}
    text = lessons.text(figures)
    print(f"\n{text}\n")
    lessons.draw(folder / "objects.png", taught)
    return figures, text


class ObjectSession(Session):
    """Shows and teaches objects, and collects recognitions of `n_views` unseen views of each after a lesson."""

    def __init__(self, processes: Processes, n_views: int, show: Callable[[str], None]) -> None:
        super().__init__("icub_learning_demo_objects", processes, show)
        self._n_views = n_views
        self._images: dict[int, Pixels] = {}  # images that wait for their recognition, by stamp [ns]
        self._recognized: list[RecognizedView] = []
        self._newest = 0  # stamp of the newest image [ns]
        self._counted_from = 0  # stamp of the first image that counts [ns]
        self._shown = self._heading = ""
        self.node.create_subscription(Image, "image", self._on_image, DEEP)
        self.node.create_subscription(Recognition, f"/{RECOGNITION}/recognition", self._on_recognition, DEEP)

    def teach_all(self) -> list[Lesson]:
        """Teach all objects; return the lessons. Raises IcubLearningError: a refusal, a dead process, or silence."""
        taught: list[Lesson] = []
        for number, label in enumerate(OBJECTS, 1):
            lesson = Lesson(label, FEW if number == len(OBJECTS) else LESSON)
            self._heading = f"lesson {number} of {len(OBJECTS)}, {label}:"
            self._show_object(label)
            lesson.before = self._observe(BEFORE, "recognized before")
            self._show(f"{self._heading} teaching {lesson.n_frames} views")
            self._recognized = []
            start = time.monotonic()
            fields = {"label": label, "n_frames": lesson.n_frames, "timeout": VIEWS_LIMIT}
            self._call(TeachObject, f"/{RECOGNITION}/teach", VIEWS_LIMIT, **fields)
            lesson.seconds = time.monotonic() - start
            lesson.taught = self._recognized[-lesson.n_frames :]
            for known in OBJECTS[:number]:
                self._show_object(known)
                lesson.views[known] = self._observe(self._n_views, f"unseen views of {known}")
            taught.append(lesson)
        return taught

    def _show_object(self, name: str) -> None:
        """Put an object into the hand, if it is not there; from then on only images of it count."""
        if name != self._shown:
            self._call(ShowObject, f"/{SIMULATION}/show_object", START_LIMIT, name=name)
            self._shown = name
        newest = self._newest
        # An image of the previous object may still have been on its way.
        self.require(lambda: self._newest > newest, VIEWS_LIMIT, "an image")
        self._counted_from = self._newest + 1
        self._observe(WINDOW - 1, f"showing {name}")  # afterwards no average includes the previous object

    def _observe(self, count: int, what: str) -> list[RecognizedView]:
        """Return the next `count` views with what was recognized in them."""
        seen = self._recognized = []
        line = f"{self._heading} {what}"
        self.require(lambda: len(seen) >= count, VIEWS_LIMIT, "recognitions", lambda: f"{line} {len(seen)}/{count}")
        return seen[:count]

    def _call(self, kind: Any, service: str, takes: float, **fields: Any) -> None:
        answer = self.services.call(kind, service, takes, START_LIMIT, **fields)
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
        if image is None or stamp < self._counted_from:
            return
        scores = dict(zip(message.labels, np.array(message.scores).tolist(), strict=True))
        self._recognized.append(RecognizedView(self._shown, image, message.label, message.confidence, scores))
