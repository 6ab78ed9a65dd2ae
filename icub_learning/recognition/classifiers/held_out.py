"""Examples that are held out of learning, to measure the accuracy on."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array, finite
from icub_learning.errors import StateError

MAX_EXAMPLES = 512  # kept
MAX_SCORES = 1 << 17  # examples x classes


class HeldOut:
    """Held-out examples with the indices of their classes; `evict` limits their number.

    The limit is 512 examples, or fewer with more than 256 classes.

    Args:
        n_features: d, length of an example.
    """

    def __init__(self, n_features: int) -> None:
        self._n_features = n_features
        self._examples: list[tuple[Array, int]] = []  # with the indices of their classes, oldest first
        self._counts: list[int] = []  # examples of each class, up to the last class with one

    def __len__(self) -> int:
        return len(self._examples)

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
        held = [entry for entry in self._examples if chosen is None or chosen[entry[1]]]
        rows = np.array([z for z, _ in held]).reshape(len(held), self._n_features)
        return rows, np.array([index for _, index in held], np.intp)

    def add(self, z: Array, index: int) -> None:
        """Hold out an example z (d,) of the class at `index`."""
        self._examples.append((np.array(z), index))
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
        return self._examples.pop(next(k for k, (_, index) in enumerate(self._examples) if index == largest))

    def forget(self, index: int) -> None:
        """Remove the examples of the class at `index`; the indices of later classes decrease by one."""
        self._examples = [(z, other - (other > index)) for z, other in self._examples if other != index]
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
