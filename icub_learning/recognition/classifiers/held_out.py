"""Examples that are held out of learning, to measure the accuracy on."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array, finite
from icub_learning.errors import StateError

MAX_EXAMPLES = 512
MAX_SCORES = 1 << 17  # examples x classes
INITIAL_CAPACITY = 16  # examples


class HeldOut:
    """Held-out examples with the indices of their classes; `evict` limits their number.

    The limit is 512 examples, or fewer with more than 256 classes.

    Args:
        n_features: d, length of an example.
    """

    def __init__(self, n_features: int) -> None:
        self._rows = np.zeros((0, n_features))  # a table with free rows, which doubles in size when it is full
        self._targets = np.zeros(0, np.intp)  # index of the class of each row, -1 for a free row
        self._arrival = np.zeros(0, np.int64)  # consecutive numbers, which give the age
        self._next_arrival = 0
        self._counts: list[int] = []  # held-out examples of each class, up to the last class with one

    def __len__(self) -> int:
        return sum(self._counts)

    def count(self, index: int) -> int:
        """Return the number of held-out examples of one class."""
        return self._counts[index] if index < len(self._counts) else 0

    def counts(self, n_classes: int) -> NDArray[np.intp]:
        """Return the number of held-out examples of each class, (T,)."""
        return np.array(self._counts + [0] * (n_classes - len(self._counts)), np.intp)

    def examples(self, chosen: NDArray[np.bool_] | None = None) -> tuple[Array, NDArray[np.intp]]:
        """Return the examples (m, d), oldest first, and the indices of their classes (m,).

        Args:
            chosen: (T,) classes to return; None: all.
        """
        held = np.flatnonzero(self._targets >= 0)
        if chosen is not None:
            held = held[chosen[self._targets[held]]]
        held = held[self._arrival[held].argsort()]
        return self._rows[held], self._targets[held]

    def add(self, z: Array, index: int) -> None:
        """Hold out an example z (d,) of the class at `index`."""
        if (self._targets >= 0).all():
            growth = max(INITIAL_CAPACITY, len(self._targets))
            self._rows = np.concatenate([self._rows, np.zeros((growth, self._rows.shape[1]))])
            self._targets = np.concatenate([self._targets, np.full(growth, -1)])
            self._arrival = np.concatenate([self._arrival, np.zeros(growth, np.int64)])
        row = int((self._targets < 0).argmax())
        self._rows[row], self._targets[row], self._arrival[row] = z, index, self._next_arrival
        self._next_arrival += 1
        self._counts += [0] * (index + 1 - len(self._counts))
        self._counts[index] += 1

    def evict(self, n_classes: int) -> tuple[Array, int] | None:
        """Remove the oldest example of the class with most examples, if there are more examples than the limit.

        Returns:
            The example (d,) and the index of its class; None if the limit is kept.
        """
        if len(self) <= min(MAX_EXAMPLES, max(1, MAX_SCORES // max(1, n_classes))):
            return None
        largest = self._counts.index(max(self._counts))
        self._counts[largest] -= 1
        rows = np.flatnonzero(self._targets == largest)
        oldest = int(rows[self._arrival[rows].argmin()])
        self._targets[oldest] = -1
        return self._rows[oldest].copy(), largest

    def forget(self, index: int) -> None:
        """Remove the examples of the class at `index`; the indices of later classes decrease by one."""
        self._targets[self._targets == index] = -1
        self._targets[self._targets > index] -= 1
        del self._counts[index : index + 1]

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the examples and their classes as a dict of arrays."""
        rows, targets = self.examples()
        return {"rows": rows, "own": targets}

    @classmethod
    def from_state(cls, state: Mapping[str, Any], n_features: int, n_classes: int) -> "HeldOut":
        """Rebuild from `state`. Raises StateError, KeyError, ShapeError, NotFiniteError."""
        rows, targets = finite("rows", state["rows"]), finite("own", state["own"])
        if rows.ndim != 2 or rows.shape[1] != n_features or targets.shape != (len(rows),):
            raise StateError(f"rows have shape {rows.shape}, not (m, {n_features})", name="rows")
        if (targets != np.rint(targets)).any() or ((targets < 0) | (targets >= n_classes)).any():
            raise StateError(f"own contains values that are not indices of {n_classes} classes", name="own")
        held = cls(n_features)
        for row, index in zip(rows, targets.astype(int).tolist(), strict=True):
            held.add(row, index)
        return held
