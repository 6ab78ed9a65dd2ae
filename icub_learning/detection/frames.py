"""Frames that were shown with boxes, as regions: what is kept of them until the detector is trained."""

from dataclasses import dataclass, field

import numpy as np

from icub_learning.arrays import Array
from icub_learning.detection.backbone import FeatureMaps
from icub_learning.detection.boxes import moved, offsets, overlaps
from icub_learning.detection.region_classifier import Rows

# At least, and at most, of a box with the one taught; between them it teaches nothing.
POSITIVE_OVERLAP, NEGATIVE_OVERLAP = 0.6, 0.3
JITTERED = 8  # moved copies of each box, that its refinement learns from
JITTER = np.array([0.12, 0.12, 0.15, 0.15])  # standard deviations of their offsets


@dataclass
class Frame:
    """The regions of one image, and the boxes shown in it."""

    digest: bytes  # hash of the image, to know it again when another object in it is shown
    maps: FeatureMaps | None  # those of the image, until the next image comes
    proposals: Array  # (n, 4) boxes [px]
    features: Rows  # (n, d) of the proposals
    boxes: list[tuple[str, Array]] = field(default_factory=list)  # (4,) and label of each object shown

    def negatives(self, label: str) -> Rows:
        """Return the regions (m, d) that overlap no box of this label by 0.3 or more."""
        own = np.array([box for name, box in self.boxes if name == label])
        return self.features[overlaps(self.proposals, own).max(axis=1) < NEGATIVE_OVERLAP]


@dataclass
class Positives:
    """Regions of one object that were shown since it was last trained: features (n, d) and offsets (n, 4) to it."""

    features: list[Rows] = field(default_factory=list)
    steps: list[Array] = field(default_factory=list)


def positive_boxes(box: Array, proposals: Array, maps: FeatureMaps, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return an object's box, moved copies and proposals that overlap it by 0.6 or more (n, 4), with offsets to it."""
    copies = moved(np.tile(box, (JITTERED, 1)), JITTER * rng.normal(size=(JITTERED, 4)), maps.width, maps.height)
    boxes = np.concatenate([box[None], copies, proposals])
    boxes = boxes[overlaps(boxes, box[None])[:, 0] >= POSITIVE_OVERLAP]
    return boxes, offsets(boxes, np.tile(box, (len(boxes), 1)))
