"""The objects that a node knows: found by words, sorted by how surely each is known, with small pictures."""

import io
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from icub_learning.recognition.recognizer import Recognition
from icub_learning.view.shown.state import State

SIDES = (96, 72)  # [px] largest width and height of a picture: twice what is shown, for dense screens
QUALITY = 70  # quality of the JPEG: some 3 kB for a picture
# [ns] time for which an object has to be recognized after an image before that counts as a picture of it: recognizers
# average over images (smoothing_window, by default 5, which take a second at 5 Hz), so that they name an object for a
# while after another one took its place.
CONFIRMED = 1_000_000_000
UNSURE_FIRST, SURE_FIRST = "least surely known first", "most surely known first"
BY_NAME, BY_COUNT, NEWEST_FIRST = "by name", "fewest views first", "newest first"
ORDERS = (UNSURE_FIRST, SURE_FIRST, BY_NAME, BY_COUNT, NEWEST_FIRST)


@dataclass(frozen=True)
class Known:
    """A known object: its label, views learned, and recall in [0, 1], NaN where that is not known."""

    label: str
    count: int
    recall: float

    @property
    def sureness(self) -> str:
        return "–" if math.isnan(self.recall) else f"{100.0 * self.recall:.0f} %"


def found(counts: Mapping[str, int], recall: Mapping[str, float], words: str, order: str) -> list[Known]:
    """Return objects whose labels contain all words, ignoring case, in one of ORDERS; equal ones oldest first.

    Objects of unknown recall count as least sure.
    """
    wanted = words.casefold().split()
    objects = [Known(label, count, recall.get(label, math.nan)) for label, count in counts.items()]
    chosen = [one for one in objects if all(word in one.label.casefold() for word in wanted)]
    if order == NEWEST_FIRST:
        return chosen[::-1]
    keys: dict[str, Callable[[Known], float | str]] = {
        UNSURE_FIRST: lambda one: -1.0 if math.isnan(one.recall) else one.recall,
        SURE_FIRST: lambda one: 1.0 if math.isnan(one.recall) else -one.recall,
        BY_NAME: lambda one: one.label.casefold(), BY_COUNT: lambda one: one.count
    }  # fmt: skip
    return sorted(chosen, key=keys[order])


class Thumbnails:
    """A small picture of each object that was recognized: the camera's image with the highest confidence.

    The server of the page reads them by number while another thread adds to them. Each object has one at most.
    """

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, str], tuple[int, float]] = {}  # picture and its confidence, by node and label
        self._pictures: dict[int, bytes] = {}
        self.version = 0  # rises whenever a picture is added or dropped
        self._seen: dict[str, NDArray[np.uint8]] = {}  # the newest image of each node
        self._waiting: dict[str, tuple[Recognition, NDArray[np.uint8]]] = {}  # to be confirmed, by node, with its image
        self._known: list[tuple[str, str]] = []  # node and label of all objects, oldest first
        self.renaming: tuple[tuple[str, str], tuple[str, str]] | None = None  # node and label, before and after

    def update(self, state: State) -> None:
        """Take a picture of a known object that was recognized for a while, and drop those of objects that are gone.

        The picture is the image from the beginning of that time, CONFIRMED.
        """
        known = {(name, label): None for name, one in state.recognizers.items() for label in one.objects}
        if list(known) != self._known:
            self._follow(known)
        for name, one in state.recognizers.items():
            image = state.images.get(one.camera)
            if one.recognized is not None and image is not None and image is not self._seen.get(name):
                self._seen[name] = image
                self._take(name, one.recognized, image, (name, one.recognized.label) in known)

    def _follow(self, known: dict[tuple[str, str], None]) -> None:
        """Keep the pictures of objects that are still known; none if their order has changed, as names were swapped."""
        moved = {}
        if self.renaming is not None and self.renaming[1] in known and self.renaming[0] not in known:
            moved, self.renaming = dict([self.renaming]), None
        before = [moved.get(one, one) for one in self._known]
        there = set(before)
        same = [one for one in before if one in known] == [one for one in known if one in there]
        kept = {moved.get(one, one): taken for one, taken in self._numbers.items()} if same else {}
        self._numbers = {one: taken for one, taken in kept.items() if one in known}
        self._pictures = {number: self._pictures[number] for number, _ in self._numbers.values()}
        self._known, self.version = list(known), self.version + 1
        self._waiting.clear()

    def _take(self, name: str, seen: Recognition, image: NDArray[np.uint8], known: bool) -> None:
        first, shown = self._waiting.setdefault(name, (seen, image))
        confirmed = first.label == seen.label and seen.stamp - first.stamp >= CONFIRMED
        if confirmed or first.label != seen.label or seen.stamp < first.stamp:
            self._waiting[name] = seen, image
        before = self._numbers.get((name, seen.label), (-1, -1.0))
        if not (confirmed and known) or first.confidence <= before[1]:
            return
        picture = Image.fromarray(shown)
        picture.thumbnail(SIDES)
        content = io.BytesIO()
        picture.save(content, "JPEG", quality=QUALITY)
        self.version += 1  # a picture never changes, so that a browser may keep it
        self._pictures[self.version] = content.getvalue()
        self._numbers[name, seen.label] = (self.version, first.confidence)
        self._pictures.pop(before[0], None)

    def number(self, node: str, label: str) -> int | None:
        return self._numbers.get((node, label), (None,))[0]

    def picture(self, number: int) -> bytes | None:
        return self._pictures.get(number)
