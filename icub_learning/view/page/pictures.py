"""The image of the camera with what is recognized, and the progress and pictures of a program that runs the nodes."""

from html import escape
from pathlib import Path

import numpy as np
import viser
from numpy.typing import NDArray
from PIL import Image

from icub_learning.detection.boxes import Detections
from icub_learning.detection.drawing import annotated
from icub_learning.recognition.recognizer import Recognition
from icub_learning.view.page import style
from icub_learning.view.shown.state import State, Watcher

LARGEST = 480  # [px] longest side of an image that is sent to a page
MOST_SCORES = 12  # most scores that are shown, the highest ones
BLANK = np.full((240, 320, 3), 236, dtype=np.uint8)  # light grey, shown before the first image
WIDEST = 1100  # [px] largest width of a picture on the page
PERIOD = 20  # updates between two looks at the folder


class CameraView:
    """The newest image with boxes, the label with its confidence, and scores of labels."""

    def __init__(self, server: viser.ViserServer) -> None:
        self.image = server.gui.add_image(BLANK, format="jpeg", jpeg_quality=75)
        self.words, self._shown = server.gui.add_html(style.note("no image has come yet")), BLANK

    def update(self, state: State, recognizer: str, detector: str) -> None:
        """Show what the camera of a recognizer sees, without one that of a detector, without either any camera."""
        finds = state.detectors.get(detector, Watcher())
        sees = state.recognizers.get(recognizer) or (finds if detector else Watcher(camera=state.camera))
        image, boxes = state.images.get(sees.camera, BLANK), finds.boxes if finds.camera == sees.camera else None
        if image is not self._shown:
            self._shown = image
            self.image.image = smaller(annotated(image, boxes) if boxes and image is not BLANK else image)
        self.words.content = words(sees.recognized, boxes)


def smaller(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    step = -(-max(image.shape[:2]) // LARGEST)
    return np.ascontiguousarray(image[::step, ::step])


def words(recognized: Recognition | None, boxes: Detections | None) -> str:
    """Return what was recognized: the label, how sure it is, and the highest scores; or the objects found."""
    if recognized is None:
        if boxes is None:
            return style.note("nothing is being recognized")
        found = [[label, f"{score:.2f}"] for label, score in zip(boxes.labels, boxes.scores, strict=True) if score > 0]
        return style.table(["found", "score"], found) if found else style.note("no known object is in sight")
    known = dict(zip(recognized.labels, recognized.scores.tolist(), strict=False))
    unsure = f", nearest {recognized.nearest}" if recognized.nearest not in ("", recognized.label) else ""
    named = f'<span class="il-large">{escape(recognized.label + unsure)}</span>'
    sure = f"confidence {recognized.confidence:.2f}, typicality {recognized.typicality:.2f}" if known else ""
    low, high = min([0.0, *known.values()]), max([1.0, *known.values()])
    shown, n_lower = list(known.items()), len(known) - MOST_SCORES
    if n_lower > 0:
        shown = sorted(shown, key=lambda one: -one[1])[:MOST_SCORES]
    entries = [(label, (score - low) / (high - low), f"{score:.2f}") for label, score in shown]
    more = style.note(f"and {n_lower} lower ones") if n_lower > 0 else ""
    said = f'<div data-label class="il-text">{named}<span style="color:{style.MUTED}"> {sure}</span></div>'
    return said + style.bars(entries, recognized.nearest) + more


class DoingView:
    """Shows a line, from the file STATUS of a folder, and the pictures (.png) of the folder as they come or change.

    Pictures that were there before the page was started are from an earlier run, and are left out.
    """

    def __init__(self, server: viser.ViserServer, folder: Path, tab: viser.GuiTabHandle) -> None:
        self._server, self._folder, self._tab = server, folder, tab
        self.line = server.gui.add_html(style.note("starting"))
        self.pictures: dict[str, viser.GuiImageHandle] = {}
        self._seen = {path.name: path.stat().st_mtime_ns for path in folder.glob("*.png")}
        self._updates = 0

    def update(self, doing: str) -> None:
        self.line.content = style.note(doing or "starting", style.INK, True)
        self._updates += 1
        for path in sorted(self._folder.glob("*.png")) if self._updates % PERIOD == 0 else ():
            changed = path.stat().st_mtime_ns
            if self._seen.get(path.name) != changed:
                self._seen[path.name] = changed
                self._show(path)

    def _show(self, path: Path) -> None:
        with Image.open(path) as picture:
            picture = picture.convert("RGB")
            picture.thumbnail((WIDEST, 10 * WIDEST))
            pixels = np.asarray(picture)
        if path.name in self.pictures:
            self.pictures[path.name].image = pixels
        else:
            with self._tab:
                shown = self._server.gui.add_image(pixels, label=path.stem, format="jpeg", jpeg_quality=85)
            self.pictures[path.name] = shown
