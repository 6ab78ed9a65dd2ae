"""Registry of the classifiers: their names in settings and saved models."""

from collections.abc import Mapping
from typing import Any

from icub_learning.errors import StateError
from icub_learning.features.maps import feature_map_from_state
from icub_learning.models import part, reading_state
from icub_learning.recognition.classifiers.adaptive_classifier import AdaptiveClassifier
from icub_learning.recognition.classifiers.class_moments import ClassMoments
from icub_learning.recognition.classifiers.incremental_classifier import IncrementalClassifier
from icub_learning.recognition.classifiers.kept_views import KeptViews

AnyClassifier = AdaptiveClassifier | IncrementalClassifier
KINDS: dict[str, type[AnyClassifier]] = {"adaptive": AdaptiveClassifier, "rlsc": IncrementalClassifier}


def kind_of(classifier: AnyClassifier) -> str:
    """Return the name of a classifier in KINDS, or the import path of a class from outside this package."""
    own: str | None = getattr(classifier, "path", None)
    return own or next(name for name, kind in KINDS.items() if type(classifier) is kind)


def from_state(kind: str, state: Mapping[str, Any], own: Any = None) -> AnyClassifier:
    """Rebuild a classifier of a kind in KINDS, or of `own` if given; views of a saved "kernel" one are learned anew."""
    if own is not None:
        if kind != own.path:
            raise StateError(f"saved classifier is {kind!r}, here it is {own.path!r}", name="kind", value=kind)
        made: AnyClassifier = own.from_state(state)
        return made
    if kind == "kernel":
        return _learned_from_kept_views(state)
    if kind in ("rebalanced", "polk") or (kind == "adaptive" and "second" not in state):
        text = f"the model is of the classifier {kind!r} of an earlier version, which is gone: teach its objects again"
        raise StateError(text, name="kind", value=kind)
    if kind not in KINDS:
        text = f"saved classifier is {kind!r}, not one of {', '.join(KINDS)}: no file makes a program import it (--own)"
        raise StateError(text, name="kind", value=kind)
    return KINDS[kind].from_state(dict(state))


def _learned_from_kept_views(state: Mapping[str, Any]) -> AdaptiveClassifier:
    with reading_state("a classifier"):
        feature_map = feature_map_from_state(part(state, "feature_map"))
        n_features, recoding = int(state["n_features"]), float(state["recoding"])
        made = AdaptiveClassifier(n_features, recoding, feature_map)
        width = n_features if feature_map is None else feature_map.n_features
        labels = ClassMoments.from_state(part(state, "moments"), width).labels
        kept = KeptViews.from_state(part(state, "kept"), width, len(labels))
        made._learn(kept.examples, [labels[index] for index in kept.targets])
    return made
