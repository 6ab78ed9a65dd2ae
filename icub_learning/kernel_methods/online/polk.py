"""POLK as a classifier and as a regressor."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin

from icub_learning.arrays import Array
from icub_learning.errors import DataError, ParameterError
from icub_learning.kernel_methods.estimator import (
    check_varying,
    read_labels,
    read_training_data,
    unchanged_after_errors,
)
from icub_learning.kernel_methods.kernels import Kernel, blocks
from icub_learning.kernel_methods.online import losses as online_losses
from icub_learning.kernel_methods.online.dictionary import KernelDictionary
from icub_learning.kernel_methods.online.functional_gradient import FunctionalGradient


@dataclass(kw_only=True, eq=False, repr=False)
class POLKClassifier(ClassifierMixin, FunctionalGradient):
    """Learns classes from a stream of samples with a dictionary that grows only where samples are new.

    Two classes share one column of weights, more have one column each; all share the dictionary. Classes may come at
    any time unless `classes` fixes them. The loss is "logistic", "hinge" or "squared_hinge". See `FunctionalGradient`.
    """

    loss: str = "logistic"
    classes: ArrayLike | None = None
    losses: ClassVar[tuple[str, ...]] = tuple(online_losses.MARGIN_LOSSES)
    classes_: NDArray[Any] = field(init=False)  # (C,), sorted if given or learned by `fit`, else in order of arrival
    _fixed_classes: bool = field(init=False)
    _seen: NDArray[np.bool_] = field(init=False)  # (C,) whether each class has had a sample

    @unchanged_after_errors
    def fit(self, X: ArrayLike, y: ArrayLike) -> "POLKClassifier":
        """Learn X (n, d) and labels y (n,) in their order, from scratch. Raises DataError, ParameterError."""
        kernel = self._check_settings()
        samples, labels = self._read(X, y, reset=True)
        classes = self._given_classes(self.classes)
        if classes is None:
            classes = np.unique(labels)
            if len(classes) < 2:
                raise DataError("y holds 1 class, but must hold at least 2", name="y", value=1, bound="2 or more")
        codes = self._codes(labels, classes)
        self._begin(samples.shape[1], classes, kernel, fixed=True)
        self._learn(samples, codes)
        return self

    @unchanged_after_errors
    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: Any = None) -> "POLKClassifier":
        """Learn further samples X (n, d) and labels y (n,); `classes` lists all labels there will be, at the first
        call, or is None. Raises what `fit` raises; the model stays as it was."""
        first = not hasattr(self, "_dictionary")
        kernel = self._check_settings()
        given = self._given_classes(self.classes if classes is None else classes)
        samples, labels = self._read(X, y, reset=first)
        fixed = given is not None if first else self._fixed_classes
        if not first and given is not None and not np.array_equal(given, np.sort(self.classes_)):
            raise ParameterError("classes", given.tolist(), f"those of the first call, {self.classes_.tolist()}")
        known = given if first and given is not None else np.empty(0, labels.dtype) if first else self.classes_
        if not fixed:
            _, places = np.unique(labels, return_index=True)
            arrived = labels[np.sort(places)]  # in order of arrival
            if len(known) and (known.dtype.kind in "US") != (labels.dtype.kind in "US"):
                text = f"y holds labels such as '{arrived[0]}', but those before are such as '{known[0]}'"
                raise DataError(text, name="y", value=arrived[0], bound="labels of one kind, numbers or text")
            known = np.concatenate([known, arrived[~np.isin(arrived, known)]])
        codes = self._codes(labels, known)
        if first:
            self._begin(samples.shape[1], known, kernel, fixed)
        if len(known) > len(self.classes_):
            self._dictionary = self._dictionary.copy()
            _widen(self._dictionary, len(self.classes_), len(known))
            self._seen = np.append(self._seen, np.zeros(len(known) - len(self.classes_), dtype=bool))
            self.classes_ = known
        self._learn(samples, codes)
        return self

    def decision_function(self, X: ArrayLike) -> Array:
        """Return scores, (n,) for two classes, positive for the second, or (n, C). Raises NotFittedError, DataError."""
        scores = self._scores(X)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of the largest score, (n,). Raises NotFittedError, DataError."""
        scores = self._scores(X)
        places = (scores[:, 0] > 0).astype(int) if len(self.classes_) == 2 else scores.argmax(axis=1)
        return np.asarray(self.classes_[places])

    def _begin(self, n_inputs: int, classes: NDArray[Any], kernel: Kernel, fixed: bool) -> None:
        self._start(n_inputs, _n_columns(len(classes)), kernel)
        self.classes_, self._fixed_classes = classes, fixed
        self._seen = np.zeros(len(classes), dtype=bool)

    def _given_classes(self, classes: Any) -> NDArray[Any] | None:
        if classes is None:
            return None
        given = np.unique(np.asarray(classes))
        if np.ndim(classes) != 1 or len(given) != len(classes) or len(given) < 2:
            raise ParameterError("classes", classes, "at least 2 different labels")
        return given

    def _read(self, X: Any, y: Any, reset: bool) -> tuple[Array, NDArray[Any]]:
        if not reset and self._plain(X, y) and y.ndim == 1 and y.dtype.kind in "iubU":
            return np.ascontiguousarray(X), y
        return read_labels(self, X, y, reset)

    def _codes(self, labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
        order = np.argsort(classes)
        codes = order[np.minimum(np.searchsorted(classes, labels, sorter=order), len(classes) - 1)]
        unseen = classes[codes] != labels
        if unseen.any():
            label = labels[unseen].tolist()[0]
            text = f"y holds the label {label!r}, which is not among the classes {classes.tolist()}"
            raise DataError(text, name="y", value=label, bound=f"one of {classes.tolist()}")
        return codes

    def _learn_batch(self, x: Array, targets: NDArray[Any]) -> None:
        """Learn one batch; a new class restarts the average, which would otherwise ignore that class for long."""
        if not self._seen[targets].all():
            self._n_averaged = 0
            self._seen = self._seen.copy()
            self._seen[targets] = True
        super()._learn_batch(x, targets)

    def _derivatives(self, scores: Array, targets: NDArray[Any]) -> Array:
        return online_losses.MARGIN_LOSSES[self.loss](scores, targets)[1]


@dataclass(kw_only=True, eq=False, repr=False)
class POLKRegressor(MultiOutputMixin, RegressorMixin, FunctionalGradient):
    """Learns functions from a stream of samples with a dictionary that grows only where samples are new.

    Steps are stable, others refused, for eta k(x, x) < 2, in the mean of a batch. An average lags where consecutive
    samples are alike, as a robot's; in random order `averaging` = 32 predicts more steadily. See `FunctionalGradient`.
    """

    loss: str = "square"
    averaging: int | None = 1
    losses: ClassVar[tuple[str, ...]] = ("square",)

    @unchanged_after_errors
    def fit(self, X: ArrayLike, y: ArrayLike) -> "POLKRegressor":
        """Learn X (n, d) and y (n,) or (n, T) in their order, from scratch. Raises DataError, ParameterError."""
        kernel = self._check_settings()
        samples, targets, self._one_target = self._read(X, y, reset=True)
        if len(samples) > 1:
            check_varying(targets.min(axis=0), targets.max(axis=0))
        self._start(samples.shape[1], targets.shape[1], kernel)
        self._learn(samples, targets)
        return self

    @unchanged_after_errors
    def partial_fit(self, X: ArrayLike, y: ArrayLike) -> "POLKRegressor":
        """Learn further samples X (n, d) and targets y. Raises DataError, ParameterError; the model stays as it was."""
        first = not hasattr(self, "_dictionary")
        kernel = self._check_settings()
        samples, targets, single = self._read(X, y, reset=first)
        if not first and targets.shape[1] != self._dictionary.n_outputs:
            text = f"y has {targets.shape[1]} targets, but had {self._dictionary.n_outputs} before"
            raise DataError(text, name="y", value=targets.shape[1], bound=f"{self._dictionary.n_outputs} targets")
        if first:
            self._one_target = single
            self._start(samples.shape[1], targets.shape[1], kernel)
        self._learn(samples, targets)
        return self

    def _learn(self, samples: Array, targets: NDArray[Any]) -> None:
        sizes, step = self._dictionary.kernel.diagonal(samples), self._step_and_budget(self.n_steps_ + 1)[0]
        largest = max(sizes[batch].mean() for batch in blocks(len(sizes), self.batch_size))
        if step * largest >= 2.0:
            raise ParameterError("step_size", step, f"below 2 / k(x, x) = {2.0 / largest:.6g}: scale X, or choose less")
        super()._learn(samples, targets)

    def predict(self, X: ArrayLike) -> Array:
        """Predict (n,) or (n, T), shaped as the targets. Raises NotFittedError, DataError."""
        scores = self._scores(X)
        return scores[:, 0] if self._one_target else scores

    def _read(self, X: Any, y: Any, reset: bool) -> tuple[Array, Array, bool]:
        """Return samples, targets (n, T), and whether the targets came as (n,)."""
        if not reset and self._plain(X, y) and y.dtype == np.float64 and y.ndim in (1, 2) and np.isfinite(y).all():
            return np.ascontiguousarray(X), np.ascontiguousarray(y.reshape(len(X), -1)), y.ndim == 1
        samples, targets, single = read_training_data(self, X, y, reset=reset, order="C")
        return samples, np.ascontiguousarray(targets, dtype=np.float64), single

    def _derivatives(self, scores: Array, targets: NDArray[Any]) -> Array:
        return online_losses.square(scores, targets)[1]


def _n_columns(n_classes: int) -> int:
    return 1 if n_classes == 2 else n_classes


def _widen(dictionary: KernelDictionary, before: int, after: int) -> None:
    """Add columns for new classes; the margins between the earlier classes stay."""
    if _n_columns(after) < dictionary.n_outputs or (before, after) == (1, 2):
        return  # two classes share the column of one, which is the negative score of the first
    dictionary.add_outputs(_n_columns(after))
    if before <= 2:
        for weights in (dictionary.weights, dictionary.averages):
            weights[:, 1] = weights[:, 0] / 2
            weights[:, 0] = -weights[:, 1]
