"""Build the classifier and recognizer from the settings, for node and commands alike, and describe saved models."""

from dataclasses import asdict
from typing import Any

import numpy as np

from icub_learning.models.header import ModelHeader
from icub_learning.recognition.classifiers.adaptive_classifier import AdaptiveClassifier
from icub_learning.recognition.classifiers.incremental_classifier import IncrementalClassifier
from icub_learning.recognition.classifiers.kinds import KINDS, AnyClassifier, kind_of
from icub_learning.recognition.own_classifier import OwnClassifier
from icub_learning.recognition.recognizer import ObjectRecognizer
from icub_learning.recognition.settings import Settings

__all__ = ["Settings", "make_classifier", "make_recognizer"]

KIND = "object_recognition"
EMPTY = "nothing_taught"  # the only entry of the state of a recognizer that knows no object
MOST_SQUARES = 6  # largest number of (n_features, n_features) matrices in a model, beside its rows for each object
MOST_FEATURES = 4096  # largest number of features of a network, assumed until its first features have come
SMALL_PARTS = 64 * 2**20  # [bytes] room for a model's rows for each object


def make_classifier(settings: Settings, n_features: int) -> AnyClassifier:
    """Return an untrained classifier; a user's class comes in an OwnClassifier. Raises ParameterError."""
    if settings.classifier == "adaptive":
        return AdaptiveClassifier(n_features, recoding_of(settings))
    if settings.classifier == "rlsc":
        return IncrementalClassifier(n_features, settings.regularization, recoding_of(settings))
    own: AnyClassifier = OwnClassifier.of(settings.classifier)(n_features)
    return own


def recoding_of(settings: Settings) -> float:
    """Return how far recoding raises objects with few examples, 0 if it is switched off."""
    return settings.recoding if settings.weighting == "recoded" else 0.0


def make_recognizer(settings: Settings) -> ObjectRecognizer:
    """Return an untrained recognizer; the first vector learned creates its classifier. Raises ParameterError."""
    return ObjectRecognizer(
        lambda n_features: make_classifier(settings, n_features), settings.smoothing_window, settings.max_age,
        settings.reject_known, None if settings.classifier in KINDS else OwnClassifier.of(settings.classifier),
    )  # fmt: skip


def largest_bytes(n_features: int | None) -> int:
    """Return the largest size [bytes] of a model of `n_features` features; None: any number of them up to 4096."""
    return 8 * MOST_SQUARES * (n_features or MOST_FEATURES) ** 2 + SMALL_PARTS


def describe(settings: Settings, recognizer: ObjectRecognizer, network: str) -> ModelHeader:
    """Return the header of a recognizer's model; `network` computes the features, "" if none have come yet."""
    objects, known = recognizer.objects(), recognizer.classifier
    own = {} if known is None else {"classifier": kind_of(known)}  # a loaded one may not be that of the settings
    return ModelHeader(
        KIND, network=recognizer.source if known is not None else network, settings={**asdict(settings), **own},
        statistics={"objects": len(objects), "examples": sum(objects.values())},
    )  # fmt: skip


def state_of(recognizer: ObjectRecognizer) -> dict[str, Any]:
    """Return the state of a recognizer, also of one that knows no object."""
    return {EMPTY: np.asarray(True)} if recognizer.classifier is None else recognizer.state()


def restore(recognizer: ObjectRecognizer, state: dict[str, Any], settings: Settings | None = None) -> str:
    """Replace what a recognizer knows by a state that `state_of` returned; return a warning, "" without one.

    With `settings`, objects are recoded as these say. The kind of classifier and its regularization stay those with
    which the objects were learned, which the warning says if it is another kind. Raises StateError, RecognitionError.
    """
    if state.keys() == {EMPTY}:
        recognizer.reset()
        return ""
    recognizer.load(state)
    known = recognizer.classifier
    if known is None or settings is None or kind_of(known) not in KINDS:
        return ""
    known.recoding = recoding_of(settings)
    if kind_of(known) == settings.classifier:
        return ""
    return f"a classifier {kind_of(known)!r} learned these objects and keeps them; reset for {settings.classifier!r}"
