"""Examples that are held out to measure accuracy on."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array, finite
from icub_learning.errors import StateError

MOST_ROWS = 512
MOST_SCORES = 1 << 17  # rows x classes


class HeldOut:
    """Up to 512 examples, fewer with more than 256 classes; the class with most of them gives way.

    Args:
        n_features: d, length of a row.
    """

    def __init__(self, n_features: int) -> None:
        self._rows = np.zeros((0, n_features))  # a table with free places, which doubles when it is full
        self._own = np.zeros(0, np.intp)  # place of the class of each row, -1 for a free one
        self._arrival = np.zeros(0, np.int64)
        self._next = 0
        self._counts: list[int] = []  # of the rows held of each class, as far as there are any

    def __len__(self) -> int:
        return sum(self._counts)

    def count(self, place: int) -> int:
        """Number of rows held of one class."""
        return self._counts[place] if place < len(self._counts) else 0

    def counts(self, n_classes: int) -> NDArray[np.intp]:
        """Number of rows held of each class, (T,)."""
        return np.array(self._counts + [0] * (n_classes - len(self._counts)), np.intp)

    def rows(self, known: NDArray[np.bool_] | None = None) -> tuple[Array, NDArray[np.intp]]:
        """Rows (m, d), oldest first, and the places of their classes (m,); of the classes `known` (T,) where given."""
        held = np.flatnonzero(self._own >= 0)
        if known is not None:
            held = held[known[self._own[held]]]
        held = held[self._arrival[held].argsort()]
        return self._rows[held], self._own[held]

    def add(self, z: Array, place: int) -> None:
        """Hold out a row z (d,) of the class at `place`."""
        if (self._own >= 0).all():
            grown = max(16, len(self._own))
            self._rows = np.concatenate([self._rows, np.zeros((grown, self._rows.shape[1]))])
            self._own = np.concatenate([self._own, np.full(grown, -1)])
            self._arrival = np.concatenate([self._arrival, np.zeros(grown, np.int64)])
        slot = int((self._own < 0).argmax())
        self._rows[slot], self._own[slot], self._arrival[slot] = z, place, self._next
        self._next += 1
        self._counts += [0] * (place + 1 - len(self._counts))
        self._counts[place] += 1

    def evict(self, n_classes: int) -> tuple[Array, int] | None:
        """Take out the oldest row of the class with most rows, if there are too many; row and class, or None."""
        if len(self) <= min(MOST_ROWS, max(1, MOST_SCORES // max(1, n_classes))):
            return None
        crowded = self._counts.index(max(self._counts))
        self._counts[crowded] -= 1
        mine = np.flatnonzero(self._own == crowded)
        slot = int(mine[self._arrival[mine].argmin()])
        self._own[slot] = -1
        return self._rows[slot].copy(), crowded

    def forget(self, place: int) -> None:
        """Drop the rows of the class at `place`; classes after it move up."""
        self._own[self._own == place] = -1
        self._own[self._own > place] -= 1
        del self._counts[place : place + 1]

    def state(self) -> dict[str, NDArray[Any]]:
        """All of it as a dict of arrays."""
        rows, own = self.rows()
        return {"rows": rows, "own": own}

    @classmethod
    def from_state(cls, state: Mapping[str, Any], n_features: int, n_classes: int) -> "HeldOut":
        """Rebuild from `state`. Raises StateError, KeyError, ShapeError, NotFiniteError."""
        rows, own = finite("rows", state["rows"]), finite("own", state["own"])
        if rows.ndim != 2 or rows.shape[1] != n_features or own.shape != (len(rows),):
            raise StateError(f"rows have shape {rows.shape}, not (m, {n_features})", name="rows")
        if (own != np.rint(own)).any() or ((own < 0) | (own >= n_classes)).any():
            raise StateError("own are no places of classes", name="own")
        held = cls(n_features)
        for row, place in zip(rows, own.astype(int).tolist(), strict=True):
            held.add(row, place)
        return held
