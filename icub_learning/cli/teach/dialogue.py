"""The dialogue with the person who teaches: show what the robot sees, ask, teach, and print what it recognizes."""

import os
import select
import sys
from pathlib import Path
from typing import Any

from icub_learning.cli.common.image_sources import write_image
from icub_learning.cli.teach.robot import Robot
from icub_learning.errors import SampleError
from icub_learning.recognition.classifiers.labels import shorten
from icub_learning.recognition.lesson import UNKNOWN
from icub_learning.view.shown.known import UNSURE_FIRST, found
from icub_learning_msgs.msg import Recognition
from icub_learning_msgs.srv import ForgetObject, ListObjects, TeachDetection, TeachObject

QUESTION = "What is it? (a name; empty: look again; :list [WORDS], :forget NAME, :quit) "
IMAGE_LIMIT = 10.0  # [s] longest wait for an image
N_AFTER = 6  # number of the recognition after a lesson from which on all averaged ones come from the new model
RECOGNITION_LIMIT = 10.0  # [s] longest wait for these recognitions
PATIENCE = 3600.0 * 24  # [s] longest wait for a person's answer: a day
MOST_LISTED = 20  # most objects that a list shows
OTHERS = 2  # further labels that are shown, those with the highest scores
ADVICE = {  # advice to the person who shows an object to the detector, by the source of its box
    "motion": "bring it into view after a second, and keep the camera still.",
    "boxes": "with the boxes that another node publishes.",
}


class Keyboard:
    """Lines of standard input, which may be a terminal, a file or a pipe."""

    def __init__(self) -> None:
        self._waiting, self._ended = b"", False

    def ready(self) -> bool:
        """Read what has been typed; return whether a line has come, or the end of the input."""
        while not self._ended and b"\n" not in self._waiting and select.select([sys.stdin], [], [], 0)[0]:
            content = os.read(sys.stdin.fileno(), 4096)
            self._waiting += content
            self._ended = not content
        return self._ended or b"\n" in self._waiting

    def line(self) -> str | None:
        """Return the next line without surrounding blanks; None at the end of the input."""
        line, newline, self._waiting = self._waiting.partition(b"\n")
        return line.decode(errors="replace").strip() if line or newline else None


class Dialogue:
    """Asks the person at the terminal, and teaches each answer in a lesson of `n_frames` frames, at most `timeout` s.

    The image that the robot sees is written to `folder`. `lessons` holds label, success, message and n_examples of each
    lesson, and what was recognized after it.
    """

    def __init__(self, robot: Robot, n_frames: int, timeout: float, folder: Path) -> None:
        self._robot, self._n_frames, self._timeout = robot, n_frames, timeout
        self._folder, self._keyboard = folder, Keyboard()
        self.lessons: list[dict[str, Any]] = []

    def ask(self) -> None:
        while True:
            self.show()
            print(QUESTION, end="" if sys.stdin.isatty() else "\n", flush=True)
            self._robot.wait(self._keyboard.ready, PATIENCE)
            answer = self._keyboard.line()
            verb, _, rest = (answer or "").partition(" ")
            if answer is None or verb in (":quit", ":q"):
                return
            if verb == ":list":
                print(listing(self._robot.call(ListObjects, "list_objects"), rest))
            elif verb == ":forget":
                print(self._robot.call(ForgetObject, "forget_object", label=rest.strip()).message)
            elif verb.startswith(":"):
                print(f"{verb} is none of :list, :forget NAME, :quit")
            elif answer:
                self.teach(answer)

    def show(self) -> None:
        path = self._folder / "frame.png"
        try:
            image = self._robot.frame(IMAGE_LIMIT)
        except SampleError as error:
            print(f"the image cannot be shown: {error}")
            return
        write_image(path, image)
        height, width = image.shape[:2]
        said = describe(self._robot.found_after(1, RECOGNITION_LIMIT))
        print(f"{path}: {width} x {height} pixels. {said}", flush=True)

    def teach(self, label: str) -> None:
        print(f"Learning '{shorten(label)}' from the next {self._n_frames} frames: turn it, move it.", flush=True)
        given = {"label": label, "n_frames": self._n_frames, "timeout": self._timeout}
        try:
            answer = self._robot.call(TeachObject, "teach", self._timeout, **given)
        except BaseException:  # a signal, or an image that cannot be read
            self._robot.interrupt(label)
            print(f"Not learned: the lesson is undone, nothing of it is kept about '{shorten(label)}'", flush=True)
            raise
        lesson = {"label": label, "success": answer.success, "message": answer.message, "n_examples": answer.n_examples}
        print(answer.message if answer.success else f"Not learned: {answer.message}")
        seen = self._robot.found_after(N_AFTER, RECOGNITION_LIMIT)
        print(describe(seen), flush=True)
        lesson["says"] = seen and {"label": seen.label, "confidence": seen.confidence}
        self.lessons.append(lesson)


def listing(known: ListObjects.Response, words: str) -> str:
    counts = dict(zip(known.labels, map(int, known.counts), strict=True))
    if not counts:
        return "Nothing has been taught yet."
    rows = found(counts, dict(zip(known.labels, known.recall, strict=False)), words, UNSURE_FIRST)
    what = "least surely known first: how many of its held-back frames are named"
    lines = [f"{len(rows)} of {len(counts)} objects, {what}"]
    lines += [f"{one.sureness:>6} {one.count:6d} frames  {shorten(one.label)}" for one in rows[:MOST_LISTED]]
    if len(rows) > MOST_LISTED:
        lines.append(f"and {len(rows) - MOST_LISTED} more: :list WORDS finds objects by their names")
    return "\n".join(lines)


def describe(seen: Recognition | None) -> str:
    if seen is None:
        return "The robot says nothing: no recognitions come."
    if not seen.labels:
        return "The robot knows no object yet."
    if seen.label == UNKNOWN:
        nearest = f"nearest is {shorten(seen.nearest)} (confidence {seen.confidence:.2f})"
        return f"The robot says: this is new to me (typicality {seen.typicality:.2f}); {nearest}"
    order = sorted(zip(seen.scores, seen.labels, strict=True), reverse=True)
    scores = ", ".join(f"{shorten(label)} {score:.2f}" for score, label in order[: 1 + OTHERS])
    return f"The robot says: {seen.label} (confidence {seen.confidence:.2f}; scores: {scores})"


def teach_detection(robot: Robot, label: str, seconds: float, boxes: str, box: list[float] | None) -> dict[str, Any]:
    """Teach the node one object, and print what it finds before and after; return its answer."""
    print(describe_detections(robot.found_after(1, 5.0)), flush=True)
    print(f"Learning to find '{shorten(label)}' for {seconds:g} s: {ADVICE.get(boxes, 'move it slowly.')}", flush=True)
    given = {"label": label, "seconds": seconds, "source": boxes, "box": box or []}
    answer = robot.call(TeachDetection, "teach_detection", seconds + 120.0, **given)
    print(answer.message if answer.success else f"Not learned: {answer.message}")
    print(describe_detections(robot.found_after(2, 5.0)), flush=True)
    return {"label": label, "success": answer.success, "message": answer.message, "n_frames": answer.n_frames}


def describe_detections(message: Any) -> str:
    if message is None:
        return "The robot says nothing: no detections come."
    likely = [one for one in message.detections if one.score >= 0.0]
    if not likely:
        return "The robot finds nothing that it knows."
    boxes = (", ".join(f"{value:.0f}" for value in one.box) for one in likely)
    found = (f"{shorten(one.label)} ({one.score:.2f}) at {box}" for one, box in zip(likely, boxes, strict=True))
    return f"The robot finds {', '.join(found)}"
