"""The classifiers there are, by the names that settings and saved models know them by."""

from collections.abc import Mapping
from typing import Any

from icub_learning.errors import StateError
from icub_learning.recognition.classifiers.adaptive_classifier import AdaptiveClassifier
from icub_learning.recognition.classifiers.incremental_classifier import IncrementalClassifier
from icub_learning.recognition.classifiers.polk_classifier import PolkClassifier

AnyClassifier = IncrementalClassifier | AdaptiveClassifier | PolkClassifier
KINDS: dict[str, type[AnyClassifier]] = {
    "rlsc": IncrementalClassifier,
    "adaptive": AdaptiveClassifier,
    "polk": PolkClassifier,
}


def kind_of(classifier: AnyClassifier) -> str:
    """The name in KINDS of a classifier."""
    return next(name for name, kind in KINDS.items() if type(classifier) is kind)


def from_state(kind: str, state: Mapping[str, Any]) -> AnyClassifier:
    """A classifier as its `state` method saved it. Raises StateError."""
    if kind not in KINDS:
        raise StateError(f"saved classifier is {kind!r}, not one of {', '.join(KINDS)}", name="kind", value=kind)
    return KINDS[kind].from_state(dict(state))
