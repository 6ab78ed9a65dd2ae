"""What the classifiers have in common: classes, labels, and how sure they are."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array, integer, vector
from icub_learning.errors import ParameterError
from icub_learning.features.maps import FeatureMap, feature_map_from_state, feature_map_state
from icub_learning.models import nested, part
from icub_learning.recognition.classifiers.class_moments import ClassMoments, check_labels
from icub_learning.recognition.classifiers.confidence import Confidence
from icub_learning.recognition.classifiers.labels import check_label
from icub_learning.recursive.checks import LARGEST_VALUE, finite_rows

ENOUGH_EXAMPLES = 5  # of a class, on average, from which on a new label shows what unknown things look like


class Classifier(ABC):
    """Takes examples and classes as they come; predicts the class with the largest recoded score.

    Args:
        n_features: d, length of an example x.
        feature_map: in front of the linear classifier, for nonlinear decisions; None for none.

    Attributes:
        n_features: as given.
        feature_map: as given.

    Raises:
        ParameterError: an argument is outside its range.
    """

    def __init__(self, n_features: int, feature_map: FeatureMap | None = None) -> None:
        self.n_features = integer("n_features", n_features, 1)
        self.feature_map = feature_map
        if feature_map is not None and feature_map.n_inputs != self.n_features:
            raise ParameterError("feature_map", feature_map.n_inputs, f"one of {self.n_features} inputs")
        self._width = self.n_features if feature_map is None else feature_map.n_features
        self._moments = ClassMoments(self._width)
        self._confidence = Confidence()

    @property
    def classes(self) -> list[str]:
        """Labels in the order of the scores: that in which they were first learned."""
        return list(self._moments.labels)

    @property
    def counts(self) -> dict[str, int]:
        """Number of examples taken in of each class."""
        return dict(zip(self._moments.labels, self._moments.counts.tolist(), strict=True))

    @property
    def n_samples(self) -> int:
        """Number of examples taken in of the classes that are known."""
        return sum(self.counts.values())

    def learn(self, x: ArrayLike, label: str | Sequence[str]) -> None:
        """Learn one example or several: equal, up to rounding, to learning them one after the other.

        Args:
            x: (d,) or (n, d).
            label: of all of them, or one for each; 1 to 1024 characters. A new one adds a class.

        Raises:
            ShapeError, NotFiniteError, ParameterError; nothing is learned then.
        """
        rows = finite_rows("x", x, self.n_features, LARGEST_VALUE)
        single = rows.ndim == 1
        labels = check_labels(label, 1 if single else len(rows), single)
        self._learn(self._mapped(rows[None] if single else rows), labels)

    def scores(self, x: ArrayLike) -> Array:
        """Recoded scores in the order of `classes`: (d,) to (T,), (n, d) to (n, T).

        Raises:
            ShapeError, NotFiniteError, ParameterError (so large that its map overflows).
        """
        return self._raw(self._mapped(finite_rows("x", x, self.n_features))) * self._factors()

    def predict(self, x: ArrayLike) -> str | list[str]:
        """Label of the largest score: (d,) to a label, (n, d) to a list of n.

        Raises:
            ParameterError: nothing was learned yet. ShapeError, NotFiniteError.
        """
        scores = self.scores(x)
        if not len(self._moments):
            raise ParameterError("classes", [], "at least one: learn an example first")
        best = scores.argmax(axis=-1)
        return self._moments.labels[best] if scores.ndim == 1 else [self._moments.labels[one] for one in best]

    def confidence(self, scores: ArrayLike) -> float:
        """Probability in [0, 1] that the class with the largest score is right; 0 while there is no class.

        Args:
            scores: (T,), as `scores` gives them, or a mean of several; how the probability comes about: see Confidence.

        Raises:
            ShapeError, NotFiniteError.
        """
        return self._confidence(vector("scores", scores, len(self._moments)), self._factors())

    def calibrate(self, x: ArrayLike, label: str) -> None:
        """Take one example, before it is learned or one that never will be, as evidence for `confidence`.

        Scores do not change. An unknown label is evidence once there are five examples of each class on average: before
        that, known things look unknown too.

        Raises:
            ShapeError, NotFiniteError, ParameterError; nothing changes then.
        """
        row, label = vector("x", x, self.n_features), check_label(label)
        place = self._moments.index(label) if label in self._moments else None
        if place is not None or self._experienced():
            self._confidence.add(self.scores(row), self._factors(), place)

    def rename(self, old: str, new: str) -> None:
        """Give a class another label.

        Raises:
            ParameterError: `old` is unknown, or `new` is another class or no label; nothing changes then.
        """
        self._moments.rename(old, new)

    @abstractmethod
    def _learn(self, z: Array, labels: Sequence[str]) -> None:
        """Learn checked and mapped rows (n, width)."""

    @abstractmethod
    def _raw(self, z: Array) -> Array:
        """Scores without recoding of mapped rows."""

    @abstractmethod
    def _alpha(self) -> float:
        """The recoding in force."""

    def _factors(self) -> Array:
        """What recoding multiplies the scores with: (k / gamma_t)^alpha, (T,)."""
        return np.exp(self._alpha() * self._moments.log_ratio)

    def _experienced(self) -> bool:
        """Whether classes are known well enough to tell what is unknown."""
        return bool(len(self._moments)) and float(self._moments.counts.mean()) >= ENOUGH_EXAMPLES

    def _mapped(self, rows: Array) -> Array:
        return rows if self.feature_map is None else self.feature_map.transform(rows)

    def _check_other(self, other: Any) -> None:
        """Raise ParameterError unless `other` is of the same kind and on the same features."""
        if type(other) is not type(self):
            raise ParameterError("other", type(other).__name__, f"another {type(self).__name__}")
        if other.n_features != self.n_features:
            raise ParameterError("other", other.n_features, f"{self.n_features} features, as this classifier")
        ours, theirs = (feature_map_state(one.feature_map) for one in (self, other))
        if ours.keys() != theirs.keys() or not all(np.array_equal(ours[key], theirs[key]) for key in ours):
            raise ParameterError("other", "one with another feature map", "on the same feature map")

    def _common_state(self) -> dict[str, Array]:
        return {
            "n_features": np.asarray(self.n_features),
            **nested("feature_map", feature_map_state(self.feature_map)),
            **nested("moments", self._moments.state()),
            **nested("confidence", self._confidence.state()),
        }

    def _read_common(self, state: Any) -> None:
        """Take what `_common_state` kept. Raises StateError, KeyError, ValueError."""
        self._moments = ClassMoments.from_state(part(state, "moments"), self._width)
        self._confidence = Confidence.from_state(part(state, "confidence"))


def read_map(state: Any) -> tuple[int, FeatureMap | None]:
    """Number of inputs and feature map of a saved classifier. Raises StateError, KeyError, ValueError."""
    return int(state["n_features"]), feature_map_from_state(part(state, "feature_map"))
