"""Regularized least squares classification that takes examples and classes as they come."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from icub_learning.arrays import Array, real
from icub_learning.errors import StateError
from icub_learning.features.maps import FeatureMap
from icub_learning.models import check_version, nested, part, reading_state, scalar
from icub_learning.recognition.classifiers.classifier import Classifier, read_map
from icub_learning.recognition.settings import DEFAULTS
from icub_learning.recursive import RegularizedCovariance

STATE_VERSION = 1


class IncrementalClassifier(Classifier):
    """Learns classes from examples, one after the other; a new label adds a class at any moment.

    Algorithm 2 of the thesis (7.5): targets are coded 0/1, W = (Z^T Z + lambda I)^-1 Z^T Y without intercept, and the
    score of class t is (z W)_t (k / gamma_t)^recoding with gamma_t examples of it among k: with recoding, a class with
    few examples is not drowned by those with many.

    Z^T Z + lambda I is kept as a factor that each example is rotated into, Z^T Y as one sum for each class. An example
    thus costs O(d^2), however many classes there are: only one of the sums changes. W is not kept but solved for when
    scores are asked for, z^T A^-1 (Z^T Y): O(d^2 + d T), and so is exact at any moment.

    Args:
        n_features: d, length of an example x.
        regularization: lambda > 0. Unit: that of x squared (of z, where a feature map gives z).
        recoding: alpha in [0, 1]; 0: none, 1: as if all classes had equally many examples.
        feature_map: RandomFourierFeatures or NystromFeatures from x to z, for nonlinear decisions; None: z = x.

    Attributes:
        n_features, regularization, feature_map: as given.
        recoding: as given; may be set at any time.

    Raises:
        ParameterError: an argument is outside its range.
    """

    def __init__(
        self,
        n_features: int,
        regularization: float = DEFAULTS.regularization,
        recoding: float = DEFAULTS.recoding,
        feature_map: FeatureMap | None = None,
    ) -> None:
        super().__init__(n_features, feature_map)
        self.regularization = real("regularization", regularization, 0.0, low_open=True)
        self._covariance = RegularizedCovariance(self._width, self.regularization)
        self.recoding = recoding

    @property
    def recoding(self) -> float:
        """alpha, in [0, 1]. Setting it raises ParameterError outside of that."""
        return self._recoding

    @recoding.setter
    def recoding(self, value: float) -> None:
        self._recoding = real("recoding", value, 0.0, 1.0)

    @property
    def weights(self) -> Array:
        """W (d, T), without recoding; solved for at each call, O(d^2 T)."""
        return self._covariance.solve(self._moments.sums)[0].T.copy()

    def forget(self, label: str) -> None:
        """Drop a class; scores of the others keep their proportions.

        Its examples stay in Z^T Z as examples of none of the other classes.

        Raises:
            ParameterError: the label is unknown; nothing changes then.
        """
        self._moments.forget(label)

    def merge(self, other: Any) -> None:
        """Pool what another one learned: as if this one had seen all its examples. O(d^3), once.

        Equal labels are one class. Regularization, recoding and confidence stay as they are here.

        Raises:
            ParameterError: `other` is no IncrementalClassifier or has other features; nothing changes then.
        """
        self._check_other(other)
        self._covariance.merge(other._covariance)
        self._moments.merge(other._moments)

    def state(self) -> dict[str, Array]:
        """All that was learned, as a dict of arrays (no pickle needed); see `from_state`."""
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
            n_features, feature_map = read_map(state)
            regularization = float(covariance.regularization[0])
            classifier = cls(n_features, regularization, scalar(state, "recoding"), feature_map)
            if covariance.n_features != classifier._width or (covariance.regularization != regularization).any():
                raise StateError("covariance does not fit the features", name="covariance")
            classifier._covariance = covariance
            classifier._read_common(state)
        return classifier

    def _learn(self, z: Array, labels: Sequence[str]) -> None:
        self._covariance.update(z)
        for row, label in zip(z, labels, strict=True):
            self._moments.add(row, label)

    def _raw(self, z: Array) -> Array:
        sums = self._moments.sums
        if z.ndim == 2 and len(z) > len(sums):  # fewer solutions than for each row
            return z @ self._covariance.solve(sums)[0].T
        return self._covariance.solve(z)[0] @ sums.T

    def _alpha(self) -> float:
        return self._recoding
