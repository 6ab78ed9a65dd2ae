"""Messages of vision_msgs, the field's common types, where that package is installed."""

from importlib import import_module
from types import ModuleType
from typing import Any

from icub_learning.detection.boxes import Detections


def vision_msgs() -> ModuleType | None:
    """Return the module vision_msgs.msg, or None where the package is not installed."""
    try:
        return import_module("vision_msgs.msg")
    except ImportError:
        return None


def detection_array(messages: ModuleType, header: Any, found: Detections) -> Any:
    """Return a vision_msgs/Detection2DArray; `messages` is what `vision_msgs` returned."""
    array = messages.Detection2DArray(header=header)
    for box, label, score in zip(found.boxes.tolist(), found.labels, found.scores.tolist(), strict=True):
        one = messages.Detection2D(header=header)
        result = messages.ObjectHypothesisWithPose()
        result.hypothesis.class_id, result.hypothesis.score = label, score
        one.results.append(result)
        x1, y1, x2, y2 = box
        one.bbox.center.position.x, one.bbox.center.position.y = (x1 + x2) / 2, (y1 + y2) / 2
        one.bbox.size_x, one.bbox.size_y = x2 - x1, y2 - y1
        array.detections.append(one)
    return array


def classification(messages: ModuleType, header: Any, label: str, confidence: float) -> Any:
    """Return a vision_msgs/Classification with one hypothesis."""
    result = messages.ObjectHypothesis(class_id=label, score=confidence)
    return messages.Classification(header=header, results=[result])
