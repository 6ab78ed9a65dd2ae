"""A bounded memory of labelled views: a sample of what each class was taught."""

import zlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from icub_learning.arrays import Array, finite
from icub_learning.errors import StateError
from icub_learning.recursive.checks import LARGEST_VALUE

MAX_VIEWS = 800  # largest number of views of all objects together
MAX_VALUES = 1_500_000  # largest number of values in all views; bounds memory and time for long feature vectors
MIN_VIEWS = 32  # smallest limit on the number of views, however long the feature vectors are
N_PARTS = 3  # number of parts of a class, each held back in turn
STEPS = 2.0**16  # steps per unit of a coordinate of a unit vector: sums of products of 2^21 views are exact in 53 bits
N_DRAWN = 5  # number of samples of independent views of each class, with which the kept ones are compared
NEAR = 0.1  # share of the usual squared distance in a class below which two views are one: 1 % of photographs have 0.29
CLEARLY = 2.0  # standard errors by which the number of kept views in pairs clearly differs from the one expected


class KeptViews:
    """Views of each class, scaled to unit length and rounded to multiples of 2^-16.

    When the memory is full, the classes with most views give up the one with the largest hash. So what is kept of a
    class is a random sample of all its views, and the same one in whatever order they came; the newest would be the
    last ones of a lesson, which are alike. A view takes the place of the one that is given up, so that keeping it costs
    O(d) however many there are. The first view allocates all memory: a process that learns for weeks does not grow.
    """

    def __init__(self, n_features: int) -> None:
        self.n_features = n_features
        self.capacity, self._n = max(MIN_VIEWS, min(MAX_VIEWS, MAX_VALUES // n_features)), 0
        self._rows, self._next_stamp = np.zeros((0, n_features)), 0
        # Length, class, hash and place in the order of learning of each view.
        self._lengths, self._targets, self._hashes, self._stamps = (np.zeros(0) for _ in range(4))

    def __len__(self) -> int:
        return self._n

    @property
    def rows(self) -> Array:
        """Views (n, d) of unit length, oldest first."""
        return np.asarray(self._rows[self._order])

    @property
    def lengths(self) -> Array:
        """Original length of each view, (n,)."""
        return np.asarray(self._lengths[self._order])

    @property
    def examples(self) -> Array:
        """Views (n, d) of their original lengths, oldest first."""
        return np.clip(self.rows * self.lengths[:, None], -LARGEST_VALUE, LARGEST_VALUE)  # rounding may exceed it

    @property
    def targets(self) -> NDArray[np.intp]:
        """Index of the class of each view, (n,)."""
        return self._targets[self._order].astype(np.intp)

    @property
    def _tables(self) -> tuple[Array, ...]:
        return self._rows, self._lengths, self._targets, self._hashes, self._stamps

    @property
    def _order(self) -> NDArray[np.intp]:
        return np.argsort(self._stamps[: self._n])

    def add(self, z: Array, index: int, length: float | None = None) -> Array:
        """Keep a view z (d,) of the class at `index`; return it as it is kept, (d,). If z is a row of other KeptViews,
        `length` is its original length: it is taken as it is, since rounding it again would change it."""
        if not len(self._rows):
            self._take_memory()
        row, length = (rounded(z), float(np.linalg.norm(z))) if length is None else (z, length)
        self._put(self._n, row, length, index, self._next_stamp)
        self._next_stamp += 1
        self._n += 1
        if self._n > self.capacity:
            targets = self._targets[: self._n].astype(np.intp)
            counts = np.bincount(targets)
            given_up = int(np.where(counts[targets] == counts.max(), self._hashes[: self._n], -1.0).argmax())
            self._n -= 1
            for table in self._tables:
                table[given_up] = table[self._n]
        return row

    def forget(self, index: int) -> None:
        """Remove the views of the class at `index`; the indices of later classes decrease by one."""
        left = np.flatnonzero(self._targets[: self._n] != index)
        for table in self._tables:
            for place, source in enumerate(left):  # one by one, because indexing all at once copies them first
                table[place] = table[source]
        self._n = len(left)
        self._targets[: self._n] -= self._targets[: self._n] > index

    def parts(self) -> NDArray[np.intp]:
        """Return thirds of each class, (n,) from 0, in the order of learning, which keeps alike neighbours together."""
        return self._divided(lambda places: places, N_PARTS)

    def random_parts(self) -> NDArray[np.intp]:
        """Return thirds of each class, (n,), in the order of hashes: the same in whatever order the views came."""
        hashes = self._hashes[self._order]
        return self._divided(lambda places: places[np.argsort(hashes[places], kind="stable")], N_PARTS)

    def n_different(self, counts: Array) -> Array:
        """Estimate how many different views (T,) there are among the `counts` (T,) learned of each class: frames of an
        object that lay still count as one. Views that are not kept are estimated (Chao and Lin, Biometrics 2012)."""
        order, found = np.argsort(self._hashes[: self._n]), np.array(counts, dtype=np.float64)
        rows, targets = self._rows[order].astype(np.float32), self._targets[order]
        tables = [2.0 - 2.0 * own @ own.T for own in (rows[targets == index] for index in range(len(found)))]
        usual = np.median([np.median(one[np.triu_indices(len(one), 1)]) for one in tables if len(one) > 1] or [0.0])
        for index, squares in enumerate(tables):
            near, left, sizes = squares < NEAR * usual, np.arange(len(squares)), list[int]()
            np.fill_diagonal(near, True)
            while len(left):
                alike = near[left[0], left]
                left, sizes = left[~alike], [*sizes, int(alike.sum())]
            if sizes:
                once, rest = sizes.count(1), 1.0 - len(squares) / counts[index]
                found[index] = len(sizes) + rest * once**2 / max(2 * rest * sizes.count(2) + (1 - rest) * once, 1e-9)
        return found

    def unlike_parts(self) -> NDArray[np.intp]:
        """Return thirds of each class, (n,), as unlike each other as later queries are unlike what was taught.

        These are the thirds in the order of learning, or opposite thirds if clearly more views have a mutual nearest
        neighbour in another third than expected, which happens with photographs of several shelves in any order. The
        number expected is that among independent normal views of the same covariances. Classes with clearly fewer do
        not count: copies of a view in one third, as of an object that lay still, say nothing of the other classes.
        """
        rows, targets, parts, rng = self.rows, self.targets, self.parts(), np.random.default_rng(0)
        total = np.zeros(3)  # numbers of views, of those in pairs as expected, and as found
        for index in np.unique(targets):
            own = parts[targets == index]
            if len(own) <= N_PARTS:
                continue
            centred = rows[targets == index].astype(np.float32)
            centred -= centred.mean(axis=0)
            gram = centred @ centred.T
            mixings = (rng.standard_normal(gram.shape, np.float32) for _ in range(N_DRAWN))
            expected = sum(n_paired(mixing @ gram @ mixing.T, own) for mixing in mixings) / N_DRAWN
            counts = np.array([len(own), expected, n_paired(gram, own)])
            if expected - counts[2] <= margin(len(own), expected):
                total += counts
        return self.opposite_parts(N_PARTS) if total[2] - total[1] > margin(total[0], total[1]) else parts

    def opposite_parts(self, n_parts: int) -> NDArray[np.intp]:
        """Return halves or thirds of each class, (n,), in the order along its first principal direction."""
        rows = self.rows

        def ordered(places: NDArray[np.intp]) -> NDArray[np.intp]:
            centred, last = rows[places] - rows[places].mean(axis=0), [len(places) - 1] * 2
            found = eigh(centred @ centred.T, subset_by_index=last, overwrite_a=True, check_finite=False)
            return places[np.argsort(found[1][:, 0], kind="stable")]

        return self._divided(ordered, n_parts)

    def _divided(self, ordered: Callable[[NDArray[np.intp]], NDArray[np.intp]], n_parts: int) -> NDArray[np.intp]:
        """Return the part of each view, (n,): each class is cut into equal parts in the order given by `ordered`."""
        targets = self.targets
        parts = np.zeros(len(targets), dtype=np.intp)
        for index in np.unique(targets):
            places = ordered(np.flatnonzero(targets == index))
            parts[places] = np.arange(len(places)) * min(n_parts, len(places)) // len(places)
        return parts

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the views and their classes as a dict of arrays."""
        return {"rows": self.rows.astype(np.float32), "lengths": self.lengths, "own": self.targets}

    @classmethod
    def from_state(cls, state: Mapping[str, Any], n_features: int, n_classes: int) -> "KeptViews":
        """Rebuild from `state`. Raises StateError, KeyError, ShapeError, NotFiniteError."""
        rows, targets = finite("rows", state["rows"]), finite("own", state["own"])
        lengths, kept = finite("lengths", state["lengths"]), cls(n_features)
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
        return kept

    def _put(self, place: int, row: Array, length: float, index: int, stamp: int) -> None:
        self._rows[place] = row
        self._lengths[place], self._targets[place], self._stamps[place] = length, index, stamp
        self._hashes[place] = zlib.crc32(row.tobytes())

    def _take_memory(self) -> None:
        n = self.capacity + 1  # one place more than are kept, for a new view until another one is given up
        self._rows = np.full((n, self.n_features), 0.0)  # np.zeros would not allocate it yet
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


def n_paired(gram: Any, parts: NDArray[np.intp]) -> int:
    """Return how many views have a mutual nearest neighbour in another part, from their Gram matrix (n, n)."""
    squares = np.diag(gram)[:, None] + np.diag(gram) - 2.0 * gram
    nearest = np.where(parts[:, None] == parts, np.inf, squares).argmin(axis=1)
    return int(np.count_nonzero(nearest[nearest] == np.arange(len(parts))))


def margin(n: float, expected: float) -> float:
    """Return CLEARLY standard deviations of the number of views in pairs, among n, of which `expected` are expected."""
    return CLEARLY * float(np.sqrt(expected * (1.0 - expected / max(n, 1)) * (1.0 + 1.0 / N_DRAWN)))
