"""Detection of objects in images, learned in seconds: region features of a fixed network, and FALKON on top of them."""

from typing import TYPE_CHECKING

from icub_learning.lazy import lazy

if TYPE_CHECKING:
    from icub_learning.detection.boxes import Detections
    from icub_learning.detection.detector import OnlineDetector

__all__ = ["Detections", "OnlineDetector"]

__getattr__ = lazy(__name__)
