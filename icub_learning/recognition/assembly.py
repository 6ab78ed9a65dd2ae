"""One set of settings from which node and commands build the same classifier and recognizer."""

from dataclasses import dataclass, fields

from icub_learning.errors import ParameterError
from icub_learning.recognition.classifiers.adaptive_classifier import AdaptiveClassifier
from icub_learning.recognition.classifiers.dictionary_classifier import DictionaryClassifier
from icub_learning.recognition.classifiers.incremental_classifier import IncrementalClassifier
from icub_learning.recognition.classifiers.kinds import KINDS, AnyClassifier
from icub_learning.recognition.recognizer import ObjectRecognizer


@dataclass(frozen=True)
class Settings:
    """Everything that decides how objects are recognized; names and meanings are those of the node's parameters.

    Attributes:
        classifier: one of KINDS.
        regularization, recoding: see IncrementalClassifier (rlsc).
        length_scale, step_size, parsimony, max_dictionary: see DictionaryClassifier (polk).
        smoothing_window, max_age, unknown_below: see ObjectRecognizer.
    """

    classifier: str = "rlsc"
    regularization: float = 1.0
    recoding: float = 0.7
    length_scale: float = 0.5
    step_size: float = 0.5
    parsimony: float = 0.1
    max_dictionary: int = 500
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
    if settings.classifier == "polk":
        s = settings
        return DictionaryClassifier(n_features, s.length_scale, s.step_size, s.parsimony, s.max_dictionary, s.recoding)
    raise ParameterError("classifier", settings.classifier, f"one of {', '.join(KINDS)}")


def make_recognizer(settings: Settings) -> ObjectRecognizer:
    """A recognizer that knows nothing; its classifier is made with the first vector learned. Raises ParameterError."""
    return ObjectRecognizer(
        lambda n_features: make_classifier(settings, n_features),
        settings.smoothing_window,
        settings.max_age,
        settings.unknown_below,
    )
