"""What is known of each class: the sum of its examples and their number."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from icub_learning.arrays import Array, finite
from icub_learning.errors import ParameterError, StateError
from icub_learning.recognition.classifiers.labels import check_label, pack_labels, shorten, unpack_labels

FIRST_CAPACITY = 8  # classes


class ClassMoments:
    """The columns of b = Z^T Y for targets coded 0/1, which are sums of examples, and the counts gamma (Algorithm 2).

    An example changes one column only, whatever the number of classes. A new class takes a row of a table that doubles
    when it is full, so that adding one is cheap on average.

    Args:
        n_features: d, length of an example.
    """

    def __init__(self, n_features: int) -> None:
        self.labels: list[str] = []
        self._index: dict[str, int] = {}
        self._sums = np.zeros((FIRST_CAPACITY, n_features))
        self._counts = np.zeros(FIRST_CAPACITY, np.int64)

    def __len__(self) -> int:
        return len(self.labels)

    def __contains__(self, label: object) -> bool:
        return label in self._index

    @property
    def sums(self) -> Array:
        """b^T, (T, d): a view."""
        return self._sums[: len(self.labels)]

    @property
    def counts(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """gamma, (T,): a view."""
        return self._counts[: len(self.labels)]

    @property
    def log_ratio(self) -> Array:
        """log(k / gamma_t), (T,)."""
        return np.log(self.counts.sum() / self.counts)

    def add(self, z: Array, label: str) -> None:
        """Add one example z (d,)."""
        row = self._index.get(label)
        if row is None:
            row = self._append(label)
        self._sums[row] += z
        self._counts[row] += 1

    def index(self, label: Any, name: str = "label") -> int:
        """Place of a label in the order of `labels`. Raises ParameterError if it is unknown."""
        if not isinstance(label, str) or label not in self._index:
            shown = shorten(label) if isinstance(label, str) else label
            known = (
                f"one of {[shorten(known) for known in self.labels[:10]]}"
                if self.labels
                else "a label that was learned"
            )
            raise ParameterError(name, shown, known if len(self.labels) <= 10 else f"{known[:-1]}, ...]")
        return self._index[label]

    def forget(self, label: str) -> None:
        """Drop a class. Raises ParameterError if it is unknown."""
        row, last = self.index(label), len(self.labels) - 1
        for table in (self._sums, self._counts):
            table[row:last] = table[row + 1 : last + 1]
            table[last] = 0
        del self.labels[row]
        self._index = {known: place for place, known in enumerate(self.labels)}

    def rename(self, old: str, new: str) -> None:
        """Give a class another label; its place stays.

        Raises:
            ParameterError: `old` is unknown, or `new` is another class or no label.
        """
        row = self.index(old, "old")
        if check_label(new, "new") != old and new in self._index:
            raise ParameterError("new", shorten(new), "a label that no other class has")
        del self._index[old]
        self.labels[row] = str(new)
        self._index[str(new)] = row

    def merge(self, other: "ClassMoments") -> None:
        """Add what is known of equal labels; classes that are new here come last, in the other's order."""
        for place, label in enumerate(list(other.labels)):
            row = self._index.get(label)
            if row is None:
                row = self._append(label)
            self._sums[row] += other._sums[place]
            self._counts[row] += other._counts[place]

    def state(self) -> dict[str, Array]:
        """All of it as a dict of arrays."""
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
            moments._append(label)
        moments.sums[:] = sums
        moments.counts[:] = counts
        return moments

    def _append(self, label: str) -> int:
        row = len(self.labels)
        if row == len(self._sums):
            self._sums = np.concatenate([self._sums, np.zeros_like(self._sums)])
            self._counts = np.concatenate([self._counts, np.zeros_like(self._counts)])
        self.labels.append(label)
        self._index[label] = row
        return row


def check_labels(label: Any, count: int, single: bool) -> Sequence[str]:
    """One label for each of `count` examples, from a label for all of them or from a sequence of labels.

    Raises:
        ParameterError: a label is none, or there are too many or too few.
    """
    if isinstance(label, str) or single:
        return [check_label(label)] * count
    try:
        labels = [check_label(one) for one in label]
    except TypeError:
        raise ParameterError("label", label, "a str, or a str for each example") from None
    if len(labels) != count:
        raise ParameterError("label", f"{len(labels)} labels", f"a str, or a str for each of the {count} examples")
    return labels
