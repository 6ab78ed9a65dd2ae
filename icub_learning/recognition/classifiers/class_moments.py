"""Sum and number of the examples of each class: all that least squares needs to know of 0/1 targets."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icub_learning.arrays import Array, finite
from icub_learning.errors import ParameterError, StateError
from icub_learning.recognition.classifiers.labels import check_label, pack_labels, shorten, unpack_labels

INITIAL_CAPACITY = 8  # number of classes that the tables hold at first
SHOWN = 10  # largest number of labels named in a message


def recoding_factors(counts: ArrayLike, alpha: float) -> Array:
    """Return the factors (k / gamma_t)^alpha, (T,), by which recoding multiplies scores; k is the sum of all counts."""
    return np.asarray(np.exp(alpha * np.log(np.sum(counts) / counts)))


class ClassMoments:
    """The columns of b = Z^T Y for targets coded 0/1, which are sums of examples, and the counts gamma (Algorithm 2).

    An example z (d,) changes one column only. Tables double in size when they are full.
    """

    def __init__(self, n_features: int) -> None:
        self.labels: list[str] = []  # labels in the order in which they were first learned
        self._index: dict[str, int] = {}
        self._sums = np.zeros((INITIAL_CAPACITY, n_features))
        self._counts = np.zeros(INITIAL_CAPACITY, np.int64)

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def sums(self) -> Array:
        """b^T, (T, d): a view."""
        return self._sums[: len(self)]

    @property
    def counts(self) -> NDArray[np.int64]:
        """gamma, (T,): a view."""
        return self._counts[: len(self)]

    def add(self, z: Array, label: str) -> None:
        """Add one example z (d,); a new label adds a class."""
        row = self.row(label)
        self._sums[row] += z
        self._counts[row] += 1

    def index(self, label: object, name: str = "label") -> int:
        """Return the index of a label in `labels`. Raises ParameterError if it is unknown."""
        if isinstance(label, str) and label in self._index:
            return self._index[label]
        known = ", ".join(repr(shorten(entry)) for entry in self.labels[:SHOWN])
        more = ", ..." if len(self.labels) > SHOWN else ""
        bound = f"one of [{known}{more}]" if known else "a label that was learned"
        raise ParameterError(name, shorten(label) if isinstance(label, str) else label, bound)

    def forget(self, label: str) -> None:
        """Remove a class. Raises ParameterError if it is unknown."""
        row, last = self.index(label), len(self.labels) - 1
        for table in (self._sums, self._counts):
            table[row:last] = table[row + 1 : last + 1]
            table[last] = 0
        del self.labels[row]
        self._index = {entry: index for index, entry in enumerate(self.labels)}

    def rename(self, old: str, new: str) -> None:
        """Give a class another label; its index stays. Raises ParameterError."""
        row = self.index(old, "old_label")
        if check_label(new, "new_label") != old and new in self._index:
            raise ParameterError("new_label", shorten(new), "a label that no other class has")
        del self._index[old]
        self.labels[row] = str(new)
        self._index[str(new)] = row

    def merge(self, other: "ClassMoments") -> None:
        """Add sums and counts of equal labels; classes that are new here come last, in the order of `other`."""
        for source, label in enumerate(list(other.labels)):
            row = self.row(label)
            self._sums[row] += other._sums[source]
            self._counts[row] += other._counts[source]

    def state(self) -> dict[str, NDArray[Any]]:
        """Return labels, sums and counts as a dict of arrays."""
        return {"labels": pack_labels(self.labels), "sums": self.sums.copy(), "counts": self.counts.copy()}

    @classmethod
    def from_state(cls, state: Mapping[str, Any], n_features: int) -> "ClassMoments":
        """Rebuild from `state`. Raises StateError, KeyError, NotFiniteError."""
        labels = unpack_labels("labels", state["labels"])
        sums, counts = finite("sums", state["sums"]), finite("counts", state["counts"])
        if sums.shape != (len(labels), n_features):
            raise StateError(f"sums have shape {sums.shape}, not {(len(labels), n_features)}", name="sums")
        if counts.shape != (len(labels),) or (counts < 1).any() or (counts != np.rint(counts)).any():
            raise StateError(f"counts are not {len(labels)} positive integers", name="counts")
        moments = cls(n_features)
        for label in labels:
            moments.row(label)
        moments.sums[:], moments.counts[:] = sums, counts
        return moments

    def row(self, label: str) -> int:
        """Return the row of a label in the tables; a new label gets the next one."""
        if label not in self._index:
            if len(self.labels) == len(self._sums):
                self._sums = np.concatenate([self._sums, np.zeros_like(self._sums)])
                self._counts = np.concatenate([self._counts, np.zeros_like(self._counts)])
            self._index[label] = len(self.labels)
            self.labels.append(label)
        return self._index[label]
