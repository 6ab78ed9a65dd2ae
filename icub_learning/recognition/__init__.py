"""Recognition of objects that are learned while the robot runs: image features, and classifiers that learn on-line."""

from typing import TYPE_CHECKING

from icub_learning.lazy import lazy

if TYPE_CHECKING:
    from icub_learning.recognition.classifiers.adaptive_classifier import AdaptiveClassifier
    from icub_learning.recognition.classifiers.incremental_classifier import IncrementalClassifier
    from icub_learning.recognition.vision.cnn_features import CNNFeatures

__all__ = ["AdaptiveClassifier", "CNNFeatures", "IncrementalClassifier"]

__getattr__ = lazy(__name__)
