"""What the camera sees, what it is recognized as, and teaching by mouse."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import viser
from numpy.typing import NDArray

from icub_learning.detection.boxes import Detections
from icub_learning.detection.drawing import annotated
from icub_learning.view.page import style
from icub_learning.view.page.actions import Action
from icub_learning.view.page.choice import Choice
from icub_learning.view.shown.answers import Answer, Ask
from icub_learning.view.shown.state import Boxes, Recognized, State

FRAMES, PATIENCE = 20, 20.0  # that a lesson takes by default; [s] that it may take
COLLECTED = 8.0  # [s] that images of an object are collected for the detector
WIDTH, HEIGHT = 320, 240  # [px] of the picture before the first image
LARGEST = 480  # [px], longest side of what is sent to a page
BLANK = np.full((HEIGHT, WIDTH, 3), 236, dtype=np.uint8)


class CameraView:
    """The newest image with boxes, the label with its confidence, and the score of every label."""

    def __init__(self, server: viser.ViserServer) -> None:
        self._image = server.gui.add_image(BLANK, format="jpeg", jpeg_quality=75)
        self._words = server.gui.add_html(style.note("no image has come yet"))
        self._shown = -1
        self._said: object = None

    def update(self, state: State) -> None:
        """Show the newest image and what was recognized."""
        if state.image is not None and state.image_number != self._shown:
            self._shown = state.image_number
            self._image.image = smaller(drawn(state.image, state.boxes))
        said = (state.recognized, state.boxes if state.recognized is None else None)
        if said != self._said:
            self._said = said
            self._words.content = words(state.recognized, state.boxes)


class TeachingView:
    """Forms to teach, forget and rename objects of a recognizer."""

    def __init__(self, server: viser.ViserServer, choice: Choice, ask: Ask) -> None:
        gui = server.gui
        with gui.add_form("Teach what is in front of the camera", visible=False) as form:
            name = gui.add_text("name", "", hint="of the object; a new name adds an object")
            frames = gui.add_number("frames", FRAMES, min=1, max=1000, step=1, hint="that are learned")

            def teach() -> Answer:
                return ask(
                    choice.name,
                    "teach",
                    takes=PATIENCE,
                    label=name.value.strip(),
                    n_frames=int(frames.value),
                    timeout=PATIENCE,
                )

            action = Action(server, "Teach", teach, "learns the next frames under this name", "watching")
        form.on_submit(lambda event: action.press(event))
        with gui.add_folder("Known objects", visible=False) as known:
            self._known = gui.add_html(style.note("none yet"))
            self._which = Choice(server, "object", "that is forgotten or renamed", "none is known")
            Action(
                server,
                "Forget",
                lambda: ask(choice.name, "forget_object", label=self._which.name),
                "forgets the chosen object",
            )
            new = gui.add_text("new name", "")
            Action(
                server,
                "Rename",
                lambda: ask(choice.name, "rename_object", old_label=self._which.name, new_label=new.value.strip()),
                "gives the chosen object the new name",
            )
        self._parts, self._choice = (form, known), choice

    def update(self, state: State) -> None:
        """Show which objects are known; without a node there is nothing to teach."""
        show(self._parts, bool(self._choice.name))
        known = state.objects.get(self._choice.name, {})
        self._which.offer(list(known))
        rows = [[label, str(count)] for label, count in known.items()]
        content = style.table(["object", "frames learned"], rows) if rows else style.note("none yet")
        if self._known.content != content:
            self._known.content = content


class DetectionView:
    """A form to teach a detector: an object that is moved before the camera."""

    def __init__(self, server: viser.ViserServer, choice: Choice, ask: Ask) -> None:
        gui = server.gui
        with gui.add_form("Teach to find an object", visible=False) as form:
            name = gui.add_text("name", "", hint="of the object")
            seconds = gui.add_number("seconds", COLLECTED, min=0.5, max=600.0, step=0.5, hint="images are collected")
            source = gui.add_dropdown("boxes from", ("motion", "boxes"), hint="what moves, or another node's boxes")

            def teach() -> Answer:
                return ask(
                    choice.name,
                    "teach_detection",
                    takes=seconds.value + PATIENCE,
                    label=name.value.strip(),
                    seconds=float(seconds.value),
                    source=source.value,
                )

            action = Action(server, "Teach detector", teach, "collects images, then trains", "collecting and training")
        form.on_submit(lambda event: action.press(event))
        with gui.add_folder("Known objects", visible=False) as known:
            self._known = gui.add_html(style.note("none yet"))
            self._which = Choice(server, "object", "that is forgotten", "none is known")

            def forget() -> Answer:
                return ask(choice.name, "forget_object", label=self._which.name)

            Action(server, "Forget", forget, "forgets the chosen object")
        self._parts, self._choice = (form, known), choice

    def update(self, state: State) -> None:
        """Show which objects are known; without a node there is nothing to teach."""
        show(self._parts, bool(self._choice.name))
        known = state.objects.get(self._choice.name, {})
        self._which.offer(list(known))
        content = style.table(["object", "images"], [[label, str(count)] for label, count in known.items()])
        if known and self._known.content != content:
            self._known.content = content


def show(parts: Iterable[Any], visible: bool) -> None:
    """Show parts of the page, or hide them."""
    for part in parts:
        if part.visible != visible:
            part.visible = visible


def drawn(image: NDArray[np.uint8], boxes: Boxes | None) -> NDArray[np.uint8]:
    """Return an image with boxes in it."""
    if boxes is None or not len(boxes.labels):
        return image
    return annotated(image, Detections(boxes.boxes, list(boxes.labels), boxes.scores))


def smaller(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return an image whose longest side is at most LARGEST."""
    step = -(-max(image.shape[:2]) // LARGEST)
    return np.ascontiguousarray(image[::step, ::step])


def words(recognized: Recognized | None, boxes: Boxes | None) -> str:
    """Return what was recognized: the label, how sure it is, and all scores; or the objects found."""
    if recognized is None:
        if boxes is None:
            return style.note("nothing has been recognized yet")
        found = [[label, f"{score:.2f}"] for label, score in zip(boxes.labels, boxes.scores, strict=True) if score > 0]
        return style.table(["found", "score"], found) if found else style.note("no known object is in sight")
    known = recognized.scores
    unsure = f", nearest {recognized.nearest}" if recognized.nearest not in ("", recognized.label) else ""
    text = f"{recognized.label}{unsure}"
    sure = f"confidence {recognized.confidence:.2f}, typicality {recognized.typicality:.2f}" if known else ""
    low, high = min([0.0, *known.values()]), max([1.0, *known.values()])
    entries = [(label, (score - low) / (high - low), f"{score:.2f}") for label, score in known.items()]
    return (
        f'<div data-label class="il-text">{style.large(text)}<span style="color:{style.MUTED}"> {sure}</span></div>'
        f"{style.bars(entries, recognized.nearest)}"
    )
