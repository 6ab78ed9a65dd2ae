"""How a model of objects describes itself in its file, how large it may be, and the state of one that knows nothing."""

from dataclasses import asdict
from typing import Any

import numpy as np

from icub_learning.models.header import ModelHeader
from icub_learning.recognition.recognizer import ObjectRecognizer
from icub_learning.recognition.settings import Settings

KIND = "object_recognition"
EMPTY = "nothing_taught"  # the only entry of the state of a recognizer that knows no object
MOST_SQUARES = 6  # matrices of all features by all features that a classifier may hold, beside rows of objects
MOST_FEATURES = 4096  # of a network, where the features of this one have not been seen yet
SMALL_PARTS = 64 * 2**20  # [bytes]: rows of objects


def largest_bytes(n_features: int | None) -> int:
    """Return how many bytes a model of `n_features` may have; None: any number up to 4096."""
    return 8 * MOST_SQUARES * (n_features or MOST_FEATURES) ** 2 + SMALL_PARTS


def describe(settings: Settings, recognizer: ObjectRecognizer, network: str) -> ModelHeader:
    """Return the description of what a recognizer knows, from the features of `network`; "" where none came yet."""
    objects = recognizer.objects()
    return ModelHeader(
        KIND,
        network=recognizer.source if recognizer.classifier is not None else network,
        settings=asdict(settings),
        statistics={"objects": len(objects), "examples": sum(objects.values())},
    )


def state_of(recognizer: ObjectRecognizer) -> dict[str, Any]:
    """Return what a recognizer was taught, also if that is nothing."""
    return {EMPTY: np.asarray(True)} if recognizer.classifier is None else recognizer.state()


def restore(recognizer: ObjectRecognizer, state: dict[str, Any]) -> None:
    """Replace what a recognizer was taught by what `state_of` returned. Raises StateError, RecognitionError."""
    if state.keys() == {EMPTY}:
        recognizer.reset()
    else:
        recognizer.load(state)
