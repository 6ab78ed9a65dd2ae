"""Average precision of the detections of each object, as PASCAL VOC 2007 defines it."""

from collections.abc import Sequence

import numpy as np

from icub_learning.detection.boxes import Detections, overlaps

OVERLAP = 0.5  # least intersection over union at which a detection counts as correct
RECALLS = np.linspace(0.0, 1.0, 11)  # recalls at which the precision is read


def average_precisions(
    found: Sequence[Detections], truth: Sequence[Detections], labels: Sequence[str]
) -> dict[str, float]:
    """Return the average precision in [0, 1] of each label, given the true boxes of each image; NaN if it has none.

    Detections are taken in order of falling score. Each is compared with the box of its label that it overlaps most,
    and is correct if it overlaps it by at least OVERLAP and no detection before has taken it. The average precision is
    the mean, over the recalls 0, 0.1, ..., 1, of the largest precision at that recall or a higher one.

    Source: Everingham and others, "The PASCAL visual object classes (VOC) challenge", 2010, section 4.2.
    """
    return {label: _average_precision(found, truth, label) for label in labels}


def _average_precision(found: Sequence[Detections], truth: Sequence[Detections], label: str) -> float:
    scores, right, n_true = [], [], 0
    for one, true in zip(found, truth, strict=True):
        boxes = np.asarray(true.boxes).reshape(-1, 4)[np.array([name == label for name in true.labels], dtype=bool)]
        n_true += len(boxes)
        free = np.ones(len(boxes), dtype=bool)
        for place in sorted(range(len(one)), key=lambda index: -one.scores[index]):
            if one.labels[place] != label:
                continue
            hit = False
            if len(boxes):
                shares = overlaps(one.boxes[place][None], boxes)[0]
                best = int(shares.argmax())
                hit = bool(shares[best] >= OVERLAP and free[best])
                free[best] &= not hit
            scores.append(one.scores[place])
            right.append(hit)
    if not n_true:
        return float("nan")
    order = np.argsort(-np.array(scores), kind="stable")
    hits = np.cumsum(np.array(right, dtype=float)[order]) if scores else np.empty(0)
    recall, precision = hits / n_true, hits / np.arange(1, len(hits) + 1)
    return float(np.mean([precision[recall >= level - 1e-12].max(initial=0.0) for level in RECALLS]))
