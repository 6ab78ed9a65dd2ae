"""The dialogue between a person and the robot that is taught: see, ask, teach, and hear what it says then."""

import sys
from pathlib import Path
from typing import Any

from icub_learning.cli.teach.keyboard import Keyboard
from icub_learning.cli.teach.pictures import for_terminal, write_image
from icub_learning.cli.teach.robot import Robot
from icub_learning.errors import SampleError
from icub_learning.recognition.classifiers.labels import shorten
from icub_learning_msgs.msg import Recognition
from icub_learning_msgs.srv import ForgetObject, ListObjects, TeachObject

QUESTION = "What is it? (a name; nothing: look again; :list, :forget NAME, :quit) "
IMAGE_LIMIT = 10.0  # [s] for an image to come
SAYS_AFTER, SAYS_LIMIT = 6, 3.0  # recognitions, and [s], until it has looked at the object with new eyes
PATIENCE = 3600.0 * 24  # [s] for an answer
OTHERS = 2  # labels shown besides the first


class Dialogue:
    """Talks with the person at the terminal.

    Args:
        robot: that is taught.
        n_frames: of one lesson.
        timeout: of one lesson [s].
        folder: for the picture of what is seen.
        terminal: whether it is shown in the terminal as well.

    Attributes:
        lessons: what was taught: label, success, message, n_examples, and what the robot said then.
    """

    def __init__(self, robot: Robot, n_frames: int, timeout: float, folder: Path, terminal: bool) -> None:
        self._robot, self._n_frames, self._timeout = robot, n_frames, timeout
        self._folder, self._terminal = folder, terminal
        self._keyboard = Keyboard()
        self.lessons: list[dict[str, Any]] = []

    def ask(self) -> None:
        """Show, ask and teach until the person has had enough."""
        while True:
            self.show()
            print(QUESTION, end="" if sys.stdin.isatty() else "\n", flush=True)
            answer = self._answer()
            verb, _, rest = answer.partition(" ")
            if verb in (":quit", ":q"):
                return
            if verb == ":list":
                print(self._robot.call(ListObjects, "list_objects").message)
            elif verb == ":forget":
                print(self._robot.call(ForgetObject, "forget_object", label=rest.strip()).message)
            elif verb.startswith(":"):
                print(f"{verb} is none of :list, :forget NAME, :quit")
            elif answer:
                self.teach(answer)

    def show(self) -> None:
        """Show what the robot sees, and what it says of it."""
        path = self._folder / "frame.png"
        try:
            image = self._robot.frame(IMAGE_LIMIT)
        except SampleError as error:
            print(f"the image cannot be shown: {error}")
            return
        write_image(path, image)
        if self._terminal:
            print(for_terminal(image))
        height, width = image.shape[:2]
        print(f"{path}: {width} x {height} pixels. {describe(self._robot.says(1, SAYS_LIMIT))}", flush=True)

    def teach(self, label: str) -> None:
        """Teach what is seen now, and print what came of it."""
        print(f"Learning '{shorten(label)}' from the next {self._n_frames} frames: turn it, move it.", flush=True)
        answer = self._robot.call(
            TeachObject, "teach", self._timeout, label=label, n_frames=self._n_frames, timeout=self._timeout
        )
        lesson = {"label": label, "success": answer.success, "message": answer.message, "n_examples": answer.n_examples}
        print(answer.message if answer.success else f"Not learned: {answer.message}")
        seen = self._robot.says(SAYS_AFTER, SAYS_LIMIT)
        print(describe(seen), flush=True)
        lesson["says"] = seen and {"label": seen.label, "confidence": seen.confidence}
        self.lessons.append(lesson)

    def _answer(self) -> str:
        """The next line typed; ":quit" where no more will come."""
        found: list[str] = []

        def typed() -> bool:
            line = self._keyboard.line()
            if line is not None:
                found.append(line)
            return line is not None or self._keyboard.ended

        self._robot.wait(typed, PATIENCE)
        return found[0] if found else ":quit"


def describe(seen: Recognition | None) -> str:
    """What the robot says, in words."""
    if seen is None:
        return "The robot says nothing: no recognitions come."
    if not seen.labels:
        return "The robot knows no object yet."
    order = sorted(zip(seen.scores, seen.labels, strict=True), reverse=True)
    text = f"The robot says: {seen.label} (confidence {seen.confidence:.2f}"
    if seen.label != order[0][1]:
        text += f" of {shorten(order[0][1])}"
    scores = ", ".join(f"{shorten(label)} {score:.2f}" for score, label in order[: 1 + OTHERS])
    return f"{text}; scores: {scores})"
