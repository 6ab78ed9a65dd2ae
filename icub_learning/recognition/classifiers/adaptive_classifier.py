"""A classifier that chooses its regularization and its recoding while it learns."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array, finite, integer, real
from icub_learning.errors import ParameterError
from icub_learning.features.maps import FeatureMap
from icub_learning.models import nested, part, scalar
from icub_learning.recognition.classifiers.classifier import Classifier, least_squares_scores, read_covariance
from icub_learning.recognition.classifiers.held_out import HeldOut
from icub_learning.recognition.classifiers.incremental_classifier import IncrementalClassifier
from icub_learning.recognition.classifiers.selection import RECODINGS, RULES, choose, count_correct
from icub_learning.recognition.settings import DEFAULTS
from icub_learning.recursive import RegularizedCovariance
from icub_learning.recursive.shifted_solutions import shifted_solutions

REGULARIZATIONS = tuple(10.0**power for power in range(-3, 5))  # that compete
SEARCH_RADIUS = 2  # candidates compared on either side of the regularization in force
MAX_SOLUTIONS = 128  # of linear systems in one comparison, which bounds its time with many classes
COMPARISON_INTERVAL = 16  # compare regularizations after this many new examples, at least after one in 16 of all


class AdaptiveClassifier(Classifier):
    """An IncrementalClassifier that chooses regularization and recoding by its accuracy on held-out examples.

    Every sixth example of each class is held out (thesis 7.6.3), so that a class with fewer examples loses none. The
    accuracy on the held-out examples of well-known classes decides. The choice is made when scores are next needed
    after an example was held out, or after one of the first examples of a class was learned, with the model of that
    moment. If too many examples are held out, the oldest are learned after all.

    Scores under candidates near the regularization in force are approximated from its factor (see
    `shifted_solutions`). If
    one of them is clearly better, the factor is computed exactly for it, O(d^3). Regularizations are compared whenever
    the number of examples has grown by a sixteenth, so an example costs O(d^2) on average, hardly more than with an
    IncrementalClassifier.

    Args:
        n_features, feature_map: see Classifier.
        regularizations: candidates for lambda > 0 in ascending order, in squared units of x. The middle one is in
            force until a class is well known.
        recoding: alpha in [0, 1] until a class is well known.
        hold_out: hold out every n-th example of each class; at least 2.
        well_known: examples that a class needs to take part in the choice.
        rule: "published", the rule of the thesis, or "standard_error", which favours classes with few examples; see
            `selection`.

    Attributes:
        n_features, regularizations, hold_out, well_known, rule, feature_map: as given.

    Raises:
        ParameterError: an argument is outside its range.
    """

    SETTINGS = ("regularizations", "recoding", "hold_out", "well_known", "rule")

    def __init__(
        self,
        n_features: int,
        regularizations: Sequence[float] = REGULARIZATIONS,
        recoding: float = DEFAULTS.recoding,
        hold_out: int = 6,
        well_known: int = 12,
        rule: str = "standard_error",
        feature_map: FeatureMap | None = None,
    ) -> None:
        super().__init__(n_features, recoding, feature_map)
        values = finite("regularizations", regularizations)
        if values.ndim != 1 or not len(values) or not (np.diff(values, prepend=0.0) > 0.0).all():
            raise ParameterError("regularizations", values.tolist(), "positive numbers in ascending order")
        self.regularizations: tuple[float, ...] = tuple(values.tolist())
        self.hold_out = integer("hold_out", hold_out, 2)
        self.well_known = integer("well_known", well_known, 1)
        if rule not in RULES:
            raise ParameterError("rule", rule, f"one of {', '.join(RULES)}")
        self.rule = rule
        self._initial_recoding = self._recoding
        self._index = (len(values) - 1) // 2  # of the regularization in force
        self._covariance = RegularizedCovariance(self._n_mapped, self.regularizations[self._index])
        self._held_out = HeldOut(self._n_mapped)
        self._stale = False  # whether to choose again before the next scores
        self._n_compared = 0  # examples given when regularizations were last compared

    @property
    def regularization(self) -> float:
        """The lambda in force."""
        self._choose_if_stale()
        return self.regularizations[self._index]

    @property
    def recoding(self) -> float:
        """alpha in [0, 1], the recoding in force."""
        self._choose_if_stale()
        return self._recoding

    @property
    def n_held_out(self) -> int:
        """Number of examples that are held out."""
        return len(self._held_out)

    @property
    def counts(self) -> dict[str, int]:
        """Number of examples given of each class: learned and held out."""
        return dict(zip(self._moments.labels, self._class_counts().tolist(), strict=True))

    @property
    def weights(self) -> Array:
        """W (d, T) before recoding, solved for at each access in O(d^2 T)."""
        self._choose_if_stale()
        return np.asarray(self._covariance.solve(self._moments.sums)[0].T)

    def _forget(self, index: int) -> None:
        self._held_out.forget(index)
        self._stale = True

    def _merge(self, other: Any) -> None:
        rows, targets = other._held_out.examples()
        labels = [other._moments.labels[index] for index in targets]
        self._covariance.merge(other._covariance)
        self._moments.merge(other._moments)
        for row, label in zip(rows, labels, strict=True):
            self._held_out.add(row, self._moments.index(label))
        self._learn_surplus()
        self._stale = True

    def _untrained(self) -> IncrementalClassifier:
        return IncrementalClassifier(self._n_mapped, self.regularization, 0.0)

    def _own_state(self) -> dict[str, Array]:
        self._choose_if_stale()
        return {
            "recoding": np.asarray(self._initial_recoding),
            "place_in_force": np.asarray(self._index),
            "recoding_in_force": np.asarray(self._recoding),
            "looked_at": np.asarray(self._n_compared),
            **nested("held_out", self._held_out.state()),
            **nested("covariance", self._covariance.state()),
        }

    def _read_own_state(self, state: Mapping[str, Any]) -> None:
        self._index = integer("place_in_force", scalar(state, "place_in_force"), 0)
        self._recoding = real("recoding_in_force", scalar(state, "recoding_in_force"), 0.0, 1.0)
        self._n_compared = integer("looked_at", scalar(state, "looked_at"), 0)
        self._covariance = read_covariance(state, self._n_mapped, self.regularizations[self._index])
        self._held_out = HeldOut.from_state(part(state, "held_out"), self._n_mapped, len(self._moments))

    def _learn(self, z: Array, labels: Sequence[str]) -> None:
        for row, label in zip(z, labels, strict=True):
            index = self._moments.index(label) if label in self._moments else None
            n_given = 0 if index is None else int(self._moments.counts[index]) + self._held_out.count(index)
            if index is not None and (n_given + 1) % self.hold_out == 0:
                self._held_out.add(row, index)
                self._learn_surplus()
                self._stale = True
            else:
                self._covariance.update(row)
                self._moments.add(row, label)
                self._stale |= n_given < self.hold_out

    def _learn_surplus(self) -> None:
        """Learn the held-out examples beyond the limit."""
        while (evicted := self._held_out.evict(len(self._moments))) is not None:
            self._covariance.update(evicted[0])
            self._moments.add(evicted[0], self._moments.labels[evicted[1]])

    def _unrecoded_scores(self, z: Array) -> Array:
        self._choose_if_stale()
        return least_squares_scores(self._covariance, self._moments.sums, z)

    def _class_counts(self) -> NDArray[np.int64]:
        return self._moments.counts + self._held_out.counts(len(self._moments))

    def _choose_if_stale(self) -> None:
        """Choose recoding and, if enough examples have come since the last comparison, regularization."""
        if not self._stale:
            return
        self._stale = False
        counts = self._class_counts()
        rows, targets = self._held_out.examples(counts >= self.well_known)
        if not len(rows):
            return
        n_given = int(counts.sum())
        if n_given >= self._n_compared + max(COMPARISON_INTERVAL, self._n_compared // COMPARISON_INTERVAL):
            self._n_compared = n_given
            self._choose_regularization(rows, targets)
        self._choose_among([self._index], rows, targets)

    def _choose_regularization(self, rows: Array, targets: NDArray[np.intp]) -> None:
        """Move to better regularizations until the one in force is the best within the search radius."""
        if min(len(rows), len(self._moments)) > MAX_SOLUTIONS:
            every = -(-len(rows) // MAX_SOLUTIONS)
            rows, targets = rows[::every], targets[::every]
        for _ in self.regularizations:
            near = range(
                max(0, self._index - SEARCH_RADIUS), min(len(self.regularizations), self._index + SEARCH_RADIUS + 1)
            )
            index = self._choose_among(list(near), rows, targets)
            if index == self._index or not self._change_regularization(index):
                break

    def _choose_among(self, indices: list[int], rows: Array, targets: NDArray[np.intp]) -> int:
        """Return the best of the regularizations at `indices`, and set the recoding that goes with it."""
        sums = self._moments.sums
        values = [self.regularizations[index] for index in indices]
        if len(rows) < len(sums):
            scores = [solution @ sums.T for solution in shifted_solutions(self._covariance, rows, values)]
        else:
            scores = [rows @ solution.T for solution in shifted_solutions(self._covariance, sums, values)]
        log_ratio = self._moments.log_ratio
        correct = np.array([count_correct(one, targets, log_ratio) for one in scores], dtype=float)
        errors = np.array([((one - np.eye(len(sums))[targets]) ** 2).sum() for one in scores])
        j, a = choose(self.rule, correct, errors, len(targets))
        now = indices.index(self._index)
        margin = 0.5 * np.sqrt(correct[now, a] * (1.0 - correct[now, a] / len(targets)))  # half a standard error
        gain = correct[j, a] - correct[now, a]
        if gain <= margin and not (gain >= 0 and errors[j] < 0.95 * errors[now]):  # not worth a new factor
            j, a = now, choose(self.rule, correct[[now]], errors[[now]], len(targets))[1]
        self._recoding = float(RECODINGS[a])
        return indices[j]

    def _change_regularization(self, index: int) -> bool:
        """Compute the factor for the regularization at `index`; return whether that was possible."""
        try:
            self._covariance = self._covariance.with_regularization(self.regularizations[index])
        except ParameterError:  # lost in rounding beside Z^T Z, as any smaller one
            return False
        self._index = index
        return True
