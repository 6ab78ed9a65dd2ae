"""Adapter from a classifier of another package to the interface that the recognizer needs."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array, finite, vector
from icub_learning.errors import ParameterError, StateError
from icub_learning.models import nested, part, reading_state, scalar
from icub_learning.own_class import OwnClass, running_own
from icub_learning.recognition.classifiers.calibration import Confidence, Judgement, Typicality
from icub_learning.recognition.classifiers.labels import pack_labels, unpack_labels
from icub_learning.recognition.settings import OWN_CLASSIFIER

KEPT = 200  # newest outcomes that are kept: enough to know a share of 5 % within 1.5 percentage points


class OwnClassifier(OwnClass):
    """Adapter of a class that has `learn`, `scores`, `classes`, `state` and `from_state`; see OwnClass.of.

    The class is called with the length d of an example. Confidence and typicality come from the newest 200 examples of
    classes that were known before, each scored before it was learned. `forget(label)`, `rename(old, new)` and
    `merge(other)` call the methods of the class, and are refused if it lacks them. Raises ParameterError.
    """

    SETTING, METHODS = "classifier", OWN_CLASSIFIER

    def __init__(self, n_features: int) -> None:
        self._begin(n_features, self.made(n_features), {}, np.zeros((0, 3)))
        with running_own(self.SETTING, self.path, "a class whose objects have the attribute classes"):
            self.classes  # noqa: B018 (the labels, in the order of the scores)

    def _begin(self, n_features: int, classifier: Any, counts: dict[str, int], outcomes: Array) -> None:
        self.n_features, self.classifier, self.counts = n_features, classifier, counts
        self._outcomes = outcomes  # (n, 3): an example's two largest scores, and 1 if the best class was wrong
        self._judges: tuple[Confidence, Typicality, float] | None = None

    @property
    def classes(self) -> list[str]:
        """Labels in the order of the scores."""
        return list(self.classifier.classes)

    @property
    def recall(self) -> Array:
        """NaN for each class, (T,): no views are kept that could be held out to measure it."""
        return np.full(len(self.counts), np.nan)

    def learn(self, x: ArrayLike, label: str) -> None:
        """Learn one example x (d,). Raises what the class raises; ShapeError, NotFiniteError: bad x or scores."""
        row, outcome = vector("x", x, self.n_features), []
        if label in self.counts:
            scores = self.scores(row)
            outcome = [[*_largest(scores), float(self.classes[int(scores.argmax())] != label)]]
        self.classifier.learn(row, label)
        self.counts[label] = self.counts.get(label, 0) + 1
        self._outcomes = np.concatenate([self._outcomes, np.reshape(outcome, (-1, 3))])[-KEPT:]

    def scores(self, x: ArrayLike) -> Array:
        """Return the scores (T,) of x (d,). Raises ShapeError, NotFiniteError."""
        return vector("scores", self.classifier.scores(vector("x", x, self.n_features)), len(self.classes))

    def calibrate(self) -> None:
        """Fit confidence and typicality to the kept outcomes."""
        pairs, wrong = self._outcomes[:, :2], self._outcomes[:, 2].astype(np.intp)
        low = float(pairs.min(initial=0.0))  # Confidence needs scores of at least 0
        self._judges = Confidence().fit(pairs - low, np.ones(2), wrong), Typicality(pairs[:, 0]), low

    def judge(self, x: ArrayLike, recalibrate: bool = True) -> Judgement:
        """Return the judgement of a view x (d,), or of views (n, d) of one object together; see Classifier.judge."""
        if recalibrate:
            self.calibrate()
        if not self.counts or self._judges is None:
            return Judgement("", np.empty(0), 0.0, 0.0)
        scores = np.mean([self.scores(row) for row in np.atleast_2d(finite("x", x))], axis=0)
        confidence, typicality, low = self._judges
        largest = _largest(scores)
        nearest, certain = self.classes[int(scores.argmax())], confidence(largest - low, np.ones(2))
        return Judgement(nearest, scores, certain, float(typicality(largest[:1])[0]))

    def forget(self, label: str) -> None:
        """Forget a class. Raises ParameterError: it is unknown, or the user's class has no such method."""
        self._check("label", label, known=True)
        self.optional(self.classifier, "forget")(label)
        del self.counts[label]

    def rename(self, old: str, new: str) -> None:
        """Give a class another label. Raises ParameterError: see `forget`, or `new` is in use."""
        self._check("old_label", old, known=True)
        self._check("new_label", new, known=False)
        self.optional(self.classifier, "rename")(old, new)
        self.counts = {new if label == old else label: count for label, count in self.counts.items()}

    def merge(self, other: "OwnClassifier") -> None:
        """Add what another classifier learned. Raises ParameterError: see `forget`."""
        self.optional(self.classifier, "merge")(other.classifier)
        self.counts = dict(Counter(self.counts) + Counter(other.counts))
        self._outcomes = np.concatenate([other._outcomes, self._outcomes])[-KEPT:]

    def state(self) -> dict[str, Array]:
        """Return all that was learned as a dict of arrays; see `from_state`."""
        return {
            "n_features": np.asarray(self.n_features), "labels": pack_labels(self.counts),
            "counts": np.array(list(self.counts.values()), np.int64), "outcomes": self._outcomes.copy(),
            **nested("own", self.classifier.state()),
        }  # fmt: skip

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "OwnClassifier":
        """Rebuild from `state`. Raises StateError; ParameterError: the class cannot read its part."""
        with running_own(cls.SETTING, cls.path, "able to read its saved state"):
            classifier = cls.kind.from_state(part(state, "own"))
        with reading_state(f"a {cls.path}"):
            labels = unpack_labels("labels", state["labels"])
            counts = dict(zip(labels, np.asarray(state["counts"]).tolist(), strict=True))
            outcomes = finite("outcomes", state["outcomes"])
            if outcomes.shape[1:] != (3,) or sorted(classifier.classes) != sorted(labels):
                raise StateError("outcomes or labels do not fit the classifier", name="labels", value=labels)
            made = cls.__new__(cls)
            made._begin(int(scalar(state, "n_features")), classifier, counts, outcomes)
        return made

    def _check(self, name: str, label: str, *, known: bool) -> None:
        if (label in self.counts) != known:
            raise ParameterError(name, label, "a known object" if known else "no known object")


def _largest(scores: Array) -> Array:
    """Return the two largest scores, the larger one first; with one class the second is 0, or the same if negative."""
    return np.append(np.sort(scores)[::-1], min(0.0, scores.max()))[:2]
