"""Lessons in detection: images with a box around the object, which is tracked from a first box or found by motion."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icub_learning.arrays import Array
from icub_learning.detection.boxes import check_box
from icub_learning.detection.detector import OnlineDetector
from icub_learning.detection.settings import OWN_BOXES
from icub_learning.errors import ParameterError
from icub_learning.own_class import OwnClass
from icub_learning.recognition.vision.opencv import cv2

DIFFERENCE = 25.0  # difference of a pixel from the background, out of 255, above which it counts as motion
MIN_SHARE, MAX_SHARE = 0.002, 0.5  # smallest and largest share of the image that a moving object covers
SMALLEST = 5  # [px] least side of a box that is tracked: OpenCV's tracker never returns from boxes of 3 x 3
BACKGROUND_IMAGES = 5  # number of first images, whose median is the background


class BoxSource(Protocol):
    """Finds the object that is taught in each image."""

    def update(self, image: NDArray[np.uint8]) -> Array | None:
        """Return the object's box (4,) x1 y1 x2 y2 [px] in the next RGB image, or None if it is not visible."""


class OwnBoxes(OwnClass):
    """A user's class, of which each lesson makes an instance with the label of the object; see BoxSource."""

    SETTING, METHODS = "box_source", OWN_BOXES


class TrackedBox:
    """Tracks an object, which must not jump, from a box (4,) x1 y1 x2 y2 [px] in a first RGB image. Raises
    ParameterError, ShapeError: the box is not valid in the image, or is as large as the image."""

    def __init__(self, image: NDArray[np.uint8], box: ArrayLike) -> None:
        height, width = image.shape[:2]
        x1, y1, x2, y2 = np.rint(check_box(box, width, height)).astype(int).tolist()
        given = np.asarray(box).tolist()
        if min(x2 - x1, y2 - y1) < SMALLEST:
            raise ParameterError("box", given, f"at least {SMALLEST} px wide and high, for it to be followed")
        self._tracker, self._shape = cv2.TrackerMIL.create(), image.shape
        try:
            self._tracker.init(np.ascontiguousarray(image), (x1, y1, x2 - x1, y2 - y1))
        except cv2.error as error:  # the tracker compares the box with its surroundings
            bound = f"smaller than the image, {width} x {height} px, for it to be followed"
            raise ParameterError("box", given, bound) from error

    def update(self, image: NDArray[np.uint8]) -> Array | None:
        """See BoxSource."""
        if image.shape != self._shape:
            return None
        found, (x, y, w, h) = self._tracker.update(np.ascontiguousarray(image))
        height, width = image.shape[:2]
        box = np.clip([x, y, x + w, y + h], 0.0, [width, height, width, height])
        return box if found and (box[2:] - box[:2] >= 2.0).all() else None


class MovingBox:
    """Finds the largest part that differs from the first images, which lack the object. The camera must not move."""

    def __init__(self) -> None:
        self._first: list[NDArray[np.uint8]] = []
        self._background: NDArray[np.float32] | None = None

    @property
    def ready(self) -> bool:
        """Whether the background is known, so that the object may come into view."""
        return self._background is not None

    def update(self, image: NDArray[np.uint8]) -> Array | None:
        """See BoxSource; returns None for the images of the background."""
        if self._first and self._first[0].shape != image.shape:
            self._first, self._background = [], None
        if self._background is None:
            self._first.append(image)
            if len(self._first) == BACKGROUND_IMAGES:
                self._background = np.median(np.stack(self._first), axis=0).astype(np.float32)
            return None
        difference = np.abs(image - self._background).max(axis=2)
        moved = (cv2.GaussianBlur(difference, (5, 5), 0) > DIFFERENCE).astype(np.uint8)
        moved = cv2.morphologyEx(moved, cv2.MORPH_CLOSE, np.ones((7, 7), np.uint8))
        count, _, parts, _ = cv2.connectedComponentsWithStats(moved)
        if count < 2:
            return None
        left, top, width, height, area = parts[1 + int(parts[1:, cv2.CC_STAT_AREA].argmax())].tolist()
        if not MIN_SHARE <= area / moved.size <= MAX_SHARE:
            return None
        return np.array([left, top, left + width, top + height], dtype=float)


@dataclass
class DetectionLesson:
    """An object that is shown to a copy of the detector; the copy replaces the detector once it is trained."""

    label: str  # name of the object
    student: OnlineDetector  # the copy of the detector
    source: BoxSource  # finds the object's box
    period: int  # shortest time between two images that are learned from [ns]
    n_taken: int = 0  # images learned from so far
    n_without: int = 0  # images without a box
    _last: int = -(2**62)

    def see(self, stamp: int, image: NDArray[np.uint8]) -> None:
        """Collect an image with its stamp [ns], if the object has a box in it and enough time has passed."""
        box = self.source.update(image)
        if box is None:
            self.n_without += 1
        elif abs(stamp - self._last) >= self.period:
            self.student.collect(image, box, self.label)
            self.n_taken, self._last = self.n_taken + 1, stamp
