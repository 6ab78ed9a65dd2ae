"""Base of all classifiers: classes, recoded scores, confidence, and their state."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icub_learning.arrays import Array, integer, real, vector
from icub_learning.errors import ParameterError, ShapeError
from icub_learning.features.maps import FeatureMap, feature_map_from_state, feature_map_state
from icub_learning.models import check_version, nested, part, reading_state
from icub_learning.recognition.classifiers.calibration import Calibration, Confidence, Judgement
from icub_learning.recognition.classifiers.class_moments import ClassMoments, recoding_factors
from icub_learning.recognition.classifiers.kept_views import MAX_VIEWS, KeptViews
from icub_learning.recognition.classifiers.labels import check_labels
from icub_learning.recognition.classifiers.whitened import Statistics
from icub_learning.recursive.checks import LARGEST_VALUE, finite_rows

STATE_VERSION = 1  # version of the saved state
OPPOSITE_WEIGHT = 0.5  # weight of a view judged without half of its class, which leaves less; 1 without a third

C = TypeVar("C", bound="Classifier")


class Classifier(ABC):
    """Learns examples and classes incrementally; predicts the class with the largest recoded score.

    Recoding (thesis 7.5) multiplies the score of class t by (k / gamma_t)^alpha, with gamma_t of its examples among k:
    classes with many examples then do not suppress those with few.

    Args:
        n_features: d, length of an example x.
        recoding: alpha in [0, 1]; 0: no recoding, 1: as if all classes had equally many examples. It may be set at any
            time, because learning does not depend on it.
        feature_map: RandomFourierFeatures or NystromFeatures from x to z, for nonlinear decisions; None: z = x.
    """

    # Last calibration and confidence; None if there was none since a class was removed or a setting changed.
    _last_calibration: Calibration | None
    _last_confidence: Confidence | None

    def __init__(self, n_features: int, recoding: float, feature_map: FeatureMap | None = None) -> None:
        self.n_features, self.feature_map = integer("n_features", n_features, 1), feature_map
        if feature_map is not None and feature_map.n_inputs != self.n_features:
            raise ParameterError("feature_map", feature_map.n_inputs, f"one of {self.n_features} inputs")
        self._n_mapped = self.n_features if feature_map is None else feature_map.n_features  # length of z
        self._recoding = real("recoding", recoding, 0.0, 1.0)
        self._moments, self._kept = ClassMoments(self._n_mapped), KeptViews(self._n_mapped)
        self._forget_calibration()

    @property
    def recoding(self) -> float:
        """alpha in [0, 1]; setting it raises ParameterError if it is outside this range."""
        return self._recoding

    @recoding.setter
    def recoding(self, value: float) -> None:
        self._recoding = real("recoding", value, 0.0, 1.0)
        self._forget_calibration()

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

    @property
    def recall(self) -> Array:
        """Share in [0, 1] of the held-back views of each class named right, (T,), as last calibrated; with one more
        view of average recall, so that one outcome does not decide. NaN for new classes, and those of too few views."""
        known = np.empty(0) if self._last_confidence is None else self._last_confidence.recall
        return np.concatenate([known, np.full(len(self._moments) - len(known), np.nan)])

    def learn(self, x: ArrayLike, label: str | Sequence[str]) -> None:
        """Learn examples x (d,) or (n, d), as one after the other; `label` is one for all or one for each, and a new
        one adds a class. Raises ShapeError, NotFiniteError, ParameterError; nothing is learned then."""
        rows = finite_rows("x", x, self.n_features, LARGEST_VALUE)
        single = rows.ndim == 1
        labels = check_labels(label, 1 if single else len(rows), single)
        mapped = self._mapped(rows[None] if single else rows)
        self._learn(mapped, labels)
        self._keep(mapped, labels)
        self._outdated = True

    def scores(self, x: ArrayLike) -> Array:
        """Return recoded scores by `classes`, (T,) for x (d,), (n, T) for (n, d). Raises ShapeError, NotFiniteError."""
        return self._unrecoded_scores(self._mapped(finite_rows("x", x, self.n_features))) * self._factors()

    def predict(self, x: ArrayLike) -> str | list[str]:
        """Return the label of the largest score for x (d,), or n labels for (n, d). Raises ParameterError."""
        scores, labels = self.scores(x), self._moments.labels
        if not labels:
            raise ParameterError("classes", [], "at least one: learn an example first")
        best = scores.argmax(axis=-1)
        return labels[best] if scores.ndim == 1 else [labels[index] for index in best]

    def confidence(self, scores: ArrayLike) -> float:
        """Return the probability in [0, 1] that the class with the largest of `scores` (T,), or of a mean of several,
        is right, if the object is a known one; 0 without classes. Raises ShapeError, NotFiniteError.

        It is fitted to the kept views, each scored twice without a part of its class: one in the order of teaching
        (KeptViews.parts), which may be too much like the others, and an opposite one, which is less like them than
        later queries are.
        """
        return self._confidence(vector("scores", scores, len(self._moments)), self._factors())

    def typicality(self, x: ArrayLike) -> float | Array:
        """Return how typical views x (d,) or (n, d) are of the known objects, in [0, 1]: near 0 for what is new.

        It is the share of views of known objects whose largest score, by a machine that has not learned them, is as low
        as that of x (see Typicality): calling views below p new rejects about a share p of them. 0 without classes.
        """
        rows, calibration = finite_rows("x", x, self.n_features), self._calibration
        found = calibration.typicality(calibration.scores_of(self._mapped(np.atleast_2d(rows)))[1])
        return float(found[0]) if rows.ndim == 1 else found

    def judge(self, x: ArrayLike, recalibrate: bool = True) -> Judgement:
        """Return label, scores, confidence and typicality of a view x (d,), or of views (n, d) of one object together.

        `recalibrate` calibrates if something was learned since, which takes about a second with 800 views. Without it,
        confidence and typicality come from the last calibration, and all is as without classes if there was none; the
        scores are up to date, except those of an AdaptiveClassifier, which come from the last calibration, too, and are
        0 for a class that was added since. Raises ShapeError, NotFiniteError.
        """
        rows = np.atleast_2d(finite_rows("x", x, self.n_features))
        if not len(rows):
            raise ShapeError("x", rows.shape, f"(n, {self.n_features}) with n of at least 1")
        if recalibrate:
            self.calibrate()
        calibration, confidence = self._last_calibration, self._last_confidence
        if not len(self._moments) or calibration is None or confidence is None:
            return Judgement("", np.empty(0), 0.0, 0.0)
        unrecoded, factors, mixed = self._judged_scores(self._mapped(rows), calibration)
        scores = (unrecoded * factors).mean(axis=0)
        nearest = self._moments.labels[int(scores.argmax())]
        typicality = float(calibration.typicality(mixed.mean(axis=0, keepdims=True))[0])
        return Judgement(nearest, scores, confidence(scores, factors), typicality)

    def calibrate(self) -> None:
        """Calibrate confidence and typicality if something has changed since; querying them does the same."""
        if len(self._moments):
            self._last_calibration, self._last_confidence = self._calibration, self._confidence

    def forget(self, label: str) -> None:
        """Remove a class. Raises ParameterError if the label is unknown; nothing changes then."""
        index = self._moments.index(label)
        self._forget(index)
        self._moments.forget(label)
        self._kept.forget(index)
        self._forget_calibration()

    def merge(self, other: Any) -> None:
        """Add what another classifier learned; equal labels become one. Raises ParameterError: it does not fit."""
        self._check_mergeable(other)
        kept, labels = other._kept, [other._moments.labels[index] for index in other._kept.targets]
        views = zip(kept.rows, labels, kept.lengths, strict=True)
        self._merge(other)
        for view, label, length in views:
            self._kept.add(view, self._moments.index(label), length)
        self._forget_calibration()

    def rename(self, old: str, new: str) -> None:
        """Give a class another label. Raises ParameterError: `old` is unknown, or `new` in use; nothing changes."""
        self._moments.rename(old, new)

    def state(self) -> dict[str, Array]:
        """Return all that was learned as a dict of arrays (no pickle needed); see `from_state`."""
        return {
            "version": np.asarray(STATE_VERSION), "n_features": np.asarray(self.n_features),
            **nested("feature_map", feature_map_state(self.feature_map)), "recoding": np.asarray(self._recoding),
            **nested("moments", self._moments.state()), **nested("kept", self._kept.state()), **self._own_state(),
        }  # fmt: skip

    @classmethod
    def from_state(cls: type[C], state: Mapping[str, Any]) -> C:
        """Rebuild a classifier from `state`. Raises StateError that names the entry which does not fit."""
        with reading_state("a classifier"):
            check_version(state, STATE_VERSION)
            feature_map = feature_map_from_state(part(state, "feature_map"))
            recoding = np.asarray(state["recoding"]).tolist()
            classifier = cls(int(state["n_features"]), recoding=recoding, feature_map=feature_map)
            classifier._moments = ClassMoments.from_state(part(state, "moments"), classifier._n_mapped)
            kept = part(state, "kept")  # missing in models saved by 0.1: then every view is typical
            if kept:
                classifier._kept = KeptViews.from_state(kept, classifier._n_mapped, len(classifier._moments))
            classifier._read_own_state(state)
        return classifier

    @abstractmethod
    def _own_state(self) -> dict[str, Array]:
        """Return the entries of `state` that are not common to all classifiers."""

    @abstractmethod
    def _read_own_state(self, state: Mapping[str, Any]) -> None:
        """Restore what `_own_state` returned, after the classes were read."""

    @abstractmethod
    def _learn(self, z: Array, labels: Sequence[str]) -> None:
        """Learn checked and mapped examples (n, len(z))."""

    @abstractmethod
    def _unrecoded_scores(self, z: Array) -> Array:
        """Return the scores of mapped examples before recoding: (T,) for one, (n, T) for several."""

    @abstractmethod
    def _merge(self, other: Any) -> None:
        """Add what `other` learned, kept views excepted. Raises ParameterError before anything changes."""

    @abstractmethod
    def _untrained(self) -> "Classifier":
        """Return an untrained classifier of mapped examples, with the settings in force and no recoding."""

    def _forget(self, index: int) -> None:  # noqa: B027
        """Remove what belongs to the class at `index` beside sum, count and kept views, which are still there."""

    def _keep(self, z: Array, labels: Sequence[str]) -> None:
        """Keep mapped examples that were learned."""
        for row, label in zip(z, labels, strict=True):
            self._kept.add(row, self._moments.index(label))

    def _factors(self) -> Array:
        """Return the recoding factors (T,) by which `scores` multiplies."""
        return recoding_factors(self._moments.counts, self.recoding)

    def _statistics(self) -> Statistics:
        rows, targets = self._kept.rows, self._kept.targets
        members = np.eye(len(self._moments))[targets]
        return Statistics(rows, targets, members.T @ rows, members.sum(axis=0), None)

    def _forget_calibration(self) -> None:
        self._last_calibration = self._last_confidence = None
        self._outdated = False

    @property
    def _calibration(self) -> Calibration:
        if self._outdated:
            self._forget_calibration()
        if self._last_calibration is None:
            counts = np.minimum(self._moments.counts, MAX_VIEWS)
            usual = self._kept.n_different(counts).sum() / max(len(counts), 1)  # one with more views is not lowered
            factors = recoding_factors(np.minimum(counts, usual), self._recoding)
            self._last_calibration = Calibration(self._kept, self._statistics(), factors)
        return self._last_calibration

    @property
    def _confidence(self) -> Confidence:
        if self._outdated:
            self._forget_calibration()
        if self._last_confidence is None:
            kept, factors = self._kept, self._factors()
            found = [self._held_back(parts) for parts in (kept.parts(), kept.opposite_parts(2))]
            outcomes = np.concatenate([scores[judged] for scores, judged in found])
            targets = np.concatenate([kept.targets[judged] for _, judged in found])
            weights = np.repeat([1.0, OPPOSITE_WEIGHT], [judged.sum() for _, judged in found])
            self._last_confidence = Confidence().fit(outcomes * factors, factors, targets, weights)
        return self._last_confidence

    def _judged_scores(self, z: Array, calibration: Calibration) -> tuple[Array, Array, Array]:
        """Return the scores (n, T) of mapped examples before recoding, the recoding factors (T,), and mixed scores."""
        return self._unrecoded_scores(z), self._factors(), calibration.scores_of(z)[1]

    def _held_back(self, parts: NDArray[np.intp]) -> tuple[Array, NDArray[np.bool_]]:
        """Return unrecoded scores (n, T) of views held back by part, and which (n,) of them could be judged."""
        rows, targets = self._kept.examples, self._kept.targets
        found, judged = np.zeros((len(rows), len(self._moments))), np.zeros(len(rows), dtype=bool)
        for own in np.unique(parts):
            learned = parts != own
            held = ~learned & np.isin(targets, targets[learned])  # no view of a class that is not learned is judged
            if not held.any():
                continue
            classifier = self._untrained()
            classifier._learn(rows[learned], [self._moments.labels[index] for index in targets[learned]])
            columns = [self._moments.index(label) for label in classifier.classes]
            found[np.ix_(np.flatnonzero(held), np.array(columns))] = classifier._unrecoded_scores(rows[held])
            judged |= held
        return found, judged

    def _mapped(self, rows: Array) -> Array:
        return rows if self.feature_map is None else self.feature_map.transform(rows)

    def _check_mergeable(self, other: Any) -> None:
        if type(other) is not type(self):
            raise ParameterError("other", type(other).__name__, f"another {type(self).__name__}")
        if other.n_features != self.n_features:
            raise ParameterError("other", other.n_features, f"{self.n_features} features, as this classifier")
        ours, theirs = (feature_map_state(one.feature_map) for one in (self, other))
        if ours.keys() != theirs.keys() or not all(np.array_equal(ours[key], theirs[key]) for key in ours):
            raise ParameterError("other", "one with another feature map", "on the same feature map")
