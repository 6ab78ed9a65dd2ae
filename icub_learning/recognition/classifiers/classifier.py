"""What all classifiers share: classes, recoded scores, confidence, and the state of these."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array, integer, real, vector
from icub_learning.errors import ParameterError, StateError
from icub_learning.features.maps import FeatureMap, feature_map_from_state, feature_map_state
from icub_learning.models import check_version, nested, part, reading_state
from icub_learning.recognition.classifiers.class_moments import ClassMoments
from icub_learning.recognition.classifiers.confidence import Confidence
from icub_learning.recognition.classifiers.labels import check_label, check_labels
from icub_learning.recursive import RegularizedCovariance
from icub_learning.recursive.checks import LARGEST_VALUE, finite_rows

STATE_VERSION = 1
MIN_MEAN_COUNT = 5  # examples of a class, on average, before a new label shows how unknown objects score

C = TypeVar("C", bound="Classifier")


class Classifier(ABC):
    """Learns examples and classes incrementally; predicts the class with the largest recoded score.

    Recoding (thesis 7.5) multiplies the score of class t by (k / gamma_t)^alpha, with gamma_t of its examples among k:
    classes with many examples then do not suppress those with few.

    Args:
        n_features: d, length of an example x.
        recoding: alpha in [0, 1]; 0: no recoding, 1: as if all classes had equally many examples.
        feature_map: RandomFourierFeatures or NystromFeatures from x to z, for nonlinear decisions; None: z = x.

    Attributes:
        n_features, feature_map: as given.

    Raises:
        ParameterError: an argument is outside its range.
    """

    SETTINGS: ClassVar[tuple[str, ...]]  # further arguments of the constructor that a state keeps

    def __init__(self, n_features: int, recoding: float, feature_map: FeatureMap | None = None) -> None:
        self.n_features = integer("n_features", n_features, 1)
        self.feature_map = feature_map
        if feature_map is not None and feature_map.n_inputs != self.n_features:
            raise ParameterError("feature_map", feature_map.n_inputs, f"one of {self.n_features} inputs")
        self._n_mapped = self.n_features if feature_map is None else feature_map.n_features  # length of z
        self._recoding = real("recoding", recoding, 0.0, 1.0)
        self._moments = ClassMoments(self._n_mapped)
        self._confidence = Confidence()

    @property
    def recoding(self) -> float:
        """alpha in [0, 1], the recoding in force."""
        return self._recoding

    @property
    def classes(self) -> list[str]:
        """Labels in the order of the scores: that in which they were first learned."""
        return list(self._moments.labels)

    @property
    def counts(self) -> dict[str, int]:
        """Number of examples given of each class."""
        return dict(zip(self._moments.labels, self._moments.counts.tolist(), strict=True))

    @property
    def n_samples(self) -> int:
        """Number of examples given of all present classes."""
        return sum(self.counts.values())

    def learn(self, x: ArrayLike, label: str | Sequence[str]) -> None:
        """Learn one example or several; several give the same result, up to rounding, as one after the other.

        Args:
            x: (d,) or (n, d).
            label: one label for all examples, or one for each; 1 to 1024 characters. A new label adds a class.

        Raises:
            ShapeError, NotFiniteError, ParameterError; nothing is learned then.
        """
        rows = finite_rows("x", x, self.n_features, LARGEST_VALUE)
        single = rows.ndim == 1
        labels = check_labels(label, 1 if single else len(rows), single)
        self._learn(self._mapped(rows[None] if single else rows), labels)

    def scores(self, x: ArrayLike) -> Array:
        """Return recoded scores in the order of `classes`: (T,) for x (d,), (n, T) for (n, d).

        Raises:
            ShapeError, NotFiniteError, ParameterError (x so large that its feature map overflows).
        """
        z = self._mapped(finite_rows("x", x, self.n_features))
        return self._unrecoded_scores(z) * self._moments.recoding_factors(self.recoding)

    def predict(self, x: ArrayLike) -> str | list[str]:
        """Return the label of the largest score for x (d,), or a list of n labels for (n, d).

        Raises:
            ParameterError: nothing was learned yet. ShapeError, NotFiniteError.
        """
        scores, labels = self.scores(x), self._moments.labels
        if not labels:
            raise ParameterError("classes", [], "at least one: learn an example first")
        best = scores.argmax(axis=-1)
        return labels[best] if scores.ndim == 1 else [labels[index] for index in best]

    def confidence(self, scores: ArrayLike) -> float:
        """Return the probability in [0, 1] that the class with the largest score is right; 0 without classes.

        Args:
            scores: (T,) from `scores`, or a mean of several such vectors. See Confidence for how they are used.

        Raises:
            ShapeError, NotFiniteError.
        """
        values = vector("scores", scores, len(self._moments))
        return self._confidence(values, self._moments.recoding_factors(self.recoding))

    def calibrate(self, x: ArrayLike, label: str) -> None:
        """Fit `confidence` to one labelled example that has not been learned; scores do not change.

        An example with a new label counts only once the classes have five examples on average: before that, objects
        that are known score as low as unknown ones.

        Raises:
            ShapeError, NotFiniteError, ParameterError; nothing changes then.
        """
        row, label = vector("x", x, self.n_features), check_label(label)
        index = self._moments.index(label) if label in self._moments else None
        if index is not None or self._can_judge_unknown():
            self._confidence.add(self.scores(row), self._moments.recoding_factors(self.recoding), index)

    def rename(self, old: str, new: str) -> None:
        """Give a class another label.

        Raises:
            ParameterError: `old` is unknown, or `new` is not a valid label or belongs to another class; nothing
                changes then.
        """
        self._moments.rename(old, new)

    @abstractmethod
    def forget(self, label: str) -> None:
        """Remove a class. Raises ParameterError if the label is unknown; nothing changes then."""

    @abstractmethod
    def merge(self, other: Any) -> None:
        """Add what another classifier of the same kind learned; classes with equal labels become one.

        Settings and confidence of this classifier stay.

        Raises:
            ParameterError: `other` is of another kind or has other features; nothing changes then.
        """

    def state(self) -> dict[str, Array]:
        """Return all that was learned as a dict of arrays (no pickle needed); see `from_state`."""
        return {
            "version": np.asarray(STATE_VERSION),
            "n_features": np.asarray(self.n_features),
            **nested("feature_map", feature_map_state(self.feature_map)),
            **nested("moments", self._moments.state()),
            **nested("confidence", self._confidence.state()),
            **{name: np.asarray(getattr(self, name)) for name in self.SETTINGS},
            **self._own_state(),
        }

    @classmethod
    def from_state(cls: type[C], state: Mapping[str, Any]) -> C:
        """Rebuild a classifier from `state`. Raises StateError that names the entry which does not fit."""
        with reading_state("a classifier"):
            check_version(state, STATE_VERSION)
            feature_map = feature_map_from_state(part(state, "feature_map"))
            settings: dict[str, Any] = {name: np.asarray(state[name]).tolist() for name in cls.SETTINGS}
            if feature_map is not None:
                settings["feature_map"] = feature_map
            classifier = cls(int(state["n_features"]), **settings)
            classifier._moments = ClassMoments.from_state(part(state, "moments"), classifier._n_mapped)
            classifier._confidence = Confidence.from_state(part(state, "confidence"))
            classifier._read_own_state(state)
        return classifier

    @abstractmethod
    def _own_state(self) -> dict[str, Array]:
        """Return the entries of `state` that are not common to all classifiers."""

    @abstractmethod
    def _read_own_state(self, state: Mapping[str, Any]) -> None:
        """Take over what `_own_state` returned; classes are read before. Raises StateError, KeyError, ValueError."""

    @abstractmethod
    def _learn(self, z: Array, labels: Sequence[str]) -> None:
        """Learn checked and mapped examples (n, len(z))."""

    @abstractmethod
    def _unrecoded_scores(self, z: Array) -> Array:
        """Return the scores of mapped examples before recoding: (T,) for one, (n, T) for several."""

    def _can_judge_unknown(self) -> bool:
        """Return whether there are enough examples for a new label to show how unknown objects score."""
        return bool(len(self._moments)) and float(self._moments.counts.mean()) >= MIN_MEAN_COUNT

    def _mapped(self, rows: Array) -> Array:
        return rows if self.feature_map is None else self.feature_map.transform(rows)

    def _check_mergeable(self, other: Any) -> None:
        """Raise ParameterError unless `other` is of the same class and uses the same features."""
        if type(other) is not type(self):
            raise ParameterError("other", type(other).__name__, f"another {type(self).__name__}")
        if other.n_features != self.n_features:
            raise ParameterError("other", other.n_features, f"{self.n_features} features, as this classifier")
        ours, theirs = (feature_map_state(one.feature_map) for one in (self, other))
        if ours.keys() != theirs.keys() or not all(np.array_equal(ours[key], theirs[key]) for key in ours):
            raise ParameterError("other", "one with another feature map", "on the same feature map")


class SettableRecoding(Classifier):
    """A classifier whose recoding may be set at any time: learning does not depend on it."""

    @property
    def recoding(self) -> float:
        """alpha in [0, 1]; setting it raises ParameterError if it is outside this range."""
        return self._recoding

    @recoding.setter
    def recoding(self, value: float) -> None:
        self._recoding = real("recoding", value, 0.0, 1.0)


def least_squares_scores(covariance: RegularizedCovariance, sums: Array, z: Array) -> Array:
    """Return z A^-1 b for the class sums b^T (T, d): (T,) for z (d,), (n, T) for (n, d)."""
    if z.ndim == 2 and len(z) > len(sums):  # fewer systems to solve for the classes than for the examples
        return np.asarray(z @ covariance.solve(sums)[0].T)
    return np.asarray(covariance.solve(z)[0] @ sums.T)


def read_covariance(state: Mapping[str, Any], n_features: int, regularization: float) -> RegularizedCovariance:
    """Return the covariance in a saved classifier. Raises StateError unless it has this size and regularization."""
    covariance = RegularizedCovariance.from_state(part(state, "covariance"))
    if covariance.n_features != n_features or (covariance.regularization != regularization).any():
        raise StateError("covariance does not fit the features or the regularization", name="covariance")
    return covariance
