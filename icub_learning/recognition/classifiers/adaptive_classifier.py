"""A classifier that chooses its regularization and its recoding while it learns."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array, finite, integer, real
from icub_learning.errors import ParameterError, StateError
from icub_learning.features.maps import FeatureMap
from icub_learning.models import check_version, nested, part, reading_state, scalar
from icub_learning.recognition.classifiers.classifier import Classifier, read_map
from icub_learning.recognition.classifiers.held_out import HeldOut
from icub_learning.recognition.classifiers.selection import RECODINGS, RULES, choose, count_right
from icub_learning.recursive import RegularizedCovariance
from icub_learning.recursive.shifted_solutions import shifted_solutions

STATE_VERSION = 1
REGULARIZATIONS = tuple(10.0**power for power in range(-3, 5))
REACH = 2  # candidates looked at on either side of the regularization in force
MOST_SOLVED = 128  # solutions from which regularizations are compared, so that many classes do not hold things up
FRESH = 16  # the regularization is looked at again after so many examples, or this share (one in 16) of all


class AdaptiveClassifier(Classifier):
    """An IncrementalClassifier that chooses regularization and recoding by examples it holds out.

    Every 6th example of each class is held out (thesis 7.6.3; a class with fewer loses none). The accuracy on held-out
    examples of well-known classes decides; it is measured when scores are asked for after something new
    was held out, or after one of the first examples of a class, always with what is known at that moment. When too many
    examples are held out, the oldest are learned after all.

    One factorization serves all regularizations: the scores under those next to the one in force are computed from its
    factor (see `shifted_solutions`), and when one of them wins clearly, the factor is made anew for it, exactly,
    O(d^3). That is looked at whenever the number of examples has grown by a sixteenth, so an example costs O(d^2) on
    average, hardly more than that of an IncrementalClassifier.

    Args:
        n_features: d, length of an example x.
        regularizations: candidates for lambda, each > 0, ascending. Unit: that of x squared.
        recoding: alpha in [0, 1] while no class is well known; the regularization is the middle one then.
        hold_out: every how-manieth example of a class is held out, at least 2.
        well_known: examples from which on a class takes part in the choice.
        rule: "published", that of the thesis, or "standard_error", which gives more to classes with few examples; see
            `selection`.
        feature_map: RandomFourierFeatures or NystromFeatures in front; None for none.

    Attributes:
        n_features, regularizations, hold_out, well_known, rule, feature_map: as given.

    Raises:
        ParameterError: an argument is outside its range.
    """

    def __init__(
        self,
        n_features: int,
        regularizations: Sequence[float] = REGULARIZATIONS,
        recoding: float = 0.7,
        hold_out: int = 6,
        well_known: int = 12,
        rule: str = "standard_error",
        feature_map: FeatureMap | None = None,
    ) -> None:
        super().__init__(n_features, feature_map)
        values = finite("regularizations", regularizations)
        if values.ndim != 1 or not len(values) or not (np.diff(values, prepend=0.0) > 0.0).all():
            raise ParameterError("regularizations", values.tolist(), "positive numbers in ascending order")
        self.regularizations = tuple(values.tolist())
        self.hold_out = integer("hold_out", hold_out, 2)
        self.well_known = integer("well_known", well_known, 1)
        if rule not in RULES:
            raise ParameterError("rule", rule, f"one of {', '.join(RULES)}")
        self.rule = rule
        self._recoding = self._first_recoding = real("recoding", recoding, 0.0, 1.0)
        self._place = (len(values) - 1) // 2  # of the regularization in force
        self._covariance = RegularizedCovariance(self._width, self.regularizations[self._place])
        self._held_out = HeldOut(self._width)
        self._stale = False  # whether the choice has to be made anew
        self._looked_at = 0  # examples seen when the regularization was chosen last

    @property
    def regularization(self) -> float:
        """The lambda in force."""
        self._decide()
        return self.regularizations[self._place]

    @property
    def recoding(self) -> float:
        """The alpha in force."""
        self._decide()
        return self._recoding

    @property
    def n_held_out(self) -> int:
        """Number of examples that are held out."""
        return len(self._held_out)

    @property
    def counts(self) -> dict[str, int]:
        """Number of examples taken in of each class: learned and held out."""
        return dict(zip(self._moments.labels, self._seen().tolist(), strict=True))

    @property
    def weights(self) -> Array:
        """W (d, T), without recoding; solved for at each call, O(d^2 T)."""
        self._decide()
        return self._covariance.solve(self._moments.sums)[0].T.copy()

    def forget(self, label: str) -> None:
        """Drop a class and its held-out examples.

        The examples that were learned stay in Z^T Z as examples of none of the other classes.

        Raises:
            ParameterError: the label is unknown; nothing changes then.
        """
        place = self._moments.index(label)
        self._moments.forget(label)
        self._held_out.forget(place)
        self._stale = True

    def merge(self, other: Any) -> None:
        """Pool what another one learned and holds out: as if this one had seen it. O(d^3), once.

        Equal labels are one class. Settings and confidence stay as they are here.

        Raises:
            ParameterError: `other` is no AdaptiveClassifier or has other features; nothing changes then.
        """
        self._check_other(other)
        rows, own = other._held_out.rows()
        labels = [other._moments.labels[place] for place in own]
        self._covariance.merge(other._covariance)
        self._moments.merge(other._moments)
        for row, label in zip(rows, labels, strict=True):
            self._held_out.add(row, self._moments.index(label))
        self._learn_crowd()
        self._stale = True

    def state(self) -> dict[str, Array]:
        """All that was learned, as a dict of arrays (no pickle needed); see `from_state`."""
        self._decide()
        return {
            "version": np.asarray(STATE_VERSION),
            "regularizations": np.asarray(self.regularizations),
            "recoding": np.asarray(self._first_recoding),
            "hold_out": np.asarray(self.hold_out),
            "well_known": np.asarray(self.well_known),
            "rule": np.asarray(self.rule),
            "place_in_force": np.asarray(self._place),
            "recoding_in_force": np.asarray(self._recoding),
            "looked_at": np.asarray(self._looked_at),
            **nested("held_out", self._held_out.state()),
            **nested("covariance", self._covariance.state()),
            **self._common_state(),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "AdaptiveClassifier":
        """Rebuild a classifier from `state`. Raises StateError that names the entry which does not fit."""
        with reading_state("a classifier"):
            check_version(state, STATE_VERSION)
            n_features, feature_map = read_map(state)
            settings = {name: scalar(state, name) for name in ("recoding", "hold_out", "well_known", "rule")}
            classifier = cls(n_features, state["regularizations"], **settings, feature_map=feature_map)
            classifier._place = integer("place_in_force", scalar(state, "place_in_force"), 0)
            classifier._recoding = real("recoding_in_force", scalar(state, "recoding_in_force"), 0.0, 1.0)
            classifier._looked_at = integer("looked_at", scalar(state, "looked_at"), 0)
            covariance = RegularizedCovariance.from_state(part(state, "covariance"))
            if covariance.n_features != classifier._width:
                raise StateError("covariance does not fit the features", name="covariance")
            if list(set(covariance.regularization)) != [classifier.regularizations[classifier._place]]:
                raise StateError("covariance has another regularization", name="covariance")
            classifier._covariance = covariance
            classifier._read_common(state)
            classifier._held_out = HeldOut.from_state(
                part(state, "held_out"), classifier._width, len(classifier._moments)
            )
        return classifier

    def _learn(self, z: Array, labels: Sequence[str]) -> None:
        for row, label in zip(z, labels, strict=True):
            place = self._moments.index(label) if label in self._moments else None
            seen = 0 if place is None else int(self._moments.counts[place]) + self._held_out.count(place)
            if place is not None and (seen + 1) % self.hold_out == 0:
                self._judge(row, place)
                self._held_out.add(row, place)
                self._learn_crowd()
                self._stale = True
            else:
                if place is None and self._experienced():
                    self._judge(row, None)
                self._covariance.update(row)
                self._moments.add(row, label)
                self._stale |= seen < self.hold_out

    def _judge(self, row: Array, place: int | None) -> None:
        """Let confidence learn from the scores of a row that was not learned: its class is at `place`, or unknown."""
        factors = np.exp(self._recoding * self._moments.log_ratio)
        self._confidence.add(self._covariance.solve(row)[0] @ self._moments.sums.T * factors, factors, place)

    def _learn_crowd(self) -> None:
        """Learn held-out examples for which there is no room."""
        while (taken := self._held_out.evict(len(self._moments))) is not None:
            self._covariance.update(taken[0])
            self._moments.add(taken[0], self._moments.labels[taken[1]])

    def _raw(self, z: Array) -> Array:
        self._decide()
        sums = self._moments.sums
        if z.ndim == 2 and len(z) > len(sums):  # fewer solutions than for each row
            return z @ self._covariance.solve(sums)[0].T
        return self._covariance.solve(z)[0] @ sums.T

    def _alpha(self) -> float:
        self._decide()
        return self._recoding

    def _seen(self) -> NDArray[np.int64]:
        return self._moments.counts + self._held_out.counts(len(self._moments))

    def _decide(self) -> None:
        """Choose regularization and recoding, if there is reason to."""
        if not self._stale:
            return
        self._stale = False
        seen = self._seen()
        rows, own = self._held_out.rows(seen >= self.well_known)
        if not len(rows):
            return
        n_seen = int(seen.sum())
        if n_seen < self._looked_at + max(FRESH, self._looked_at // FRESH):
            self._choose_among([self._place], rows, own)
            return
        self._looked_at = n_seen
        some = slice(None)
        if min(len(rows), len(self._moments)) > MOST_SOLVED:
            some = slice(None, None, -(-len(rows) // MOST_SOLVED))
        for _ in self.regularizations:
            near = range(max(0, self._place - REACH), min(len(self.regularizations), self._place + REACH + 1))
            place = self._choose_among(list(near), rows[some], own[some])
            if place == self._place or not self._move_to(place):
                break
        self._choose_among([self._place], rows, own)

    def _choose_among(self, places: list[int], rows: Array, own: NDArray[np.intp]) -> int:
        """Set the recoding that goes with the best of the regularizations; its place."""
        sums = self._moments.sums
        values = [self.regularizations[place] for place in places]
        if len(rows) < len(sums):
            scores = [solution @ sums.T for solution in shifted_solutions(self._covariance, rows, values)]
        else:
            scores = [rows @ solution.T for solution in shifted_solutions(self._covariance, sums, values)]
        log_ratio = self._moments.log_ratio
        right = np.array([count_right(one, own, log_ratio) for one in scores])
        errors = np.array([((one - np.eye(len(sums))[own]) ** 2).sum() for one in scores])
        j, a = choose(self.rule, right, errors, len(own))
        now = places.index(self._place)
        margin = 0.5 * np.sqrt(right[now, a] * (1.0 - right[now, a] / len(own)))  # half a standard error
        gain = right[j, a] - right[now, a]
        if gain <= margin and not (gain >= 0 and errors[j] < 0.95 * errors[now]):  # not worth a new factor
            j, a = choose(self.rule, right[[now]], errors[[now]], len(own))
            j = now
        self._recoding = float(RECODINGS[a])
        return places[j]

    def _move_to(self, place: int) -> bool:
        """Make the factor anew for another regularization; whether that was possible."""
        try:
            self._covariance = self._covariance.with_regularization(self.regularizations[place])
        except ParameterError:  # drowned in rounding: no smaller one makes sense
            return False
        self._place = place
        return True
