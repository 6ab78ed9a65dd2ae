"""Build classifier and recognizer from one set of settings, the same for node and commands."""

from icub_learning.recognition.classifiers.adaptive_classifier import AdaptiveClassifier
from icub_learning.recognition.classifiers.incremental_classifier import IncrementalClassifier
from icub_learning.recognition.classifiers.kinds import KINDS, AnyClassifier
from icub_learning.recognition.own_classifier import OwnClassifier
from icub_learning.recognition.recognizer import ObjectRecognizer
from icub_learning.recognition.settings import Settings

__all__ = ["Settings", "make_classifier", "make_recognizer"]


def make_classifier(settings: Settings, n_features: int) -> AnyClassifier:
    """Return an untrained classifier; of a user's class, an OwnClassifier. Raises ParameterError."""
    recoding = settings.recoding if settings.weighting == "recoded" else 0.0
    if settings.classifier == "adaptive":
        return AdaptiveClassifier(n_features, recoding)
    if settings.classifier == "rlsc":
        return IncrementalClassifier(n_features, settings.regularization, recoding)
    own: AnyClassifier = OwnClassifier.of(settings.classifier)(n_features)
    return own


def make_recognizer(settings: Settings) -> ObjectRecognizer:
    """Return an untrained recognizer; the first vector learned creates its classifier. Raises ParameterError."""
    return ObjectRecognizer(
        lambda n_features: make_classifier(settings, n_features),
        settings.smoothing_window,
        settings.max_age,
        settings.reject_known,
        None if settings.classifier in KINDS else OwnClassifier.of(settings.classifier),
    )
