"""Objects learned while the robot runs: features of images, and classifiers that take new classes at any time."""

from typing import Any

from icub_learning.recognition.classifiers.adaptive_classifier import AdaptiveClassifier
from icub_learning.recognition.classifiers.incremental_classifier import IncrementalClassifier

__all__ = ["AdaptiveClassifier", "CNNFeatures", "IncrementalClassifier"]


def __getattr__(name: str) -> Any:
    """Import CNNFeatures when it is first asked for: classifiers do without onnxruntime."""
    if name == "CNNFeatures":
        from icub_learning.recognition.vision.cnn_features import CNNFeatures

        return CNNFeatures
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
