"""Conversions of images, detections and recognitions to messages; to those of vision_msgs where it is installed."""

from array import array
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
from sensor_msgs.msg import CompressedImage, Image

from icub_learning.detection.boxes import Detections
from icub_learning.nodes.common.conversions import set_stamp
from icub_learning.recognition.vision.images import Pixels, decode, decode_compressed


def rgb_of(message: Image | CompressedImage) -> Pixels:
    """Return the image of a message as RGB (height, width, 3) of uint8. Raises SampleError if it holds none."""
    if isinstance(message, CompressedImage):
        return decode_compressed(message.format, message.data)
    size = (message.height, message.width, message.step)
    return decode(message.encoding, *size, message.data, bool(message.is_bigendian))


def image_message(rgb: Pixels, stamp: int, frame: str = "") -> Image:
    """Return RGB (height, width, 3) of uint8 as a message with a stamp [ns] and the frame of its camera."""
    height, width = rgb.shape[:2]
    message = Image(height=height, width=width, encoding="rgb8", step=3 * width)
    set_stamp(message.header.stamp, stamp)
    message.header.frame_id, message.data = frame, array("B", np.ascontiguousarray(rgb).tobytes())
    return message


def vision_msgs() -> ModuleType | None:
    try:
        return import_module("vision_msgs.msg")
    except ImportError:
        return None


def detection_array(messages: ModuleType, header: Any, found: Detections) -> Any:
    """Return a vision_msgs/Detection2DArray; `messages` is what `vision_msgs` returned."""
    array = messages.Detection2DArray(header=header)
    for box, label, score in zip(found.boxes.tolist(), found.labels, found.scores.tolist(), strict=True):
        one, result = messages.Detection2D(header=header), messages.ObjectHypothesisWithPose()
        result.hypothesis.class_id, result.hypothesis.score = label, score
        one.results.append(result)
        x1, y1, x2, y2 = box
        one.bbox.center.position.x, one.bbox.center.position.y = (x1 + x2) / 2, (y1 + y2) / 2
        one.bbox.size_x, one.bbox.size_y = x2 - x1, y2 - y1
        array.detections.append(one)
    return array


def classification(messages: ModuleType, header: Any, label: str, confidence: float) -> Any:
    result = messages.ObjectHypothesis(class_id=label, score=confidence)
    return messages.Classification(header=header, results=[result])
