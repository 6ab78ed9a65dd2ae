"""A bounded memory of labelled views, from which confidence and typicality are calibrated."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from icub_learning.arrays import Array, finite
from icub_learning.errors import StateError
from icub_learning.recognition.classifiers.workspace import Workspace, gathered

MAX_VIEWS = 800  # of all objects
MAX_VALUES = 1_500_000  # numbers in all views; bounds memory and time for long feature vectors
MIN_VIEWS = 32  # however long the vectors of features are
FEW_VIEWS = 5  # of a class, which is then cut into three parts instead of two


class KeptViews:
    """The newest views of each class, in the order in which they were learned, scaled to unit length.

    When the memory is full, the class with most views gives up its oldest one. All of the memory is taken with the
    first view, so that a process that learns for weeks does not grow.

    Args:
        n_features: d, length of a view.

    Attributes:
        n_features: as given.
        capacity: largest number of views.
    """

    def __init__(self, n_features: int) -> None:
        self.n_features = n_features
        self.capacity = max(MIN_VIEWS, min(MAX_VIEWS, MAX_VALUES // n_features))
        self._rows = np.zeros((0, n_features))  # values are those of float32, as saved; see _take_memory
        self._lengths: list[float] = []
        self._targets: list[int] = []
        self._gram = np.zeros((0, 0))
        self._n_known = 0  # first rows whose products are in _gram; later ones are added when it is asked for

    def __len__(self) -> int:
        return len(self._targets)

    @property
    def rows(self) -> Array:
        """Views (n, d) of unit length, oldest first."""
        return self._rows[: len(self)]

    @property
    def examples(self) -> Array:
        """Views (n, d) of their own lengths."""
        views: Array = self.rows * np.array(self._lengths)[:, None]
        return views

    @property
    def targets(self) -> NDArray[np.intp]:
        """Index of the class of each view, (n,)."""
        return np.array(self._targets, dtype=np.intp)

    @property
    def gram(self) -> Array:
        """Inner products of the views (n, n), computed once for each pair; valid until views are added or forgotten."""
        n, rows, gram = len(self), self.rows, self._gram
        for place in range(self._n_known, n):  # not as one product, whose rounding would depend on how many there are
            gram[place, : place + 1] = np.einsum("ij,j->i", rows[: place + 1], rows[place])
            gram[:place, place] = gram[place, :place]
        self._n_known = n
        return gram[:n, :n]

    def add(self, z: Array, index: int) -> None:
        """Keep a view z (d,) of the class at `index`."""
        if not len(self._rows):
            self._take_memory()
        n = len(self)
        self._rows[n] = unit(z).astype(np.float32)
        self._lengths.append(float(np.linalg.norm(z)))
        self._targets.append(index)
        if len(self) > self.capacity:
            largest = int(np.bincount(self._targets).argmax())
            self._drop([self._targets.index(largest)])

    def forget(self, index: int) -> None:
        """Remove the views of the class at `index`; the indices of later classes decrease by one."""
        self._drop([place for place, target in enumerate(self._targets) if target == index])
        self._targets = [target - (target > index) for target in self._targets]

    def parts(self) -> NDArray[np.intp]:
        """Return the part of its class in which each view is, (n,): 0 or 1, or 0, 1 or 2 in classes with few views.

        Views that follow each other are alike, and so are those of one lesson. Held-back halves are as far apart as
        what a class was taught allows; views held back one by one would be judged with their neighbours known. Of up
        to five views, two thirds are left to learn from, for half of them would say too little of all.
        """
        return self._divided(lambda places: places)

    def opposite_parts(self, workspace: Workspace) -> NDArray[np.intp]:
        """Return parts of the same sizes, cut across the direction in which the views of a class differ most, (n,).

        However a class was taught, its views in one part are unlike those in the other: another side, or another place.
        """
        gram = self.gram

        def ordered(places: NDArray[np.intp]) -> NDArray[np.intp]:
            last = len(places) - 1
            with workspace.scratch():
                own = gathered(gram, places, places, workspace.take(len(places), len(places)))
                own -= own.mean(axis=0)
                own -= own.mean(axis=1, keepdims=True)
                # Symmetric; the columns of a transpose follow each other, so that no copy is made.
                found = eigh(own.T, subset_by_index=[last, last], overwrite_a=True, check_finite=False)
            return places[np.argsort(found[1][:, 0], kind="stable")]

        return self._divided(ordered)

    def _divided(self, ordered: Callable[[NDArray[np.intp]], NDArray[np.intp]]) -> NDArray[np.intp]:
        """Cut the places of the views of each class, in the order that `ordered` gives them, into parts."""
        targets = self.targets
        parts = np.zeros(len(targets), dtype=np.intp)
        for index in np.unique(targets):
            places = ordered(np.flatnonzero(targets == index))
            n_parts = 3 if 3 <= len(places) <= FEW_VIEWS else 2
            parts[places] = np.arange(len(places)) * n_parts // len(places)
        return parts

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the views and their classes as a dict of arrays."""
        return {
            "rows": self.rows.astype(np.float32),
            "lengths": np.array(self._lengths),
            "own": self.targets,
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any], n_features: int, n_classes: int) -> "KeptViews":
        """Rebuild from `state`. Raises StateError, KeyError, ShapeError, NotFiniteError."""
        rows, targets = finite("rows", state["rows"]), finite("own", state["own"])
        lengths = finite("lengths", state["lengths"])
        kept = cls(n_features)
        if rows.ndim != 2 or rows.shape[1] != n_features or len(rows) > kept.capacity:
            text = f"rows have shape {rows.shape}, not (at most {kept.capacity}, {n_features})"
            raise StateError(text, name="rows", value=rows.shape)
        if targets.shape != (len(rows),) or not np.isin(targets, np.arange(n_classes)).all():
            raise StateError(f"own contains values that are not indices of {n_classes} classes", name="own")
        if lengths.shape != (len(rows),) or (lengths < 0.0).any():
            raise StateError(f"lengths are not {len(rows)} numbers of at least 0", name="lengths")
        kept._lengths = lengths.tolist()
        if len(rows):
            kept._take_memory()
            kept._rows[: len(rows)] = rows
        kept._targets = targets.astype(int).tolist()
        return kept

    def _take_memory(self) -> None:
        n = self.capacity + 1  # one more than is kept, until the oldest one is removed
        self._rows, self._gram = (np.full((n, width), 0.0) for width in (self.n_features, n))  # zeros would not take it

    def _drop(self, places: list[int]) -> None:
        left = np.delete(np.arange(len(self)), places)
        known = left[left < self._n_known]
        for place, source in enumerate(left):  # one by one, for all at once would be copied first
            if place != source:
                self._rows[place] = self._rows[source]
        for place, source in enumerate(known):
            self._gram[place, : len(known)] = self._gram[source, known]
        self._n_known = len(known)
        self._lengths = [self._lengths[place] for place in left]
        self._targets = [self._targets[place] for place in left]


def unit(z: Array) -> Array:
    """Return rows scaled to unit length; zero stays zero."""
    largest = np.abs(z).max(axis=-1, keepdims=True)  # dividing by it first keeps the squares from overflowing
    scaled = z / np.where(largest > 0, largest, 1.0)
    length = np.linalg.norm(scaled, axis=-1, keepdims=True)
    return np.asarray(scaled / np.where(length > 0, length, 1.0))
