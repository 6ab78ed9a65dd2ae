"""Classification by regression on codes: one column of +1 and -1 for each class, all columns in one fit."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from icub_learning.arrays import Array
from icub_learning.errors import DataError
from icub_learning.kernel_methods.estimator import KernelRegressor, read_labels, read_samples, unchanged_after_errors
from icub_learning.kernel_methods.spectral.krls import KRLS


class OneVsAllClassifier(ClassifierMixin, BaseEstimator):
    """Classifier made of a clone `estimator_` of any regressor for several targets, by default `KRLS()`.

    It learns one code for each class, +1 for its samples and -1 for the others (one column where there are two
    classes), with one factorization or one run of iterations; the largest score wins. `classes_` (C,) are sorted.
    """

    def __init__(self, estimator: KernelRegressor | None = None) -> None:
        self.estimator = estimator

    @unchanged_after_errors
    def fit(self, X: ArrayLike, y: ArrayLike) -> "OneVsAllClassifier":
        """Learn from samples X (n, d) and labels y (n,). Raises DataError, and what the regressor raises."""
        samples, labels = read_labels(self, X, y)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise DataError("y holds 1 class, but must hold at least 2", name="y", value=1, bound="2 classes or more")
        targets = np.where(codes[:, None] == np.arange(len(self.classes_)), 1.0, -1.0)
        self.estimator_: KernelRegressor = clone(KRLS() if self.estimator is None else self.estimator)
        self.estimator_.fit(samples, targets[:, 1] if len(self.classes_) == 2 else targets)
        return self

    def decision_function(self, X: ArrayLike) -> Array:
        """Return scores: (n,) for two classes, positive for the second one, else (n, C)."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict(read_samples(self, X))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of the largest score, (n,)."""
        return self._labels(self.decision_function(X))

    def predict_path(self, X: ArrayLike) -> NDArray[Any]:
        """Return the classes at every level of the regressor's path, (levels, n)."""
        check_is_fitted(self, "estimator_")
        scores = self.estimator_.predict_path(read_samples(self, X))
        return self._labels(scores[..., 0] if len(self.classes_) == 2 else scores)

    @property
    def path_levels_(self) -> NDArray[Any]:
        """The levels of `predict_path`."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.path_levels_

    def _labels(self, scores: Array) -> NDArray[Any]:
        two = len(self.classes_) == 2
        return np.asarray(self.classes_[(scores > 0).astype(int) if two else scores.argmax(axis=-1)])
