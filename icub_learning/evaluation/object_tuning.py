"""Features of object views in the order in which they were seen, and validation folds to choose settings with."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise, zip_longest

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array, finite, integer, real
from icub_learning.errors import DataError, ParameterError, ShapeError
from icub_learning.kernel_methods import NystromKRLS
from icub_learning.recognition.classifiers.kinds import AnyClassifier


@dataclass(frozen=True)
class Fold:
    """Samples to learn, and later samples to predict."""

    inputs: Array  # (n, d), features to learn
    targets: Array  # (n, T)
    later_inputs: Array  # (k, d), features to predict
    later_targets: Array  # (k, T)


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

    def split(self, share: float) -> tuple["Views", "Views"]:
        """Return the first `share` of the views of each object, and the others. Raises ParameterError."""
        share = real("share", share, 0.0, 1.0, low_open=True)
        cuts = {label: round(share * len(values)) for label, values in self.features.items()}
        first = {label: values[: cuts[label]] for label, values in self.features.items()}
        others = {label: values[cuts[label] :] for label, values in self.features.items()}
        if not all(map(len, (*first.values(), *others.values()))):
            least = min(self.features, key=lambda label: len(self.features[label]))
            text = f"such that both parts hold views of each object, of which '{least}' has {len(self.features[least])}"
            raise ParameterError("share", share, text)
        return Views(first), Views(others)

    def in_turns(self) -> Iterable[tuple[str, Array]]:
        """Yield label and features of the first view of each object, then of the second of each, and so on."""
        for turn in zip_longest(*self.features.values()):
            yield from ((label, x) for label, x in zip(self.features, turn, strict=True) if x is not None)

    def folds(self, n_folds: int, gap: int) -> list[Fold]:
        """Return folds by forward chaining within each object (see `forward_folds`); targets are one-hot codes."""
        parts = [forward_folds(len(values), n_folds, gap) for values in self.features.values()]
        of_folds = (zip(*fold, strict=True) for fold in zip(*parts, strict=True))
        return [Fold(*self._gather(first), *self._gather(later)) for first, later in of_folds]

    def _gather(self, parts: Iterable[slice]) -> tuple[Array, Array]:
        rows = [values[part] for values, part in zip(self.features.values(), parts, strict=True)]
        return np.concatenate(rows), np.repeat(np.eye(len(rows)), [len(some) for some in rows], axis=0)


def forward_folds(n: int, n_folds: int, gap: int) -> list[tuple[slice, slice]]:
    """Return slices (to learn, to predict) of n samples in order of time; the part to learn grows from fold to fold.

    The later half is cut into `n_folds` equal intervals. A fold learns all samples before its interval and predicts it
    without its first `gap` samples, since consecutive samples are alike. Raises ParameterError: too few samples.
    """
    folds, gap = integer("folds", n_folds, 1), integer("gap", gap, 0)
    intervals = list(pairwise(np.linspace(n // 2, n, folds + 1).astype(int).tolist()))
    if n < 4:
        raise DataError(f"{n} samples to choose settings on, but each object needs 4 at least", name="samples", value=n)
    if min(stop - start for start, stop in intervals) <= gap:
        if gap >= n - n // 2:
            raise ParameterError("gap", gap, f"less than {n - n // 2}, the later half of {n} samples")
        text = f"as many intervals longer than the gap of {gap} make half of {n} samples; take more, or a smaller gap"
        raise ParameterError("folds", folds, f"at most {(n - n // 2) // (gap + 1)}: {text}")
    return [(slice(0, start), slice(start + gap, stop)) for start, stop in intervals]


def linear_errors(fold: Fold, regularizations: tuple[float, ...], recoding: float) -> tuple[list[float], list[float]]:
    """Return error rates and mean squared errors of the codes that IncrementalClassifier has at each lambda."""
    n, d = fold.inputs.shape
    # With a linear kernel and unit vectors as centres, Nyström's solution is that of ridge regression on the inputs.
    levels = [level / n for level in regularizations]
    model = NystromKRLS(kernel="linear", centers=np.eye(d), regularization=levels[0], path=levels)
    model.fit(fold.inputs, fold.targets)
    predicted, counts = model.predict_path(fold.later_inputs), fold.targets.sum(axis=0)
    named = (predicted * (counts.sum() / counts) ** recoding).argmax(axis=2)
    wrong = (named != fold.later_targets.argmax(axis=1)).mean(axis=1)
    return wrong.tolist(), np.mean((predicted - fold.later_targets) ** 2, axis=(1, 2)).tolist()


def predict_then_learn(
    classifier: AnyClassifier, views: Iterable[tuple[str, Array]],
    watch: Callable[[Iterable[tuple[str, Array]]], Iterable[tuple[str, Array]]] = iter,
) -> NDArray[np.bool_]:  # fmt: skip
    """Return whether each view was labelled right just before it was learned, without smoothing over views."""
    right = []
    for label, x in watch(views):
        right.append(bool(classifier.classes) and classifier.predict(x) == label)
        classifier.learn(x, label)
    return np.array(right)


def increasing(name: str, values: Iterable[float]) -> tuple[float, ...]:
    """Return sorted values. Raises ShapeError: none; ParameterError: two alike, or not above 0; NotFiniteError."""
    array = np.sort(finite(name, list(values)))
    if array.ndim != 1 or not array.size:
        raise ShapeError(name, array.shape, "at least one number")
    if array[0] <= 0 or (np.diff(array) <= 0).any():
        raise ParameterError(name, array.tolist(), "different numbers above 0")
    return tuple(array.tolist())
