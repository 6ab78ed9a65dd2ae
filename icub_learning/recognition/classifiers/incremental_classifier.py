"""Regularized least squares classification, learned example by example (thesis 7.5)."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from icub_learning.arrays import Array, real
from icub_learning.errors import StateError
from icub_learning.features.maps import FeatureMap
from icub_learning.models import check_version, nested, part, reading_state, scalar
from icub_learning.recognition.classifiers.classifier import (
    RECODING,
    SettableRecoding,
    least_squares_scores,
    read_feature_map,
)
from icub_learning.recursive import RegularizedCovariance

STATE_VERSION = 1


class IncrementalClassifier(SettableRecoding):
    """Regularized least squares on targets coded 0/1, with recoded scores; a new label adds a class at any time.

    Algorithm 2 of the thesis (7.5): W = (Z^T Z + lambda I)^-1 Z^T Y without intercept, and the score of class t is
    (z W)_t (k / gamma_t)^recoding, see Classifier.

    The Cholesky factor of Z^T Z + lambda I and the columns of Z^T Y, which are sums of examples, are updated with each
    example in O(d^2), independent of the number of classes. W is not stored: each call of `scores` solves for
    z^T A^-1 (Z^T Y) in O(d^2 + d T), so scores are always exact.

    Args:
        n_features, recoding, feature_map: see Classifier.
        regularization: lambda > 0, in squared units of x (of z, with a feature map).

    Attributes:
        n_features, regularization, feature_map: as given.
        recoding: as given; may be set at any time.

    Raises:
        ParameterError: an argument is outside its range.
    """

    def __init__(
        self,
        n_features: int,
        regularization: float = 1.0,
        recoding: float = RECODING,
        feature_map: FeatureMap | None = None,
    ) -> None:
        super().__init__(n_features, recoding, feature_map)
        self.regularization = real("regularization", regularization, 0.0, low_open=True)
        self._covariance = RegularizedCovariance(self._n_mapped, self.regularization)

    @property
    def weights(self) -> Array:
        """W (d, T) before recoding, solved for at each access in O(d^2 T)."""
        return np.asarray(self._covariance.solve(self._moments.sums)[0].T)

    def forget(self, label: str) -> None:
        """Remove a class; the scores of the others keep their ratios.

        The examples of the class stay in Z^T Z, as examples that belong to none of the other classes.

        Raises:
            ParameterError: the label is unknown; nothing changes then.
        """
        self._moments.forget(label)

    def merge(self, other: Any) -> None:
        """Add what another classifier learned, as if this one had learned its examples too; O(d^3), once.

        Classes with equal labels become one. Regularization, recoding and confidence of this classifier stay.

        Raises:
            ParameterError: `other` is not an IncrementalClassifier or has other features; nothing changes then.
        """
        self._check_mergeable(other)
        self._covariance.merge(other._covariance)
        self._moments.merge(other._moments)

    def state(self) -> dict[str, Array]:
        """Return all that was learned as a dict of arrays (no pickle needed); see `from_state`."""
        return {
            "version": np.asarray(STATE_VERSION),
            "recoding": np.asarray(self._recoding),
            **nested("covariance", self._covariance.state()),
            **self._common_state(),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "IncrementalClassifier":
        """Rebuild a classifier from `state`. Raises StateError that names the entry which does not fit."""
        with reading_state("a classifier"):
            check_version(state, STATE_VERSION)
            covariance = RegularizedCovariance.from_state(part(state, "covariance"))
            n_features, feature_map = read_feature_map(state)
            regularization = float(covariance.regularization[0])
            classifier = cls(n_features, regularization, scalar(state, "recoding"), feature_map)
            if covariance.n_features != classifier._n_mapped or (covariance.regularization != regularization).any():
                raise StateError("covariance does not fit the features", name="covariance")
            classifier._covariance = covariance
            classifier._read_common_state(state)
        return classifier

    def _learn(self, z: Array, labels: Sequence[str]) -> None:
        self._covariance.update(z)
        for row, label in zip(z, labels, strict=True):
            self._moments.add(row, label)

    def _unrecoded_scores(self, z: Array) -> Array:
        return least_squares_scores(self._covariance, self._moments.sums, z)
