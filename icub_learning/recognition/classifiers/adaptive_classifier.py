"""The default classifier: class means and kept views in one kernel machine, for few views and for many."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsyr

from icub_learning.arrays import Array, finite
from icub_learning.errors import StateError
from icub_learning.features.maps import FeatureMap
from icub_learning.recognition.classifiers.calibration import Calibration
from icub_learning.recognition.classifiers.classifier import Classifier
from icub_learning.recognition.classifiers.whitened import Statistics
from icub_learning.recognition.settings import DEFAULTS


class AdaptiveClassifier(Classifier):
    """Scores by a whitened kernel with the means of all views of each class, and with a bounded sample of its views.

    Each view is added to the sum of its class and to Z^T Z, and may be kept: O(d^2), whatever was learned before. Sums
    and products are exact, because views are rounded to multiples of 2^-16: bit for bit, the order of views makes no
    difference to them, nor to which views are kept (scores are computed in that order, in single precision), except
    for what is held back together (KeptViews.parts), and a class that is forgotten while all its
    views are kept leaves nothing behind; of other forgotten classes, the variation stays in the covariance. When scores
    are queried after a change, the covariance within classes, its shrinkage and the weight of means beside views
    (Calibration), and the machine on them (Machine) are computed anew, in O(n^3 + d^2 n) with n of at most 800 kept
    views. Recoding raises the scores by kept views. Raises ParameterError.
    """

    def __init__(
        self, n_features: int, recoding: float = DEFAULTS.recoding, feature_map: FeatureMap | None = None
    ) -> None:
        super().__init__(n_features, recoding, feature_map)
        self._second = np.zeros((self._n_mapped, self._n_mapped), order="F")  # upper triangle of Z^T Z

    @property
    def n_kept(self) -> int:
        """Number of views that are kept."""
        return len(self._kept)

    @property
    def shrinkage(self) -> float:
        """Shrinkage of the covariance within classes, in (0, 1], that is in use now."""
        return self._calibration.shrinkage

    @property
    def mean_weight(self) -> float:
        """Weight of class means beside kept views that is in use now."""
        return self._calibration.mean_weight

    def _own_state(self) -> dict[str, Array]:
        return {"second": np.triu(self._second)}

    def _read_own_state(self, state: Mapping[str, Any]) -> None:
        second = finite("second", state["second"])
        if second.shape != self._second.shape:
            raise StateError(f"second has shape {second.shape}, not {self._second.shape}", name="second")
        self._second = np.asfortranarray(second)

    def _learn(self, z: Array, labels: Sequence[str]) -> None:
        for row, label in zip(z, labels, strict=True):
            kept = self._kept.add(row, self._moments.row(label))
            self._moments.add(kept, label)
            self._second = dsyr(1.0, kept, a=self._second, overwrite_a=1)

    def _keep(self, z: Array, labels: Sequence[str]) -> None:
        """Do nothing: `_learn` has kept the views."""

    def _forget(self, index: int) -> None:
        count, rows = int(self._moments.counts[index]), self._kept.rows[self._kept.targets == index]
        if len(rows) != count:
            rows = self._moments.sums[[index]] / np.sqrt(count)
        self._second -= np.triu(rows.T @ rows)

    def _merge(self, other: Any) -> None:
        self._moments.merge(other._moments)
        self._second += other._second

    def _untrained(self) -> "AdaptiveClassifier":
        return AdaptiveClassifier(self._n_mapped, self._recoding)

    def _statistics(self) -> Statistics:
        kept, moments = self._kept, self._moments
        second = None if len(kept) == moments.counts.sum() else self._second
        return Statistics(kept.rows, kept.targets, moments.sums, moments.counts, second)

    def _factors(self) -> Array:
        return np.ones(len(self._moments))  # scores by kept views are recoded before the means' are added

    def _held_back(self, parts: NDArray[np.intp]) -> tuple[Array, NDArray[np.bool_]]:
        return self._calibration.held_back(parts)

    def _unrecoded_scores(self, z: Array) -> Array:
        scores = self._calibration.scores_of(np.atleast_2d(z))[0]
        return np.asarray(scores[0] if z.ndim == 1 else scores)

    def _judged_scores(self, z: Array, calibration: Calibration) -> tuple[Array, Array, Array]:
        scores, mixed = calibration.scores_of(z)
        since = np.zeros((len(z), len(self._moments) - calibration.n_classes))
        return np.concatenate([scores, since], axis=1), self._factors(), mixed
