"""A lesson in detection: for some seconds, images in which an object has a box are collected."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from icub_learning.detection.box_sources import BoxSource
from icub_learning.detection.detector import OnlineDetector


@dataclass
class DetectionLesson:
    """An object that is being shown to a copy of the detector, which takes its place once it is trained."""

    label: str  # name of the object
    student: OnlineDetector  # the copy
    source: BoxSource  # tells the object's box
    period: int  # smallest time between two images that are learned from [ns]
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
