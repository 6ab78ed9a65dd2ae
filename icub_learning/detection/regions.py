"""Features of regions of an image: means over a grid of bins (RoIAlign), projected on their principal directions."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array
from icub_learning.detection.backbone import FeatureMaps, fixed_arrays

# Bins along a side of a region, by the stride of the map: two of the finer map, which tell where parts are.
BINS = {16: 2, 32: 1}
SAMPLES = 2  # sampled points along a side of each bin
N_CHANNELS = {16: 112, 32: 320}
N_POOLED = sum(bins**2 * N_CHANNELS[side] for side, bins in BINS.items())
N_FEATURES = 128  # number of principal directions: FALKON's time is proportional to it
LENGTH = 20.0  # mean length of the features of a region
BASIS = Path(__file__).with_name("regions.npz")  # written by tools/learn_objectness.py


def region_features(maps: FeatureMaps, boxes: Array) -> NDArray[np.float32]:
    """Return the features (n, N_FEATURES) of boxes (n, 4) [px] of the image, with a length of about 20."""
    mean, basis = fixed_arrays(BASIS, mean=(N_POOLED,), basis=(N_POOLED, N_FEATURES))
    return np.asarray((pooled(maps, boxes) - mean) @ basis * np.float32(LENGTH / np.sqrt(N_POOLED)))


def pooled(maps: FeatureMaps, boxes: Array) -> NDArray[np.float32]:
    """Return the pooled values (n, N_POOLED) of the maps in boxes (n, 4) [px] of the image.

    Each box is cut into a grid of bins, and the map's values at 2 x 2 points of each bin, interpolated, are averaged
    (He and others, "Mask R-CNN", 2017, section 3). The values of each map are scaled so that regions have a mean square
    of one.
    """
    parts = []
    for side, bins in BINS.items():
        values = align(maps.maps[side], boxes * np.tile(maps.scale, 2) / side, bins)
        parts.append(values / max(float(np.sqrt((maps.maps[side] ** 2).mean())), 1e-6))
    return np.concatenate(parts, axis=1)


def align(values: NDArray[np.float32], boxes: Array, bins: int) -> NDArray[np.float32]:
    """Return means (n, bins^2 channels) of a map over boxes, in cells of it, by a small matrix along each axis."""
    rows, columns, channels = values.shape
    down = _weights(boxes[:, 1], boxes[:, 3], rows, bins)  # (n, bins, rows)
    across = _weights(boxes[:, 0], boxes[:, 2], columns, bins)  # (n, bins, columns)
    partial = (down.reshape(-1, rows) @ values.reshape(rows, -1)).reshape(len(boxes), bins, columns, channels)
    found = np.matmul(across[:, None], partial)  # (n, bins, bins, channels)
    return np.asarray(found.reshape(len(boxes), -1), dtype=np.float32)


def _weights(low: Array, high: Array, size: int, bins: int) -> NDArray[np.float32]:
    """Return the weights (n, bins, size) of the cells along one axis in the bins of [low, high]."""
    steps = (np.arange(bins * SAMPLES) + 0.5) / (bins * SAMPLES)
    points = low[:, None] + steps * (high - low)[:, None] - 0.5  # the centre of cell 0 is at 0
    weights = np.maximum(0.0, 1.0 - np.abs(np.clip(points, 0.0, size - 1.0)[:, :, None] - np.arange(size)))
    return np.asarray(weights.reshape(len(low), bins, SAMPLES, size).mean(axis=2), dtype=np.float32)
