"""Regularized least squares that counts all classes alike, however many examples each has."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from icub_learning.arrays import Array, real
from icub_learning.features.maps import FeatureMap
from icub_learning.models import nested, part
from icub_learning.recognition.classifiers.classifier import Classifier
from icub_learning.recognition.classifiers.second_moments import SecondMoments
from icub_learning.recognition.settings import DEFAULTS


class RebalancedClassifier(Classifier):
    """Rebalanced least squares (thesis 7.4, eq. 7.22), learned example by example and exact at any time.

    W = (sum_t w_t Z_t^T Z_t + lambda I)^-1 (w_1 b_1, ..., w_T b_T) with w_t = k / (T gamma_t) for gamma_t of k examples
    in class t. The weights of all classes change with each example; with the second moment of each class kept by
    itself, the weighted one is a sum. W is solved for when scores are asked for after a change.

    Args:
        n_features, feature_map: see Classifier.
        regularization: lambda > 0, in squared units of x (of z, with a feature map).

    Attributes:
        n_features, regularization, feature_map: as given.

    Raises:
        ParameterError: an argument is outside its range.
    """

    SETTINGS = ("regularization",)

    def __init__(
        self,
        n_features: int,
        regularization: float = DEFAULTS.regularization,
        feature_map: FeatureMap | None = None,
    ) -> None:
        super().__init__(n_features, 0.0, feature_map)
        self.regularization = real("regularization", regularization, 0.0, low_open=True)
        self._seconds = SecondMoments(self._n_mapped)
        self._solved: Array | None = None

    @property
    def weights(self) -> Array:
        """W (d, T)."""
        if self._solved is None:
            counts = self._moments.counts
            balance = counts.sum() / (len(counts) * counts)
            sums = balance[:, None] * self._moments.sums
            self._solved = self._seconds.solve(balance, sums, self.regularization)
        solved: Array = self._solved.copy()
        return solved

    def _own_state(self) -> dict[str, Array]:
        return nested("seconds", self._seconds.state())

    def _read_own_state(self, state: Mapping[str, Any]) -> None:
        self._seconds = SecondMoments.from_state(part(state, "seconds"), self._n_mapped, len(self._moments))

    def _learn(self, z: Array, labels: Sequence[str]) -> None:
        for row, label in zip(z, labels, strict=True):
            self._moments.add(row, label)
            self._seconds.add(row, self._moments.index(label))
        self._solved = None

    def _forget(self, index: int) -> None:
        self._seconds.forget(index)
        self._solved = None

    def _merge(self, other: Any) -> None:
        self._moments.merge(other._moments)
        for source, label in enumerate(other._moments.labels):
            for row in other._seconds.rows(source):
                self._seconds.add(row, self._moments.index(label))
        self._solved = None

    def _untrained(self) -> "RebalancedClassifier":
        return RebalancedClassifier(self._n_mapped, self.regularization)

    def _unrecoded_scores(self, z: Array) -> Array:
        if not len(self._moments):
            return np.zeros((*z.shape[:-1], 0))
        return np.asarray(z @ self.weights)
