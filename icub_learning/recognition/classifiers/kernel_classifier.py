"""A kernel classifier on the kept views, whitened by the variation within classes: the most accurate with few views."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array, real
from icub_learning.features.maps import FeatureMap
from icub_learning.recognition.classifiers.calibration import Calibration
from icub_learning.recognition.classifiers.classifier import SettableRecoding
from icub_learning.recognition.settings import DEFAULTS


class KernelClassifier(SettableRecoding):
    """Kernel ridge regression of 0/1 targets on the views that are kept, with recoded scores.

    The kernel depends on directions whitened by the shrunk covariance within classes (see WhitenedKernel), and the
    regularization is chosen on parts of the kept views that are held back in turn (see Calibration). A new label
    adds a class at any time. At most 800 views are kept, fewer of more than 1875 features; beyond that the class with
    most views gives up its oldest one. Scores are exact for the kept views: they are solved for when they are asked
    for after a change, O(n^3) with n views.

    With transfer, what is known of similar classes helps a class of which one to three views are known: its scores are
    drawn towards a combination of theirs instead of 0 (see `ridge_coefficients`).

    Args:
        n_features, recoding, feature_map: see Classifier.
        transfer: how far scores are drawn towards that combination, in [0, 1]; 0: no transfer.

    Attributes:
        n_features, transfer, feature_map: as given.
        recoding: as given; may be set at any time.

    Raises:
        ParameterError: an argument is outside its range.
    """

    SETTINGS = ("recoding", "transfer")

    def __init__(
        self,
        n_features: int,
        recoding: float = DEFAULTS.recoding,
        transfer: float = DEFAULTS.transfer,
        feature_map: FeatureMap | None = None,
    ) -> None:
        super().__init__(n_features, recoding, feature_map)
        self._transfer = real("transfer", transfer, 0.0, 1.0)

    @property
    def transfer(self) -> float:
        """How far scores are drawn towards those of similar classes, in [0, 1]."""
        return self._transfer

    @property
    def regularization(self) -> float:
        """The lambda in force, for a kernel with k(x, x) = 1."""
        return self._calibration.regularization

    @property
    def n_kept(self) -> int:
        """Number of views that are kept."""
        return len(self._kept)

    def _own_state(self) -> dict[str, Array]:
        return {}

    def _read_own_state(self, state: Mapping[str, Any]) -> None:
        """The kept views are all there is."""

    def _learn(self, z: Array, labels: Sequence[str]) -> None:
        for row, label in zip(z, labels, strict=True):
            self._moments.add(row, label)

    def _forget(self, index: int) -> None:
        """The kept views of the class are removed for all classifiers."""

    def _merge(self, other: Any) -> None:
        self._moments.merge(other._moments)

    def _untrained(self) -> "KernelClassifier":
        return KernelClassifier(self._n_mapped, 0.0, self._transfer)

    def _held_back(self, parts: NDArray[np.intp]) -> tuple[Array, NDArray[np.bool_]]:
        return self._calibration.held_back(parts)

    def _unrecoded_scores(self, z: Array) -> Array:
        scores = self._calibration.machine_scores(np.atleast_2d(z))
        return np.asarray(scores[0] if z.ndim == 1 else scores)

    def _judged_scores(self, z: Array, calibration: Calibration) -> tuple[Array, Array]:
        n_new = len(self._moments) - calibration.n_classes
        scores, factors = calibration.machine_scores(z), calibration.factors
        return np.pad(scores, ((0, 0), (0, n_new))), np.pad(factors, (0, n_new), constant_values=1.0)
