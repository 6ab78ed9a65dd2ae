"""Drawing of detections into their image, for people to look at."""

import zlib

import numpy as np
from numpy.typing import NDArray

from icub_learning.detection.boxes import Detections
from icub_learning.recognition.vision.opencv import cv2

SMALLEST_SCORE = 0.0  # smallest score of a detection that is drawn
WHITE, BLACK = (255, 255, 255), (0, 0, 0)  # RGB


def annotated(image: NDArray[np.uint8], found: Detections) -> NDArray[np.uint8]:
    """Return a copy of an RGB image (height, width, 3) with boxes and labels of the detections that score 0 or more."""
    picture = np.array(image)
    size = max(0.35, min(picture.shape[:2]) / 700.0)
    for box, label, score in zip(np.rint(found.boxes).astype(int).tolist(), found.labels, found.scores, strict=True):
        if score < SMALLEST_SCORE:
            continue
        colour = np.random.default_rng(zlib.crc32(label.encode())).integers(40, 256, 3).tolist()
        cv2.rectangle(picture, box[:2], box[2:], colour, 2)
        text = f"{label} {score:.2f}"
        (width, height), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, size, 1)
        left, top = box[0], max(box[1], height + 4)
        cv2.rectangle(picture, (left, top - height - 4), (left + width, top), colour, cv2.FILLED)
        ink = BLACK if sum(colour) > 380 else WHITE
        cv2.putText(picture, text, (left, top - 2), cv2.FONT_HERSHEY_SIMPLEX, size, ink, 1, cv2.LINE_AA)
    return picture
