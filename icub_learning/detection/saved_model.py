"""Header and state of a saved model of object detection, also of one that knows no object."""

from dataclasses import asdict
from typing import Any

import numpy as np

from icub_learning.detection.detector import OnlineDetector
from icub_learning.detection.settings import Settings
from icub_learning.models.header import ModelHeader

KIND = "object_detection"
EMPTY = "nothing_taught"  # the only entry of the state of a detector that knows no object
MOST_OBJECTS = 200  # largest number of objects in a file
ROW_BYTES = 8 * 2048  # [bytes] largest size of the features of a region


def largest_bytes(settings: Settings) -> int:
    """Return the largest size [bytes] of a model: centres, negatives and positives of many objects."""
    return MOST_OBJECTS * (settings.n_centers + settings.n_batches * settings.batch_size) * ROW_BYTES


def describe(settings: Settings, detector: OnlineDetector) -> ModelHeader:
    """Return the header of a detector's model."""
    statistics = {"objects": len(detector.counts), "frames": sum(detector.counts.values())}
    return ModelHeader(KIND, network=detector.source, settings=asdict(settings), statistics=statistics)


def state_of(detector: OnlineDetector) -> dict[str, Any]:
    """Return the state of a detector, also of one that knows no object."""
    return detector.state() if detector.counts else {EMPTY: np.asarray(True)}


def restored(detector: OnlineDetector, state: dict[str, Any]) -> OnlineDetector:
    """Return a copy of the detector that knows a state returned by `state_of`. Raises StateError."""
    made = detector.copy()
    if state.keys() == {EMPTY}:
        for label in list(made.counts):
            made.forget(label)
    else:
        made.load(state)
    return made
