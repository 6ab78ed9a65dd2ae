"""POLK: stochastic gradients in the kernel's space, cut back after each step to the points that matter."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from icub_learning.arrays import Array
from icub_learning.errors import DataError, ParameterError
from icub_learning.kernel_methods.estimator import check_varying
from icub_learning.kernel_methods.kernels import Kernel, blocks
from icub_learning.kernel_methods.online import losses as online_losses
from icub_learning.kernel_methods.online.dictionary import KernelDictionary
from icub_learning.kernel_methods.online.functional_gradient import Polk


class POLKClassifier(ClassifierMixin, Polk):
    """Learns classes from a stream of samples with a dictionary that grows only where they are new.

    Two classes share one column of weights, more have one column each; all share the dictionary. Classes may come at
    any time unless `classes` fixes them.

    Args:
        kernel, length_scale, degree: see Kernel.
        regularization: lambda >= 0, of |f|^2 / 2. Not multiplied by the number of samples, which has no end.
        step_size: eta > 0, below 1 / lambda.
        parsimony: K >= 0, see Polk; 0 keeps every point that a constant step touches.
        loss: "logistic", "hinge" or "squared_hinge".
        schedule: "constant", or "diminishing": eta t^(-3/4) at step t.
        batch_size: samples of one step.
        max_dictionary: most points kept, or None.
        classes: all labels there will be, or None.
        averaging: steps that the average which predicts reaches back by; 1 for none. None is 32, but 1 where nothing
            is cut back (constant step, parsimony 0, no max_dictionary): that is functional gradient descent as it is.

    Attributes:
        dictionary_, coef_, averaged_coef_, model_order_, error_bound_, norm_: see Polk. `coef_` is what learns and what
            the bounds are about, `averaged_coef_` what predicts.
        classes_: (C,), sorted where they were given or learned by `fit`; else in the order in which they came.
        n_samples_seen_, n_steps_: since the start.
        compression_error_: norm of what the newest step's cutting back changed.
    """

    losses = tuple(online_losses.MARGIN_LOSSES)
    classes_: NDArray[Any]
    _fixed_classes: bool
    _seen: NDArray[np.bool_]  # (C,) which classes had a sample
    _learned = (*Polk._learned, "classes_", "_seen")

    def __init__(
        self,
        *,
        kernel: Any = "gaussian",
        length_scale: float = 1.0,
        regularization: float = 1e-6,
        step_size: float = 1.0,
        parsimony: float = 0.01,
        loss: str = "logistic",
        schedule: str = "constant",
        batch_size: int = 1,
        max_dictionary: int | None = None,
        classes: Any = None,
        degree: int = 3,
        averaging: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.length_scale = length_scale
        self.regularization = regularization
        self.step_size = step_size
        self.parsimony = parsimony
        self.loss = loss
        self.schedule = schedule
        self.batch_size = batch_size
        self.max_dictionary = max_dictionary
        self.classes = classes
        self.degree = degree
        self.averaging = averaging

    def fit(self, X: ArrayLike, y: ArrayLike) -> "POLKClassifier":
        """Learn from samples X (n, d) and labels y (n,), in their order, starting from nothing.

        Raises:
            DataError: X is not finite, the lengths differ, there is one class only, or a label is not in `classes`.
            ParameterError: a setting is outside its range; the message names the bound.
        """
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

    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: Any = None) -> "POLKClassifier":
        """Learn further samples X (n, d) and labels y (n,), in their order.

        Args:
            X, y: the samples.
            classes: all labels there will be; at the first call, or the same as then.

        Raises:
            DataError: as `fit`; ParameterError: a setting is outside its range, or `classes` differs from the first
            call's. The model stays as it was.
        """
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
            arrived = labels[np.sort(places)]  # in the order in which they came
            known = np.concatenate([known, arrived[~np.isin(arrived, known)]])
        codes = self._codes(labels, known)
        if first:
            self._begin(samples.shape[1], known, kernel, fixed)
            self._learn(samples, codes)
            return self
        before = {name: getattr(self, name) for name in self._learned}
        if len(known) > len(self.classes_):
            self._dictionary = self._dictionary.copy()
            _widen(self._dictionary, len(self.classes_), len(known))
            self._seen = np.append(self._seen, np.zeros(len(known) - len(self.classes_), dtype=bool))
            self.classes_ = known
        try:
            self._learn(samples, codes)
        except ParameterError:
            self.__dict__.update(before)
            raise
        return self

    def decision_function(self, X: ArrayLike) -> Array:
        """Scores: (n,) for two classes, positive for the second, else (n, C). Raises NotFittedError, DataError."""
        scores = self._scores(X)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class of the largest score, (n,). Raises NotFittedError, DataError."""
        scores = self._scores(X)
        return self.classes_[(scores[:, 0] > 0).astype(int) if len(self.classes_) == 2 else scores.argmax(axis=1)]

    def _begin(self, n_inputs: int, classes: NDArray[Any], kernel: Kernel, fixed: bool) -> None:
        self._start(n_inputs, _n_columns(len(classes)), kernel)
        self.classes_ = classes
        self._fixed_classes = fixed
        self._seen = np.zeros(len(classes), dtype=bool)

    def _given_classes(self, classes: Any) -> NDArray[Any] | None:
        if classes is None:
            return None
        given = np.unique(np.asarray(classes))
        if np.ndim(classes) != 1 or len(given) != len(classes) or len(given) < 2:
            raise ParameterError("classes", classes, "at least 2 different labels")
        return given

    def _read(self, X: Any, y: Any, reset: bool) -> tuple[Array, NDArray[Any]]:
        if y is None:
            raise DataError("requires y to be passed, but the target y is None", name="y", bound="(n,)")
        if not reset and self._plain(X, y) and y.ndim == 1 and y.dtype.kind in "iubU":
            return np.ascontiguousarray(X), y
        try:
            samples, labels = validate_data(self, X, y, reset=reset, dtype=np.float64, order="C")
            check_classification_targets(labels)
        except ValueError as error:
            raise DataError(str(error), name="X, y", bound="finite numbers and one label for each row") from error
        return samples, labels

    def _codes(self, labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
        """Places of the labels among the classes."""
        order = np.argsort(classes)
        places = np.minimum(np.searchsorted(classes, labels, sorter=order), len(classes) - 1)
        codes = order[places]
        unseen = classes[codes] != labels
        if unseen.any():
            label = labels[unseen].tolist()[0]
            text = f"y holds the label {label!r}, which is not among the classes {classes.tolist()}"
            raise DataError(text, name="y", value=label, bound=f"one of {classes.tolist()}")
        return codes

    def _learn_batch(self, x: Array, targets: NDArray[Any]) -> None:
        """As of every learner; an average that reached back to before a class came would not know it for long."""
        if not self._seen[targets].all():
            self._n_averaged = 0
            self._seen = self._seen.copy()
            self._seen[targets] = True
        super()._learn_batch(x, targets)

    def _derivatives(self, scores: Array, targets: NDArray[Any]) -> Array:
        return online_losses.MARGIN_LOSSES[self.loss](scores, targets)[1]


class POLKRegressor(MultiOutputMixin, RegressorMixin, Polk):
    """Learns functions from a stream of samples with a dictionary that grows only where they are new.

    Args:
        kernel, length_scale, degree, regularization, step_size, parsimony, schedule, batch_size, max_dictionary: see
            POLKClassifier. The step is stable for eta k(x, x) < 2.
        loss: "square", |f - y|^2 / 2.
        averaging: see POLKClassifier. An average is behind where consecutive samples are alike, as those of a robot
            that moves; in random order 32 makes it steadier.

    Attributes: as POLKClassifier, without classes.
    """

    losses = ("square",)

    def __init__(
        self,
        *,
        kernel: Any = "gaussian",
        length_scale: float = 1.0,
        regularization: float = 1e-6,
        step_size: float = 1.0,
        parsimony: float = 0.01,
        loss: str = "square",
        schedule: str = "constant",
        batch_size: int = 1,
        max_dictionary: int | None = None,
        degree: int = 3,
        averaging: int | None = 1,
    ) -> None:
        self.kernel = kernel
        self.length_scale = length_scale
        self.regularization = regularization
        self.step_size = step_size
        self.parsimony = parsimony
        self.loss = loss
        self.schedule = schedule
        self.batch_size = batch_size
        self.max_dictionary = max_dictionary
        self.degree = degree
        self.averaging = averaging

    def fit(self, X: ArrayLike, y: ArrayLike) -> "POLKRegressor":
        """Learn from samples X (n, d) and targets y (n,) or (n, T), in their order, starting from nothing.

        Raises:
            DataError: X or y is not finite, of unequal length, or a target is constant.
            ParameterError: a setting is outside its range; the message names the bound.
        """
        kernel = self._check_settings()
        samples, targets, single = self._read(X, y, reset=True)
        if len(samples) > 1:
            check_varying(targets.min(axis=0), targets.max(axis=0))
        self._one_target = single
        self._start(samples.shape[1], targets.shape[1], kernel)
        self._learn(samples, targets)
        return self

    def partial_fit(self, X: ArrayLike, y: ArrayLike) -> "POLKRegressor":
        """Learn further samples. Raises DataError, ParameterError; the model stays as it was."""
        first = not hasattr(self, "_dictionary")
        kernel = self._check_settings()
        samples, targets, single = self._read(X, y, reset=first)
        if first:
            self._one_target = single
            self._start(samples.shape[1], targets.shape[1], kernel)
        elif targets.shape[1] != self._dictionary.n_outputs:
            text = f"y has {targets.shape[1]} targets, but had {self._dictionary.n_outputs} before"
            raise DataError(text, name="y", value=targets.shape[1], bound=f"{self._dictionary.n_outputs} targets")
        self._learn(samples, targets)
        return self

    def predict(self, X: ArrayLike) -> Array:
        """Predict (n,) or (n, T), as the targets were. Raises NotFittedError, DataError."""
        scores = self._scores(X)
        return scores[:, 0] if self._one_target else scores

    def _read(self, X: Any, y: Any, reset: bool) -> tuple[Array, Array, bool]:
        """Samples, targets (n, T), and whether these came as (n,)."""
        if y is None:
            raise DataError("requires y to be passed, but the target y is None", name="y", bound="(n,) or (n, T)")
        if not reset and self._plain(X, y) and y.dtype == np.float64 and y.ndim in (1, 2) and np.isfinite(y).all():
            return np.ascontiguousarray(X), np.ascontiguousarray(y.reshape(len(X), -1)), y.ndim == 1
        try:
            samples, targets = validate_data(
                self, X, y, reset=reset, multi_output=True, y_numeric=True, dtype=np.float64, order="C"
            )
        except ValueError as error:
            raise DataError(str(error), name="X, y", bound="finite numbers, one row of y for each of X") from error
        columns = np.ascontiguousarray(targets.reshape(len(samples), -1), dtype=np.float64)
        return samples, columns, targets.ndim == 1

    def _derivatives(self, scores: Array, targets: NDArray[Any]) -> Array:
        return online_losses.square(scores, targets)[1]


def _n_columns(n_classes: int) -> int:
    return 1 if n_classes == 2 else n_classes


def _widen(dictionary: KernelDictionary, before: int, after: int) -> None:
    """Columns for more classes; what was learned of those there were keeps its margins."""
    if _n_columns(after) < dictionary.n_outputs or (before, after) == (1, 2):
        return  # one class had one column, of zeros; two have one
    dictionary.add_outputs(_n_columns(after))
    if before == 2:
        for weights in (dictionary.weights, dictionary.averages):
            weights[:, 1] = weights[:, 0] / 2
            weights[:, 0] = -weights[:, 1]


def functional_sgd(
    X: ArrayLike,
    y: ArrayLike,
    *,
    kernel: Any = "gaussian",
    length_scale: float = 1.0,
    degree: int = 3,
    regularization: float = 1e-6,
    step_size: float = 1.0,
    loss: str = "square",
    schedule: str = "constant",
    batch_size: int = 1,
) -> Array:
    """Stochastic gradient descent in the kernel's space that keeps every point: what POLK is measured against.

    Written as plainly as possible, O(n^2 (d + C)): no dictionary, nothing is removed.

    Args:
        X: (n, d), learned in its order.
        y: (n,) or (n, T) targets for the loss "square", else (n,) labels.
        kernel, length_scale, degree, regularization, step_size, loss, schedule, batch_size: see POLKClassifier.

    Returns:
        Weights (n, C) of all points: f = sum_i k(X[i], .) weights[i], columns as those of `coef_`.

    Raises:
        DataError, ParameterError: as POLKClassifier.fit, POLKRegressor.fit.
    """
    settings = {
        "kernel": kernel,
        "length_scale": length_scale,
        "degree": degree,
        "regularization": regularization,
        "step_size": step_size,
        "loss": loss,
        "schedule": schedule,
        "batch_size": batch_size,
    }
    model: POLKClassifier | POLKRegressor
    targets: NDArray[Any]
    if loss == "square":
        model = POLKRegressor(**settings)
        made = model._check_settings()
        samples, targets, _ = model._read(X, y, reset=True)
        n_columns = targets.shape[1]
    else:
        model = POLKClassifier(**settings)
        made = model._check_settings()
        samples, labels = model._read(X, y, reset=True)
        classes, targets = np.unique(labels, return_inverse=True)
        n_columns = _n_columns(len(classes))
    weights = np.zeros((len(samples), n_columns))
    for t, batch in enumerate(blocks(len(samples), batch_size), start=1):
        step, _ = model._step_and_budget(t)
        scores = made(samples[batch], samples[: batch.start]) @ weights[: batch.start] if batch.start else None
        scores = np.zeros((batch.stop - batch.start, n_columns)) if scores is None else scores
        weights[: batch.start] *= 1.0 - step * regularization
        weights[batch] = -step / len(scores) * model._derivatives(scores, targets[batch])
    return weights
