"""Lessons of the object detection node: collected from images, learned in a thread of their own."""

import threading
import time
import traceback
from collections import deque
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array, real
from icub_learning.detection.box_sources import BoxSource, DetectionLesson, MovingBox, OwnBoxes, TrackedBox
from icub_learning.detection.boxes import check_box
from icub_learning.detection.detector import OnlineDetector
from icub_learning.errors import IcubLearningError, ParameterError, RecognitionError
from icub_learning.nodes.common.conversions import NANOSECONDS
from icub_learning.nodes.common.taught_node import LONGEST_LESSON
from icub_learning.recognition.lesson import check_name
from icub_learning_msgs.srv import TeachDetection

SOURCES = ("tracker", "motion", "boxes")
MOST_BOXES = 50  # messages with boxes from other nodes that are kept until their images come
MOST_WAITING = 20  # images that wait for their boxes: 2 s at 10 Hz, 18 MB at 640 x 480


class GivenBox:
    """A BoxSource that returns the box that another node published for the stamp of the image, before it or later."""

    def __init__(self) -> None:
        self.box: Array | None = None
        self.waiting: dict[int, NDArray[np.uint8]] = {}  # images whose boxes have not come, by stamp
        self.n_messages = self.n_matched = 0  # messages with boxes since the lesson began, and images that one fitted

    def update(self, image: NDArray[np.uint8]) -> Array | None:
        """See BoxSource. Raises ShapeError, NotFiniteError, ParameterError: the box is invalid, or fills the image."""
        box, self.box, (height, width) = self.box, None, image.shape[:2]
        if box is not None and (check_box(box, width, height) == [0, 0, width, height]).all():
            raise ParameterError("box", box.tolist(), f"smaller than the image, {width} x {height} px")
        return box


class Teaching:
    """At most one lesson at a time: a copy of the detector is shown images and trained, and then handed over.

    `see` is called in the thread of the images, all else in that of the executor; training has its own.

    Args:
        period: smallest time between two images that are learned from [s].
        min_frames: images that a lesson needs at least.
        finished: gets the trained copy or None, a message, and the training time [s]; in the training thread, if any.
        box_source: used by a lesson that names none: "motion", "boxes", or the import path of a class.
    """

    def __init__(
        self, period: float, min_frames: int, finished: Callable[[OnlineDetector | None, str, float], None],
        box_source: str,
    ) -> None:  # fmt: skip
        self._period, self._min_frames = round(period * NANOSECONDS), min_frames
        self._finished, self._box_source = finished, box_source
        self._boxes: deque[tuple[int, dict[str, Array]]] = deque(maxlen=MOST_BOXES)
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self.lesson: DetectionLesson | None = None  # the one that collects images, or None
        self.doing = ""  # what is being done, in words; "" for nothing

    def check_free(self, action: str) -> None:
        """Raise RecognitionError if a lesson is under way."""
        if self.doing:
            raise RecognitionError(f"cannot {action} now: {self.doing}", name=action, bound="no lesson under way")

    def start(
        self, detector: OnlineDetector, request: TeachDetection.Request, newest: NDArray[np.uint8] | None
    ) -> DetectionLesson:
        """Start to collect images of an object. Raises ParameterError, ShapeError: a field is outside its range, or
        there is no image to start the tracker on; RecognitionError: a lesson is under way."""
        self.check_free("teach")
        name, box = check_name(request.label), list(request.box)
        real("seconds", request.seconds, 0.0, LONGEST_LESSON, low_open=True)
        chosen = request.source or ("tracker" if box else self._box_source)
        accepted = dict.fromkeys([*SOURCES, self._box_source])  # no request can make the node import a class
        if chosen not in accepted:
            raise ParameterError("source", request.source, f"one of {', '.join(accepted)}, or empty (see box_source)")
        if box and chosen != "tracker":
            raise ParameterError("box", box, f"empty with source '{chosen}': only tracker starts from it")
        boxes: BoxSource
        if chosen == "tracker":
            if newest is None:
                raise ParameterError("box", box, "one in an image: none has come yet")
            boxes = TrackedBox(newest, box)
        elif chosen in SOURCES:
            boxes = MovingBox() if chosen == "motion" else GivenBox()
        else:
            boxes = OwnBoxes.of(chosen).made(name)
        lesson = DetectionLesson(name, detector.copy(), boxes, self._period)
        with self._lock:
            self.lesson, self.doing = lesson, f"collecting images of '{name}'"
        return lesson

    def report(self, stamp: int, boxes: dict[str, Array]) -> None:
        """Keep the boxes of things, by label, that another node found in the image with this stamp [ns]."""
        self._boxes.append((stamp, boxes))
        if (lesson := self.lesson) is not None and isinstance(lesson.source, GivenBox):
            lesson.source.n_messages += 1

    def see(self, lesson: DetectionLesson, stamp: int, image: NDArray[np.uint8]) -> None:
        """Give a lesson an image with its stamp [ns]; a lesson that is over ignores it."""
        with self._lock:
            if lesson is not self.lesson:
                return
            if not isinstance(source := lesson.source, GivenBox):
                lesson.see(stamp, image)
                return
            source.waiting[stamp] = image
            lesson.n_without += 1  # until its box comes
            boxes = {when: found[lesson.label] for when, found in list(self._boxes) if lesson.label in found}
            for when in sorted(source.waiting.keys() & boxes.keys()):
                source.box, source.n_matched, lesson.n_without = boxes[when], source.n_matched + 1, lesson.n_without - 1
                lesson.see(when, source.waiting.pop(when))
            if len(source.waiting) > MOST_WAITING:
                del source.waiting[next(iter(source.waiting))]

    def end(self, reason: str = "") -> None:
        """End the collecting: train on what was collected, or drop it if a reason is given or it is too little."""
        with self._lock:
            lesson, self.lesson = self.lesson, None
        if lesson is None:
            return
        text = f"{lesson.n_taken} images with a box, {lesson.n_without} without"
        if reason or lesson.n_taken < self._min_frames:
            why = reason or f"fewer than {self._min_frames} images with a box (/diagnostics tells of refusals)"
            if isinstance(own := lesson.source, GivenBox):
                text += f"; {own.n_matched} of {own.n_messages} messages on 'boxes' had this label and an image's stamp"
            self.doing = ""
            self._finished(None, f"{why}: '{lesson.label}' was not learned ({text})", 0.0)
            return
        self.doing = f"learning '{lesson.label}'"
        self._thread = threading.Thread(target=self._train, args=(lesson, text), name="training", daemon=True)
        self._thread.start()

    def stop(self, reason: str) -> None:
        """Drop a lesson that collects, and wait for the end of a training."""
        self.end(reason)
        if self._thread is not None:
            self._thread.join()

    def _train(self, lesson: DetectionLesson, text: str) -> None:
        start = time.perf_counter()
        try:
            lesson.student.train()
        except Exception as error:  # whatever it is, the request is answered and another lesson may start
            if not isinstance(error, IcubLearningError):
                traceback.print_exc()
            student, message, taken = None, f"{error}: '{lesson.label}' was not learned ({text})", 0.0
        else:
            student, taken = lesson.student, time.perf_counter() - start
            message = f"learned '{lesson.label}' in {taken:.1f} s from {text}"
        self._finished(student, message, taken)
        self.doing = ""  # only now, as another lesson begins from what this one taught
