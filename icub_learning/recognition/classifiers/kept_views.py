"""A bounded memory of labelled views: a sample of what each class was taught."""

import zlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.linalg import eigh

from icub_learning.arrays import Array, finite
from icub_learning.errors import StateError

MAX_VIEWS = 800  # of all objects
MAX_VALUES = 1_500_000  # numbers in all views; bounds memory and time for long feature vectors
MIN_VIEWS = 32  # however long the vectors of features are
N_PARTS = 3  # of a class, each held back in turn
STEPS = 2.0**16  # of a coordinate of a unit vector: sums of products of 2^21 views are exact in 53 bits
# Squared distance of views that are held back together, beside the median of their class. Of 0, 0.4, 0.5 and 0.6 the
# one at which `reject_known` came nearest to what it says on rendered objects and digits.
ALIKE = 0.5


class KeptViews:
    """Views of each class, scaled to unit length and rounded to multiples of 2^-16.

    When the memory is full, the class with most views gives up the one with the largest hash. So what is kept of a
    class is a random sample of all its views, and the same one in whatever order they came; the newest would be the
    last ones of a lesson, which are alike. A view takes the place of the one that is given up, so that keeping it costs
    O(d) however many there are. All memory is taken with the first view: a process that learns for weeks does not grow.

    Args:
        n_features: d, length of a view.

    Attributes:
        n_features: as given.
        capacity: largest number of views.
    """

    def __init__(self, n_features: int) -> None:
        self.n_features = n_features
        self.capacity = max(MIN_VIEWS, min(MAX_VIEWS, MAX_VALUES // n_features))
        self._n = 0
        self._rows = np.zeros((0, n_features))
        # Of each view: its length, class, hash, and its place in the order of learning.
        self._lengths, self._targets, self._hashes, self._stamps = (np.zeros(0) for _ in range(4))
        self._next_stamp = 0
        self._counts: list[int] = []  # views of each class, up to the last class with one

    def __len__(self) -> int:
        return self._n

    @property
    def rows(self) -> Array:
        """Views (n, d) of unit length, oldest first."""
        return np.asarray(self._rows[self._order])

    @property
    def examples(self) -> Array:
        """Views (n, d) of their own lengths."""
        return np.asarray(self.rows * self._lengths[self._order][:, None])

    @property
    def targets(self) -> NDArray[np.intp]:
        """Index of the class of each view, (n,)."""
        return self._targets[self._order].astype(np.intp)

    @property
    def _order(self) -> NDArray[np.intp]:
        """Places of the views in the memory, oldest first."""
        return np.argsort(self._stamps[: self._n])

    def count(self, index: int) -> int:
        """Return the number of kept views of one class."""
        return self._counts[index] if index < len(self._counts) else 0

    def add(self, z: Array, index: int) -> Array:
        """Keep a view z (d,) of the class at `index`; return it as it is kept, (d,)."""
        if not len(self._rows):
            self._take_memory()
        row = rounded(z)
        self._put(self._n, row, float(np.linalg.norm(z)), index, self._next_stamp)
        self._next_stamp += 1
        self._n += 1
        self._counts += [0] * (index + 1 - len(self._counts))
        self._counts[index] += 1
        if self._n > self.capacity:
            largest = self._counts.index(max(self._counts))
            self._counts[largest] -= 1
            n = self._n
            given_up = int(np.where(self._targets[:n] == largest, self._hashes[:n], -1.0).argmax())
            self._n -= 1
            for table in (self._rows, self._lengths, self._targets, self._hashes, self._stamps):
                table[given_up] = table[self._n]
        return row

    def forget(self, index: int) -> None:
        """Remove the views of the class at `index`; the indices of later classes decrease by one."""
        left = np.flatnonzero(self._targets[: self._n] != index)
        for table in (self._rows, self._lengths, self._targets, self._hashes, self._stamps):
            for place, source in enumerate(left):  # one by one, for all at once would be copied first
                table[place] = table[source]
        self._n = len(left)
        self._targets[: self._n] -= self._targets[: self._n] > index
        del self._counts[index : index + 1]

    def parts(self) -> NDArray[np.intp]:
        """Return the part of its class in which each view is, (n,): the first, second or last third, from 0.

        Thirds are in the order of learning, because views that follow each other are alike: held back one by one they
        would be judged with their neighbours known.
        """
        return self._divided(lambda places: places, N_PARTS)

    def random_parts(self) -> NDArray[np.intp]:
        """Return thirds of each class, (n,), in the order of hashes: the same in whatever order the views came."""
        hashes = self._hashes[self._order]
        return self._divided(lambda places: places[np.argsort(hashes[places], kind="stable")], N_PARTS)

    def separate_parts(self) -> NDArray[np.intp]:
        """Return thirds of each class, (n,), none of which has a view much like one in another.

        A photograph may have a twin that was taken a moment before or after it; what is asked for later has none. So
        groups (complete linkage) within which squared distances are below ALIKE times the median of the class stay
        together, in the order of learning. Three views are three groups. One view of each of many classes: these are
        in turn in the first, second and last third.
        """
        rows, targets, parts = self.rows, self.targets, self.parts()
        for index in np.unique(targets):
            places = np.flatnonzero(targets == index)
            if len(places) > N_PARTS:
                parts[places] = _separated(rows[places])
            elif len(places) == 1:
                parts[places] = index % N_PARTS
        return parts

    def opposite_parts(self) -> NDArray[np.intp]:
        """Return halves, cut across the direction in which the views of a class differ most, (n,).

        However a class was taught, its views in one part are unlike those in the other: another side, or another place.
        """

        rows = self.rows

        def ordered(places: NDArray[np.intp]) -> NDArray[np.intp]:
            centred = rows[places] - rows[places].mean(axis=0)
            last = [len(places) - 1] * 2
            found = eigh(centred @ centred.T, subset_by_index=last, overwrite_a=True, check_finite=False)
            return places[np.argsort(found[1][:, 0], kind="stable")]

        return self._divided(ordered, 2)

    def _divided(self, ordered: Callable[[NDArray[np.intp]], NDArray[np.intp]], n_parts: int) -> NDArray[np.intp]:
        """Cut the places of the views of each class, in the order that `ordered` gives them, into parts."""
        targets = self.targets
        parts = np.zeros(len(targets), dtype=np.intp)
        for index in np.unique(targets):
            places = ordered(np.flatnonzero(targets == index))
            parts[places] = np.arange(len(places)) * min(n_parts, len(places)) // len(places)
        return parts

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the views and their classes as a dict of arrays."""
        return {
            "rows": self.rows.astype(np.float32),
            "lengths": self._lengths[self._order],
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
        if len(rows):
            kept._take_memory()
        for place, row in enumerate(rows):
            kept._put(place, np.rint(row * STEPS) / STEPS, float(lengths[place]), int(targets[place]), place)
        kept._n = kept._next_stamp = len(rows)
        kept._counts = np.bincount(targets.astype(int)).tolist() if len(rows) else []
        return kept

    def _put(self, place: int, row: Array, length: float, index: int, stamp: int) -> None:
        self._rows[place] = row
        self._lengths[place], self._targets[place], self._stamps[place] = length, index, stamp
        self._hashes[place] = zlib.crc32(row.tobytes())

    def _take_memory(self) -> None:
        n = self.capacity + 1  # one more than is kept, until one is given up
        self._rows = np.full((n, self.n_features), 0.0)  # zeros would not take it
        self._lengths, self._targets, self._hashes, self._stamps = (np.full(n, 0.0) for _ in range(4))


def rounded(z: Array) -> Array:
    """Return z (d,) scaled to unit length, and rounded."""
    return np.asarray(np.rint(unit(z) * STEPS) / STEPS)


def unit(z: Array) -> Array:
    """Return rows scaled to unit length; zero stays zero."""
    largest = np.abs(z).max(axis=-1, keepdims=True)  # dividing by it first keeps the squares from overflowing
    scaled = z / np.where(largest > 0, largest, 1.0)
    length = np.linalg.norm(scaled, axis=-1, keepdims=True)
    return np.asarray(scaled / np.where(length > 0, length, 1.0))


def _separated(rows: Array) -> NDArray[np.intp]:
    """Return the part (n,) of each of the views (n, d) of one class; see KeptViews.separate_parts."""
    n = len(rows)
    squares = np.maximum(2.0 - 2.0 * rows @ rows.T, 0.0)[np.triu_indices(n, 1)]
    groups = fcluster(linkage(squares, "complete"), ALIKE * np.median(squares), "distance") - 1
    sizes = np.bincount(groups)
    if len(sizes) == 1:  # as of a camera and an object that do not move
        groups, sizes = np.arange(n), np.ones(n, dtype=np.intp)
    order = np.argsort(np.bincount(groups, np.arange(n)) / sizes, kind="stable")
    middles = np.empty(len(sizes))
    middles[order] = np.cumsum(sizes[order]) - sizes[order] / 2.0
    return np.asarray((N_PARTS * middles[groups] / n).astype(np.intp))
