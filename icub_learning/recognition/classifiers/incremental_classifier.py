"""Regularized least squares classification, learned example by example (thesis 7.5)."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from icub_learning.arrays import Array, real
from icub_learning.errors import ParameterError, StateError
from icub_learning.features.maps import FeatureMap
from icub_learning.models import nested, part
from icub_learning.recognition.classifiers.classifier import Classifier
from icub_learning.recognition.settings import DEFAULTS
from icub_learning.recursive import RegularizedCovariance


class IncrementalClassifier(Classifier):
    """Regularized least squares on targets coded 0/1, with recoded scores; a new label adds a class at any time.

    Algorithm 2 of the thesis (7.5): W = (Z^T Z + lambda I)^-1 Z^T Y without intercept, and the score of class t is
    (z W)_t (k / gamma_t)^recoding, see Classifier.

    The Cholesky factor of Z^T Z + lambda I and the columns of Z^T Y, which are sums of examples, are updated with each
    example in O(d^2); each call of `scores` solves for z^T A^-1 (Z^T Y) in O(d^2 + d T); `forget` and `merge` cost
    O(d^3). Of a class that is forgotten the kept views (KeptViews) and the mean of the others are taken out of Z^T Z;
    how the others vary stays there, and all does where the rounding of kept views exceeds lambda.

    lambda > 0, the `regularization`, is in squared units of x (of z, with a feature map). The default
    `recoding` is that of the thesis; the node's `rlsc` has 0.9 by default. Raises ParameterError.
    """

    def __init__(
        self, n_features: int, regularization: float = DEFAULTS.regularization, recoding: float = 0.7,
        feature_map: FeatureMap | None = None,
    ) -> None:  # fmt: skip
        super().__init__(n_features, recoding, feature_map)
        self.regularization = real("regularization", regularization, 0.0, low_open=True)
        self._covariance = RegularizedCovariance(self._n_mapped, self.regularization)

    @property
    def weights(self) -> Array:
        """W (d, T) before recoding, solved for at each access in O(d^2 T)."""
        return np.asarray(self._covariance.solve(self._moments.sums)[0].T)

    def _forget(self, index: int) -> None:
        views = self._kept.examples[self._kept.targets == index]
        others = max(int(self._moments.counts[index]) - len(views), 1)  # if there are none, their sum is rounding
        rest = (self._moments.sums[index] - views.sum(axis=0)) / np.sqrt(others)
        with suppress(ParameterError):  # kept views are rounded: with little regularization more than was learned
            self._covariance.withdraw(np.vstack([views, rest]))

    def _merge(self, other: Any) -> None:
        self._covariance.merge(other._covariance)
        self._moments.merge(other._moments)

    def _untrained(self) -> "IncrementalClassifier":
        return IncrementalClassifier(self._n_mapped, self.regularization, 0.0)

    def _own_state(self) -> dict[str, Array]:
        return nested("covariance", self._covariance.state())

    def _read_own_state(self, state: Mapping[str, Any]) -> None:
        self.regularization = float(np.asarray(state["covariance.regularization"]).flat[0])
        self._covariance = found = RegularizedCovariance.from_state(part(state, "covariance"))
        if found.n_features != self._n_mapped or (found.regularization != self.regularization).any():
            raise StateError("covariance does not fit the features or the regularization", name="covariance")

    def _learn(self, z: Array, labels: Sequence[str]) -> None:
        self._covariance.update(z)
        for row, label in zip(z, labels, strict=True):
            self._moments.add(row, label)

    def _unrecoded_scores(self, z: Array) -> Array:
        sums = self._moments.sums
        if z.ndim == 2 and len(z) > len(sums):  # fewer systems to solve for the classes than for the examples
            return np.asarray(z @ self.weights)
        return np.asarray(self._covariance.solve(z)[0] @ sums.T)
