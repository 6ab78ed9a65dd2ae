"""Second moments of each class, with which any weighting of the classes is a sum."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from icub_learning.arrays import Array, finite
from icub_learning.errors import StateError


class SecondMoments:
    """Z_t^T Z_t of each class t, as rows with the same second moment: examples, and at most d rows for many of them.

    Few examples take as much memory as they are; when a class has twice as many rows as features, a QR decomposition
    replaces them by a triangle, O(d^3) once in d examples.

    Args:
        n_features: d.
    """

    def __init__(self, n_features: int) -> None:
        self._n_features = n_features
        self._rows: list[list[Array]] = []

    def add(self, z: Array, index: int) -> None:
        """Add one example z (d,) of the class at `index`."""
        while len(self._rows) <= index:
            self._rows.append([])
        rows = self._rows[index]
        rows.append(np.array(z))
        if len(rows) >= 2 * self._n_features:
            self._rows[index] = list(qr(np.array(rows), mode="r", check_finite=False)[0][: self._n_features])

    def forget(self, index: int) -> None:
        """Remove the class at `index`; the indices of later classes decrease by one."""
        del self._rows[index]

    def rows(self, index: int) -> Array:
        """Return rows (k, d) with the second moment of a class."""
        return np.array(self._rows[index]).reshape(-1, self._n_features)

    def solve(self, weights: Array, sums: Array, regularization: float) -> Array:
        """Return (sum_t w_t Z_t^T Z_t + lambda I)^-1 b, (d, T), for weighted class sums b^T (T, d).

        With fewer rows than features the system has their number as its size (Woodbury).
        """
        stacked = np.concatenate([np.sqrt(weight) * self.rows(index) for index, weight in enumerate(weights)])
        if len(stacked) < self._n_features:
            small = stacked @ stacked.T + regularization * np.eye(len(stacked))
            inner = np.linalg.solve(small, stacked @ sums.T)
            return np.asarray((sums.T - stacked.T @ inner) / regularization)
        gram = stacked.T @ stacked + regularization * np.eye(self._n_features)
        return np.asarray(np.linalg.solve(gram, sums.T))

    def state(self) -> dict[str, NDArray[Any]]:
        """Return all rows and the number of each class as a dict of arrays."""
        counts = np.array([len(rows) for rows in self._rows], np.int64)
        return {"rows": np.array([row for rows in self._rows for row in rows]), "counts": counts}

    @classmethod
    def from_state(cls, state: Mapping[str, Any], n_features: int, n_classes: int) -> "SecondMoments":
        """Rebuild from `state`. Raises StateError, KeyError, ShapeError, NotFiniteError."""
        rows, counts = finite("rows", state["rows"]), np.asarray(state["counts"])
        if counts.shape != (n_classes,) or (counts < 1).any() or rows.shape != (counts.sum(), n_features):
            text = f"rows have shape {rows.shape}, not those of {n_classes} classes with {n_features} features"
            raise StateError(text, name="rows", value=rows.shape)
        made = cls(n_features)
        made._rows = [list(part) for part in np.split(rows, np.cumsum(counts)[:-1])] if n_classes else []
        return made
