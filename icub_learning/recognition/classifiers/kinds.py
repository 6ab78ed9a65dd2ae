"""Registry of the classifiers: their names in settings and saved models."""

from collections.abc import Mapping
from typing import Any

from icub_learning.errors import StateError
from icub_learning.recognition.classifiers.adaptive_classifier import AdaptiveClassifier
from icub_learning.recognition.classifiers.incremental_classifier import IncrementalClassifier

AnyClassifier = AdaptiveClassifier | IncrementalClassifier
KINDS: dict[str, type[AnyClassifier]] = {"adaptive": AdaptiveClassifier, "rlsc": IncrementalClassifier}


def kind_of(classifier: AnyClassifier) -> str:
    """Return the name of a classifier in KINDS, or the import path of a class from outside this package."""
    own: str | None = getattr(classifier, "path", None)
    return own or next(name for name, kind in KINDS.items() if type(classifier) is kind)


def from_state(kind: str, state: Mapping[str, Any], own: Any = None) -> AnyClassifier:
    """Rebuild a classifier of a kind in KINDS, or of `own` if given. Raises StateError."""
    if own is not None:
        if kind != own.path:
            raise StateError(f"saved classifier is {kind!r}, here it is {own.path!r}", name="kind", value=kind)
        made: AnyClassifier = own.from_state(state)
        return made
    if kind not in KINDS:
        text = "teach again, or name the class: classifier:=PATH of a node, --own PATH of a command"
        reason = f"{kind!r} is not one of {', '.join(KINDS)}: {text} (no file makes a program import it)"
        raise StateError(reason, name="kind", value=kind)
    return KINDS[kind].from_state(dict(state))
