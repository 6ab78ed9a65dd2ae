"""One set of settings from which node and commands build the same classifier and recognizer."""

from dataclasses import dataclass, fields

from icub_learning.errors import ParameterError
from icub_learning.recognition.adaptive_classifier import AdaptiveClassifier
from icub_learning.recognition.classifiers import KINDS, AnyClassifier
from icub_learning.recognition.incremental_classifier import IncrementalClassifier
from icub_learning.recognition.recognizer import ObjectRecognizer


@dataclass(frozen=True)
class Settings:
    """Everything that decides how objects are recognized; names and meanings are those of the node's parameters.

    Attributes:
        classifier: one of KINDS.
        regularization, recoding: see IncrementalClassifier (rlsc).
        smoothing_window, max_age, unknown_below: see ObjectRecognizer.
    """

    classifier: str = "rlsc"
    regularization: float = 1.0
    recoding: float = 0.7
    smoothing_window: int = 5
    max_age: float = 1.0
    unknown_below: float = 0.3


SETTING_NAMES = tuple(entry.name for entry in fields(Settings))


def make_classifier(settings: Settings, n_features: int) -> AnyClassifier:
    """A classifier that knows nothing. Raises ParameterError."""
    if settings.classifier == "rlsc":
        return IncrementalClassifier(n_features, settings.regularization, settings.recoding)
    if settings.classifier == "adaptive":
        return AdaptiveClassifier(n_features, recoding=settings.recoding)
    raise ParameterError("classifier", settings.classifier, f"one of {', '.join(KINDS)}")


def make_recognizer(settings: Settings) -> ObjectRecognizer:
    """A recognizer that knows nothing; its classifier is made with the first vector learned. Raises ParameterError."""
    return ObjectRecognizer(
        lambda n_features: make_classifier(settings, n_features),
        settings.smoothing_window,
        settings.max_age,
        settings.unknown_below,
    )
