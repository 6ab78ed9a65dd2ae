"""Boxes in images: overlap, refinement, suppression of duplicates. A box is x1 y1 x2 y2 [px]."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icub_learning.arrays import Array, finite
from icub_learning.errors import ParameterError, ShapeError

MIN_SIDE = 2.0  # [px] shortest side of a box
MAX_LOG_RATIO = 1.0  # largest magnitude of log(side after refinement / side before)


@dataclass(frozen=True)
class Detections:
    """Objects found in an image, those with the largest scores first."""

    boxes: Array = field(default_factory=lambda: np.empty((0, 4)))  # (n, 4) x1 y1 x2 y2 [px]
    labels: list[str] = field(default_factory=list)  # n names
    scores: Array = field(default_factory=lambda: np.empty(0))  # (n,), about 1 for what was learned, -1 for background

    def __len__(self) -> int:
        return len(self.labels)


def check_box(box: ArrayLike, width: int, height: int) -> Array:
    """Return a box (4,) cut at the borders of an image. Raises ShapeError, NotFiniteError, ParameterError."""
    values = finite("box", box)
    if values.shape != (4,):
        raise ShapeError("box", values.shape, "(4,): x1 y1 x2 y2")
    cut = np.clip(values, 0.0, [width, height, width, height])
    if (cut[2:] - cut[:2] < MIN_SIDE).any():
        bound = f"x1 < x2, y1 < y2, at least {MIN_SIDE:g} px of each side within {width} x {height}"
        raise ParameterError("box", values.tolist(), bound)
    return cut


def overlaps(a: Array, b: Array) -> Array:
    """Return the intersection over union of boxes a (m, 4) with boxes b (n, 4): (m, n)."""
    low = np.maximum(a[:, None, :2], b[None, :, :2])
    common = np.clip(np.minimum(a[:, None, 2:], b[None, :, 2:]) - low, 0.0, None).prod(axis=2)
    areas = [(boxes[:, 2:] - boxes[:, :2]).prod(axis=1) for boxes in (a, b)]
    return np.asarray(common / np.maximum(areas[0][:, None] + areas[1] - common, 1e-9))


def offsets(boxes: Array, targets: Array) -> Array:
    """Return offsets (n, 4) from boxes to targets: dx, dy in sides, log ratios of sides (Girshick and others, 2014)."""
    size, wanted = boxes[:, 2:] - boxes[:, :2], targets[:, 2:] - targets[:, :2]
    move = (targets[:, :2] + targets[:, 2:] - boxes[:, :2] - boxes[:, 2:]) / 2.0 / size
    return np.concatenate([move, np.log(wanted / size)], axis=1)


def moved(boxes: Array, steps: Array, width: int, height: int) -> Array:
    """Return boxes (n, 4) moved by offsets (n, 4), the inverse of `offsets`, and cut at the borders of the image."""
    size = boxes[:, 2:] - boxes[:, :2]
    centre = (boxes[:, :2] + boxes[:, 2:]) / 2.0 + steps[:, :2] * size
    half = size * np.exp(np.clip(steps[:, 2:], -MAX_LOG_RATIO, MAX_LOG_RATIO)) / 2.0
    return np.clip(np.concatenate([centre - half, centre + half], axis=1), 0.0, [width, height, width, height])


def suppress(boxes: Array, scores: Array, threshold: float, most: int) -> NDArray[np.intp]:
    """Return the indices of boxes (n, 4) that no better one overlaps by more than the threshold, best first (NMS)."""
    order = np.argsort(-scores, kind="stable")
    kept: list[int] = []
    left, top, right, bottom = boxes.T
    areas = (right - left) * (bottom - top)
    while len(order) and len(kept) < most:
        first, rest = order[0], order[1:]
        kept.append(int(first))
        across = np.minimum(right[first], right[rest]) - np.maximum(left[first], left[rest])
        down = np.minimum(bottom[first], bottom[rest]) - np.maximum(top[first], top[rest])
        common = np.maximum(across, 0.0) * np.maximum(down, 0.0)
        order = rest[common <= threshold * (areas[first] + areas[rest] - common)]
    return np.array(kept, np.intp)
