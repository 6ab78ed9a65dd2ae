"""How good detections are: average precision of each object, as PASCAL VOC 2007 defines it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from icub_learning.arrays import Array
from icub_learning.detection.boxes import Detections, overlaps

RECALLS = np.linspace(0.0, 1.0, 11)  # at which precision is read


@dataclass(frozen=True)
class TrueBoxes:
    """What is in an image: boxes (n, 4) x1 y1 x2 y2 [px] and n labels."""

    boxes: Array
    labels: Sequence[str]


def average_precisions(
    found: Sequence[Detections], truth: Sequence[TrueBoxes], labels: Sequence[str], overlap: float = 0.5
) -> dict[str, float]:
    """Return the average precision in [0, 1] of each label; nan of one that is in no image.

    The detections of all images, best first, are right where they overlap a box of their label that no better one of
    the image has taken, by at least `overlap` (intersection over union). The average precision is the mean, over the
    recalls 0, 0.1, ..., 1, of the largest precision at that recall or a higher one.

    Source: Everingham and others, "The PASCAL visual object classes (VOC) challenge", 2010, section 4.2.
    """
    return {label: _average_precision(found, truth, label, overlap) for label in labels}


def mean_average_precision(precisions: Mapping[str, float]) -> float:
    """Return the mean over the labels that were in an image."""
    return float(np.nanmean(list(precisions.values())))


def _average_precision(found: Sequence[Detections], truth: Sequence[TrueBoxes], label: str, overlap: float) -> float:
    scores, right, n_true = [], [], 0
    for one, true in zip(found, truth, strict=True):
        own = np.array([name == label for name in true.labels], dtype=bool)
        boxes = np.asarray(true.boxes).reshape(-1, 4)[own]
        n_true += len(boxes)
        free = np.ones(len(boxes), dtype=bool)
        for place in sorted(range(len(one)), key=lambda index: -one.scores[index]):
            if one.labels[place] != label:
                continue
            hit = False
            if len(boxes):
                shares = overlaps(one.boxes[place][None], boxes)[0]
                best = int(shares.argmax())
                hit = bool(shares[best] >= overlap and free[best])
                free[best] &= not hit
            scores.append(one.scores[place])
            right.append(hit)
    if not n_true:
        return float("nan")
    order = np.argsort(-np.array(scores), kind="stable")
    hits = np.cumsum(np.array(right, dtype=float)[order]) if scores else np.empty(0)
    recall, precision = hits / n_true, hits / np.arange(1, len(hits) + 1)
    return float(np.mean([precision[recall >= level - 1e-12].max(initial=0.0) for level in RECALLS]))
