"""Examples that are held out to measure accuracy on, and their scores, which stay exact while the classifier learns."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array, finite
from icub_learning.errors import StateError

MOST_ROWS = 512
MOST_SCORES = 1 << 17  # rows x classes of one regularization, so that their cost stays below that of an example


class HeldOut:
    """Up to 512 examples, fewer with more than 256 classes, and what J classifiers of T classes say of each.

    When the classifiers learn a row z with gain g = A^-1 z (of the new A), their weights change by g (e_y - zW), so
    the score of a held-out x by (x g)(e_y - zW): exact scores of all m examples at O(m d) instead of O(m d^2).

    Args:
        n_features: d, length of a row.
        n_models: J.
    """

    def __init__(self, n_features: int, n_models: int) -> None:
        self._rows = np.zeros((0, n_features))
        self._own = np.zeros(0, np.intp)  # place of the class of each row, -1 for a free slot
        self._arrival = np.zeros(0, np.int64)
        self._scores = np.zeros((n_models, 0, 0))
        self._next = 0

    def __len__(self) -> int:
        return int((self._own >= 0).sum())

    def counts(self, n_classes: int) -> NDArray[np.intp]:
        """Number of rows held of each class, (T,)."""
        return np.bincount(self._own[self._own >= 0], minlength=n_classes)

    def of(self, known: NDArray[np.bool_]) -> tuple[Array, NDArray[np.intp]]:
        """Scores (J, m, T) and right classes (m,) of the rows whose class is among the `known` (T,)."""
        kept = np.flatnonzero((self._own >= 0) & known[self._own])
        return self._scores[:, kept, : len(known)], self._own[kept]

    def update(self, gains: Array, innovations: Array) -> None:
        """Follow one learned row: gains (J, d), innovations e_y - z W (J, T) of the weights before it."""
        n_classes = innovations.shape[1]
        self._widen(n_classes)
        if len(self._rows):
            change = self._rows @ gains.T
            for scores, steps, innovation in zip(self._scores, change.T, innovations, strict=True):
                scores[:, :n_classes] += steps[:, None] * innovation

    def add(self, z: Array, place: int, scores: Array) -> None:
        """Hold out a row z (d,) of the class at `place`, with its scores (J, T)."""
        self._widen(scores.shape[1])
        free = np.flatnonzero(self._own < 0)
        if not len(free):
            free = np.array([len(self._own)])
            grown = max(16, len(self._own))  # doubled
            self._rows = np.concatenate([self._rows, np.zeros((grown, self._rows.shape[1]))])
            self._own = np.concatenate([self._own, np.full(grown, -1)])
            self._arrival = np.concatenate([self._arrival, np.zeros(grown, np.int64)])
            self._scores = np.concatenate(
                [self._scores, np.zeros((len(self._scores), grown, self._scores.shape[2]))], axis=1
            )
        slot = free[0]
        self._rows[slot], self._own[slot], self._arrival[slot] = z, place, self._next
        self._scores[:, slot] = 0.0
        self._scores[:, slot, : scores.shape[1]] = scores
        self._next += 1

    def evict(self, n_classes: int) -> tuple[Array, int] | None:
        """Take out the oldest row of the class with most rows, if there are too many; row and class, or None."""
        if len(self) <= min(MOST_ROWS, max(1, MOST_SCORES // max(1, n_classes))):
            return None
        crowded = int(self.counts(n_classes).argmax())
        mine = np.flatnonzero(self._own == crowded)
        slot = int(mine[self._arrival[mine].argmin()])
        self._free(slot)
        return self._rows[slot].copy(), crowded

    def forget(self, place: int) -> None:
        """Drop the rows of the class at `place`, and its scores; classes after it move up."""
        for slot in np.flatnonzero(self._own == place).tolist():
            self._free(slot)
        self._own[self._own > place] -= 1
        if place < self._scores.shape[2]:
            self._scores = np.delete(self._scores, place, axis=2)

    def rows(self) -> list[tuple[Array, int]]:
        """All rows with the places of their classes, oldest first."""
        held = np.flatnonzero(self._own >= 0)
        return [(self._rows[slot], int(self._own[slot])) for slot in held[self._arrival[held].argsort()]]

    def state(self, n_classes: int) -> dict[str, Array]:
        """All of it as a dict of arrays."""
        held = np.flatnonzero(self._own >= 0)
        held = held[self._arrival[held].argsort()]
        self._widen(n_classes)
        return {
            "rows": self._rows[held],
            "own": self._own[held],
            "scores": self._scores[:, held, :n_classes].copy(),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any], n_features: int, n_models: int, n_classes: int) -> "HeldOut":
        """Rebuild from `state`. Raises StateError, KeyError, ShapeError, NotFiniteError."""
        rows, own, scores = (finite(name, state[name]) for name in ("rows", "own", "scores"))
        if rows.ndim != 2 or rows.shape[1] != n_features or own.shape != (len(rows),):
            raise StateError(f"rows have shape {rows.shape}, not (m, {n_features})", name="rows")
        if (own != np.rint(own)).any() or ((own < 0) | (own >= n_classes)).any():
            raise StateError("own are no places of classes", name="own")
        if scores.shape != (n_models, len(rows), n_classes):
            raise StateError(f"scores have shape {scores.shape}", name="scores")
        held = cls(n_features, n_models)
        for i, row in enumerate(rows):
            held.add(row, int(own[i]), scores[:, i])
        return held

    def _free(self, slot: int) -> None:
        self._own[slot] = -1

    def _widen(self, n_classes: int) -> None:
        """Room for the scores of so many classes."""
        if n_classes > self._scores.shape[2]:
            room = np.zeros((*self._scores.shape[:2], max(8, n_classes)))
            self._scores = np.concatenate([self._scores, room], axis=2)
