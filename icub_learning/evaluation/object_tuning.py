"""Features of object views in the order in which they were seen, and folds of them to choose settings by."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array, finite, integer, real
from icub_learning.errors import DataError, ParameterError
from icub_learning.kernel_methods import NystromKRLS
from icub_learning.kernel_methods.tuning import Fold, Judge, forward_folds
from icub_learning.recognition.classifiers.kinds import AnyClassifier


@dataclass(frozen=True)
class Views:
    """Features of views of each object. Raises DataError: fewer than two labels, or features of different lengths."""

    features: Mapping[str, Array]  # label: (n, d), oldest view first; n may differ between labels

    def __post_init__(self) -> None:
        rows = {label: finite(f"features of {label}", values) for label, values in self.features.items()}
        sizes = {values.shape[1:] for values in rows.values()}
        if len(rows) < 2 or len(sizes) != 1 or len(next(iter(sizes))) != 1:
            text = f"{len(rows)} labels with features of {len(sizes)} sizes; needed are two labels, of one size"
            raise DataError(text, name="features", value=len(rows), bound="two labels or more")
        object.__setattr__(self, "features", rows)

    @property
    def labels(self) -> list[str]:
        """Labels of all objects."""
        return list(self.features)

    def split(self, share: float) -> tuple["Views", "Views"]:
        """Return the first `share` of the views of each object, and the others. Raises ParameterError."""
        share = real("share", share, 0.0, 1.0, low_open=True)
        cuts = {label: round(share * len(values)) for label, values in self.features.items()}
        fewest = min(min(cut, len(self.features[label]) - cut) for label, cut in cuts.items())
        if fewest < 1:
            raise ParameterError("share", share, "such that each object has views in both parts")
        return (
            Views({label: values[: cuts[label]] for label, values in self.features.items()}),
            Views({label: values[cuts[label] :] for label, values in self.features.items()}),
        )

    def in_turns(self) -> Iterable[tuple[str, Array]]:
        """Yield label and features of the first view of each object, then of the second of each, and so on."""
        most = max(map(len, self.features.values()))
        for place in range(most):
            for label, values in self.features.items():
                if place < len(values):
                    yield label, values[place]

    def folds(self, n_folds: int, gap: int, unit_length: bool) -> list[Fold]:
        """Return folds by forward chaining within each object (see `forward_folds`); targets are one-hot codes."""
        parts = {label: forward_folds(len(values), n_folds, gap) for label, values in self.features.items()}
        return [
            Fold(
                *self._gather({label: folds[k][0] for label, folds in parts.items()}, unit_length),
                *self._gather({label: folds[k][1] for label, folds in parts.items()}, unit_length),
            )
            for k in range(n_folds)
        ]

    def _gather(self, parts: Mapping[str, slice], unit_length: bool) -> tuple[Array, Array]:
        rows = [self.features[label][part] for label, part in parts.items()]
        inputs = np.concatenate(rows)
        if unit_length:
            sizes = np.linalg.norm(inputs, axis=1, keepdims=True)
            inputs = inputs / np.where(sizes > 0, sizes, 1.0)
        codes = np.repeat(np.arange(len(rows)), [len(some) for some in rows])
        return inputs, np.eye(len(rows))[codes]


def judge(recoding: float) -> Judge:
    """Return the error measure of predictions: the share of views labelled wrong, by scores recoded with `recoding`.

    Losses are the mean squared errors of the one-hot codes.
    """

    def measure(predicted: Array, fold: Fold) -> tuple[Array, Array]:
        counts = fold.targets.sum(axis=0)
        scores = predicted * (counts.sum() / counts) ** recoding
        wrong = scores.argmax(axis=2) != fold.later_targets.argmax(axis=1)
        return wrong.mean(axis=1), np.mean((predicted - fold.later_targets) ** 2, axis=(1, 2))

    return measure


def linear_errors(fold: Fold, regularizations: tuple[float, ...], recoding: float) -> tuple[list[float], list[float]]:
    """Return errors and losses of IncrementalClassifier at each lambda, by the ridge regression that it computes."""
    n, d = fold.inputs.shape
    # With the linear kernel and the unit vectors as centres Nyström's solution is that of ridge regression on inputs.
    levels = [level / n for level in regularizations]
    model = NystromKRLS(kernel="linear", centers=np.eye(d), regularization=levels[0], path=levels)
    model.fit(fold.inputs, fold.targets)
    errors, losses = judge(recoding)(model.predict_path(fold.later_inputs), fold)
    return errors.tolist(), losses.tolist()


def predict_then_learn(
    classifier: AnyClassifier,
    views: Iterable[tuple[str, Array]],
    watch: Callable[[Iterable[tuple[str, Array]]], Iterable[tuple[str, Array]]] = iter,
) -> NDArray[np.bool_]:
    """Return whether each view was labelled right just before it was learned, without smoothing over views."""
    right = []
    for label, x in watch(views):
        right.append(bool(classifier.classes) and classifier.predict(x) == label)
        classifier.learn(x, label)
    return np.array(right)


def usable_sizes(sizes: Iterable[int], folds: Iterable[Fold]) -> tuple[int, ...]:
    """Return the numbers of centres that no fold has too few samples for; the smallest fold's size if none is left."""
    fewest = min(len(fold.inputs) for fold in folds)
    return tuple(size for size in sizes if integer("sizes", size, 1) <= fewest) or (fewest,)
