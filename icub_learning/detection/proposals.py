"""Class-agnostic region proposals: anchors on the network's maps, scored and moved by a linear objectness."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array
from icub_learning.detection.backbone import FeatureMaps, fixed_arrays
from icub_learning.detection.boxes import moved, suppress

CELL = 16  # [px] distance of neighbouring anchors in the network's input
SIZES = (36.0, 51.0, 72.0, 102.0, 144.0, 204.0, 288.0)  # [px] square roots of the anchors' areas
ASPECTS = (0.5, 1.0, 2.0)  # height over width of the anchors
N_ANCHORS = len(SIZES) * len(ASPECTS)
N_CELL_FEATURES = 4 * 40 + 112 + 320 + 1  # channels of the layers at one cell, and a constant
CANDIDATES = 1200  # anchors with the largest scores, before duplicates are removed
OVERLAP = 0.7  # intersection over union above which the worse of two proposals is dropped
WEIGHTS = Path(__file__).with_name("objectness.npz")  # written by tools/learn_objectness.py


def propose(maps: FeatureMaps, n_proposals: int) -> Array:
    """Return up to n_proposals boxes (n, 4) [px] of an image that may hold any object, the best first.

    At each cell of the map there are 21 anchors. Their scores, and the offsets that move them onto an object, are
    linear in the maps' values at the cell; the weights were learned by ridge regression on simulated tables, from boxes
    without labels. (A region proposal network as in Ren and others, "Faster R-CNN", 2015, without hidden layer.) Raises
    ModelError.
    """
    shapes = {"scores": (N_CELL_FEATURES, N_ANCHORS), "offsets": (N_ANCHORS, 4, N_CELL_FEATURES)}
    scores_of, offsets_of = fixed_arrays(WEIGHTS, **shapes)
    cells = cell_features(maps)
    scores = (cells @ scores_of).ravel()
    best = np.argpartition(-scores, min(CANDIDATES, len(scores) - 1))[:CANDIDATES]
    steps = np.einsum("nd,nkd->nk", cells[best // N_ANCHORS], offsets_of[best % N_ANCHORS])
    boxes = moved(anchors(maps)[best], steps, maps.width, maps.height)
    large = (boxes[:, 2:] - boxes[:, :2]).min(axis=1) >= 4.0
    boxes, scores = boxes[large], scores[best][large]
    return np.asarray(boxes[suppress(boxes, scores, OVERLAP, n_proposals)])


def cell_features(maps: FeatureMaps) -> NDArray[np.float32]:
    """Return for each cell the values of all maps that lie in it, and a 1: (cells, N_CELL_FEATURES), row by row."""
    fine, middle, coarse = (maps.maps[side] for side in (8, 16, 32))
    rows, columns, _ = middle.shape
    parts = [fine[top::2, left::2][:rows, :columns] for top in (0, 1) for left in (0, 1)]
    wide = coarse.repeat(2, axis=0).repeat(2, axis=1)[:rows, :columns]
    ones = np.ones((rows, columns, 1), np.float32)
    return np.concatenate([*parts, middle, wide, ones], axis=2).reshape(rows * columns, -1)


def anchors(maps: FeatureMaps) -> Array:
    """Return the anchors (cells * N_ANCHORS, 4) of an image [px], cell by cell."""
    rows, columns, _ = maps.maps[CELL].shape
    y, x = np.mgrid[:rows, :columns].reshape(2, -1, 1) * CELL + CELL / 2
    half = np.array([(size * aspect**-0.5 / 2, size * aspect**0.5 / 2) for size in SIZES for aspect in ASPECTS])
    boxes = np.stack([x - half[:, 0], y - half[:, 1], x + half[:, 0], y + half[:, 1]], axis=2).reshape(-1, 4)
    return np.asarray(boxes / np.tile(maps.scale, 2))
