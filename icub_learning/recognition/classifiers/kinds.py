"""Registry of the classifiers: their names in settings and saved models."""

from collections.abc import Mapping
from typing import Any

from icub_learning.errors import StateError
from icub_learning.recognition.classifiers.adaptive_classifier import AdaptiveClassifier
from icub_learning.recognition.classifiers.dictionary_classifier import DictionaryClassifier
from icub_learning.recognition.classifiers.incremental_classifier import IncrementalClassifier
from icub_learning.recognition.classifiers.kernel_classifier import KernelClassifier
from icub_learning.recognition.classifiers.rebalanced_classifier import RebalancedClassifier

AnyClassifier = (
    KernelClassifier | RebalancedClassifier | IncrementalClassifier | AdaptiveClassifier | DictionaryClassifier
)
KINDS: dict[str, type[AnyClassifier]] = {
    "kernel": KernelClassifier,
    "rebalanced": RebalancedClassifier,
    "rlsc": IncrementalClassifier,
    "adaptive": AdaptiveClassifier,
    "polk": DictionaryClassifier,
}


def kind_of(classifier: AnyClassifier) -> str:
    """Return the name of a classifier in KINDS."""
    return next(name for name, kind in KINDS.items() if type(classifier) is kind)


def from_state(kind: str, state: Mapping[str, Any]) -> AnyClassifier:
    """Rebuild a classifier of a kind in KINDS from what its `state` returned. Raises StateError."""
    if kind not in KINDS:
        raise StateError(f"saved classifier is {kind!r}, not one of {', '.join(KINDS)}", name="kind", value=kind)
    return KINDS[kind].from_state(dict(state))
