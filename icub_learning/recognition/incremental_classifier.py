"""Regularized least squares classification that takes examples and classes as they come."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array, real, vector
from icub_learning.errors import ParameterError, StateError
from icub_learning.models import nested, part, scalar
from icub_learning.recognition.class_moments import ClassMoments, check_labels
from icub_learning.recognition.confidence import Confidence
from icub_learning.recognition.labels import check_label
from icub_learning.recursive import RegularizedCovariance
from icub_learning.recursive.checks import LARGEST_VALUE, numbers

STATE_VERSION = 1


class IncrementalClassifier:
    """Learns classes from examples, one after the other; a new label adds a class at any moment.

    Algorithm 2 of the thesis (7.5): targets are coded 0/1, W = (Z^T Z + lambda I)^-1 Z^T Y without intercept, and the
    score of class t is (z W)_t (k / gamma_t)^recoding with gamma_t examples of it among k: with recoding, a class with
    few examples is not drowned by those with many.

    Z^T Z + lambda I is kept as a factor that each example is rotated into, Z^T Y as one sum for each class. An example
    thus costs O(d^2), however many classes there are: only one of the sums changes. W is not kept but solved for when
    scores are asked for, z^T A^-1 (Z^T Y): O(d^2 + d T), and so is exact at any moment.

    Args:
        n_features: d, length of an example x.
        regularization: lambda > 0. Unit: that of x squared.
        recoding: alpha in [0, 1]; 0: none, 1: as if all classes had equally many examples.

    Attributes:
        n_features, regularization: as given.
        recoding: as given; may be set at any time.

    Raises:
        ParameterError: an argument is outside its range.
    """

    def __init__(self, n_features: int, regularization: float = 1.0, recoding: float = 0.7) -> None:
        self._covariance = RegularizedCovariance(n_features, real("regularization", regularization, 0.0, low_open=True))
        self.n_features = self._covariance.n_features
        self.regularization = float(regularization)
        self._moments = ClassMoments(self.n_features)
        self._confidence = Confidence()
        self.recoding = recoding

    @property
    def recoding(self) -> float:
        """alpha, in [0, 1]. Setting it raises ParameterError outside of that."""
        return self._recoding

    @recoding.setter
    def recoding(self, value: float) -> None:
        self._recoding = real("recoding", value, 0.0, 1.0)

    @property
    def classes(self) -> list[str]:
        """Labels in the order of the scores: that in which they were first learned."""
        return list(self._moments.labels)

    @property
    def counts(self) -> dict[str, int]:
        """Number of examples learned of each class."""
        return dict(zip(self._moments.labels, self._moments.counts.tolist(), strict=True))

    @property
    def n_samples(self) -> int:
        """k, number of examples learned of the classes that are known."""
        return int(self._moments.counts.sum())

    @property
    def weights(self) -> Array:
        """W (d, T), without recoding; solved for at each call, O(d^2 T)."""
        return self._covariance.solve(self._moments.sums)[0].T.copy()

    def learn(self, x: ArrayLike, label: str | Sequence[str]) -> None:
        """Learn one example or several: equal, up to rounding, to learning them one after the other.

        Args:
            x: (d,) or (n, d).
            label: of all of them, or one for each; 1 to 1024 characters.

        Raises:
            ShapeError, NotFiniteError, ParameterError; nothing is learned then.
        """
        rows = numbers("x", x, self.n_features, LARGEST_VALUE)
        single = rows.ndim == 1
        labels = check_labels(label, 1 if single else len(rows), single)
        self._covariance.update(rows)
        for row, one in zip(rows[None] if single else rows, labels, strict=True):
            self._moments.add(row, one)

    def scores(self, x: ArrayLike) -> Array:
        """Recoded scores in the order of `classes`: (d,) to (T,), (n, d) to (n, T).

        Raises:
            ShapeError, NotFiniteError.
        """
        rows = numbers("x", x, self.n_features)
        sums = self._moments.sums
        if rows.ndim == 2 and len(rows) > len(sums):  # fewer solutions than for each row
            raw = rows @ self._covariance.solve(sums)[0].T
        else:
            raw = self._covariance.solve(rows)[0] @ sums.T
        return raw * self._factors()

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

        Scores do not change. While there is no class nothing happens: there is no label to be sure of.

        Raises:
            ShapeError, NotFiniteError, ParameterError; nothing changes then.
        """
        row, label = vector("x", x, self.n_features), check_label(label)
        if len(self._moments):
            place = self._moments.index(label) if label in self._moments else None
            self._confidence.add(self.scores(row), self._factors(), place)

    def forget(self, label: str) -> None:
        """Drop a class; scores of the others keep their proportions.

        Its examples stay in Z^T Z as examples of none of the other classes.

        Raises:
            ParameterError: the label is unknown; nothing changes then.
        """
        self._moments.forget(label)

    def rename(self, old: str, new: str) -> None:
        """Give a class another label.

        Raises:
            ParameterError: `old` is unknown, or `new` is another class or no label; nothing changes then.
        """
        self._moments.rename(old, new)

    def merge(self, other: "IncrementalClassifier") -> None:
        """Pool what another one learned: as if this one had seen all its examples. O(d^3), once.

        Equal labels are one class. Regularization and recoding stay as they are here.

        Raises:
            ParameterError: `other` is no IncrementalClassifier or has other features; nothing changes then.
        """
        if not isinstance(other, IncrementalClassifier):
            raise ParameterError("other", type(other).__name__, "an IncrementalClassifier")
        self._covariance.merge(other._covariance)
        self._moments.merge(other._moments)

    def state(self) -> dict[str, Array]:
        """All that was learned, as a dict of arrays (no pickle needed); see `from_state`."""
        return {
            "version": np.asarray(STATE_VERSION),
            "recoding": np.asarray(self._recoding),
            **nested("covariance", self._covariance.state()),
            **nested("moments", self._moments.state()),
            **nested("confidence", self._confidence.state()),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "IncrementalClassifier":
        """Rebuild a classifier from `state`. Raises StateError that names the entry which does not fit."""
        try:
            version = scalar(state, "version")
            if version != STATE_VERSION:
                raise StateError(f"state has version {version}, this release reads {STATE_VERSION}", name="version")
            covariance = RegularizedCovariance.from_state(part(state, "covariance"))
            classifier = cls(covariance.n_features, float(covariance.regularization[0]), scalar(state, "recoding"))
            classifier._covariance = covariance
            classifier._moments = ClassMoments.from_state(part(state, "moments"), covariance.n_features)
            classifier._confidence = Confidence.from_state(part(state, "confidence"))
        except StateError:
            raise
        except KeyError as error:
            raise StateError(f"state lacks the entry {error}", name=str(error)) from None
        except (TypeError, ValueError) as error:
            raise StateError(f"state does not describe a classifier: {error}") from None
        return classifier

    def _factors(self) -> Array:
        """(k / gamma_t)^recoding, (T,)."""
        counts = self._moments.counts
        return (counts.sum() / counts) ** self._recoding
