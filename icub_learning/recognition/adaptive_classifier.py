"""A classifier that chooses its regularization and its recoding while it learns."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from icub_learning.arrays import Array, finite, integer, real
from icub_learning.errors import ParameterError, StateError
from icub_learning.features.maps import FeatureMap
from icub_learning.models import nested, part, scalar
from icub_learning.recognition.classifier import Classifier, read_map
from icub_learning.recognition.held_out import HeldOut
from icub_learning.recognition.selection import RECODINGS, choose, count_right
from icub_learning.recursive import RegularizedCovariance

STATE_VERSION = 1
REGULARIZATIONS = (0.1, 1.0, 10.0, 100.0)


class AdaptiveClassifier(Classifier):
    """An IncrementalClassifier for each of a few regularizations, and the choice among them and of the recoding.

    Every 6th example of each class is held out (thesis 7.6.3), so that a class with fewer loses none. On the held-out
    examples of well-known classes accuracy is measured, for each regularization and each recoding, always by what is
    known at this moment; how these decide: see `choose`. When too many are held out, the oldest are learned after all.

    Classes, sums and held-out examples are shared; only the factor is kept for each regularization.

    Args:
        n_features: d, length of an example x.
        regularizations: candidates for lambda, each > 0. Unit: that of x squared.
        recoding: alpha in [0, 1] while no class is well known.
        hold_out: every how-manieth example of a class is held out, at least 2.
        well_known: examples from which on a class takes part in the choice.
        tolerance: loss of accuracy on well-known classes that recoding may cost, in standard errors of that accuracy;
            0: none, the rule of the thesis.
        feature_map: RandomFourierFeatures or NystromFeatures in front; None for none.

    Attributes:
        n_features, regularizations, hold_out, well_known, tolerance, feature_map: as given.

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
        tolerance: float = 1.0,
        feature_map: FeatureMap | None = None,
    ) -> None:
        super().__init__(n_features, feature_map)
        values = finite("regularizations", regularizations)
        if values.ndim != 1 or not 0 < len(values) == len(np.unique(values)) or not (values > 0).all():
            raise ParameterError("regularizations", values.tolist(), "different positive numbers, at least one")
        self.regularizations = tuple(values.tolist())
        self.hold_out = integer("hold_out", hold_out, 2)
        self.well_known = integer("well_known", well_known, 1)
        self.tolerance = real("tolerance", tolerance, 0.0)
        self._first_recoding = real("recoding", recoding, 0.0, 1.0)
        self._covariances = [RegularizedCovariance(self._width, value) for value in self.regularizations]
        self._held_out = HeldOut(self._width, len(self.regularizations))
        self._choice: tuple[int, float] | None = None

    @property
    def regularization(self) -> float:
        """The lambda in force."""
        return self.regularizations[self._chosen()[0]]

    @property
    def recoding(self) -> float:
        """The alpha in force."""
        return self._chosen()[1]

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
        """W (d, T) of the regularization in force, without recoding; solved for at each call, O(d^2 T)."""
        return self._covariances[self._chosen()[0]].solve(self._moments.sums)[0].T.copy()

    def forget(self, label: str) -> None:
        """Drop a class and its held-out examples.

        The examples that were learned stay in Z^T Z as examples of none of the other classes.

        Raises:
            ParameterError: the label is unknown; nothing changes then.
        """
        place = self._moments.index(label)
        self._moments.forget(label)
        self._held_out.forget(place)
        self._choice = None

    def merge(self, other: "AdaptiveClassifier") -> None:
        """Pool what another one learned and holds out: as if this one had seen it. O(d^3), once.

        Equal labels are one class. Settings and confidence stay as they are here.

        Raises:
            ParameterError: `other` is no AdaptiveClassifier or has other features; nothing changes then.
        """
        self._check_other(other)
        held = self._held_out.rows() + [
            (row, label) for row, place in other._held_out.rows() for label in [other._moments.labels[place]]
        ]
        smallest = min(other._covariances, key=lambda one: one.regularization[0])
        rows = smallest.equivalent_rows()  # the samples are the same for every regularization
        for covariance in self._covariances:
            covariance.update(rows)
        self._moments.merge(other._moments)
        self._held_out = HeldOut(self._width, len(self.regularizations))
        for row, label in held:
            place = label if isinstance(label, int) else self._moments.index(label)
            self._held_out.add(row, place, self._scores_of_all(row))
        self._learn_evicted()

    def state(self) -> dict[str, Array]:
        """All that was learned, as a dict of arrays (no pickle needed); see `from_state`."""
        covariances = {}
        for j, covariance in enumerate(self._covariances):
            covariances.update(nested(f"covariance{j}", covariance.state()))
        return {
            "version": np.asarray(STATE_VERSION),
            "regularizations": np.asarray(self.regularizations),
            "recoding": np.asarray(self._first_recoding),
            "hold_out": np.asarray(self.hold_out),
            "well_known": np.asarray(self.well_known),
            "tolerance": np.asarray(self.tolerance),
            **nested("held_out", self._held_out.state(len(self._moments))),
            **covariances,
            **self._common_state(),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "AdaptiveClassifier":
        """Rebuild a classifier from `state`. Raises StateError that names the entry which does not fit."""
        try:
            version = scalar(state, "version")
            if version != STATE_VERSION:
                raise StateError(f"state has version {version}, this release reads {STATE_VERSION}", name="version")
            n_features, feature_map = read_map(state)
            settings = {name: scalar(state, name) for name in ("recoding", "hold_out", "well_known", "tolerance")}
            classifier = cls(n_features, state["regularizations"], **settings, feature_map=feature_map)
            for j, value in enumerate(classifier.regularizations):
                covariance = RegularizedCovariance.from_state(part(state, f"covariance{j}"))
                if covariance.n_features != classifier._width or (covariance.regularization != value).any():
                    raise StateError(f"covariance{j} does not fit", name=f"covariance{j}")
                classifier._covariances[j] = covariance
            classifier._read_common(state)
            classifier._held_out = HeldOut.from_state(
                part(state, "held_out"), classifier._width, len(classifier.regularizations), len(classifier._moments)
            )
        except StateError:
            raise
        except KeyError as error:
            raise StateError(f"state lacks the entry {error}", name=str(error)) from None
        except (TypeError, ValueError) as error:
            raise StateError(f"state does not describe a classifier: {error}") from None
        return classifier

    def _learn(self, z: Array, labels: Sequence[str]) -> None:
        for row, label in zip(z, labels, strict=True):
            if label in self._moments:
                place = self._moments.index(label)
                if (self._seen()[place] + 1) % self.hold_out == 0:
                    self._hold_out(row, place)
                    continue
            elif len(self._moments):  # an example of something unknown
                self._confidence.add(self._raw(row) * self._factors(), self._factors(), None)
            self._learn_one(row, label)

    def _hold_out(self, row: Array, place: int) -> None:
        scores = self._scores_of_all(row)
        self._confidence.add(scores[self._chosen()[0]] * self._factors(), self._factors(), place)
        self._held_out.add(row, place, scores)
        self._choice = None
        self._learn_evicted()

    def _learn_evicted(self) -> None:
        while (taken := self._held_out.evict(len(self._moments))) is not None:
            self._learn_one(taken[0], self._moments.labels[taken[1]])

    def _learn_one(self, row: Array, label: str) -> None:
        gains = np.array([covariance.update_with_gain(row) for covariance in self._covariances])
        before = gains @ self._moments.sums.T / (1.0 - gains @ row)[:, None]  # what W said of the row
        self._moments.add(row, label)
        innovations = np.zeros((len(gains), len(self._moments)))
        innovations[:, : before.shape[1]] = -before
        innovations[:, self._moments.index(label)] += 1.0
        self._held_out.update(gains, innovations)
        self._choice = None

    def _raw(self, z: Array) -> Array:
        sums, covariance = self._moments.sums, self._covariances[self._chosen()[0]]
        if z.ndim == 2 and len(z) > len(sums):  # fewer solutions than for each row
            return z @ covariance.solve(sums)[0].T
        return covariance.solve(z)[0] @ sums.T

    def _scores_of_all(self, row: Array) -> Array:
        """Uncoded scores of a row for each regularization, (J, T)."""
        return np.array([covariance.solve(row)[0] for covariance in self._covariances]) @ self._moments.sums.T

    def _seen(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        return self._moments.counts + self._held_out.counts(len(self._moments))

    def _alpha(self) -> float:
        return self._chosen()[1]

    def _chosen(self) -> tuple[int, float]:
        """Place of the regularization in force, and the recoding."""
        if self._choice is None:
            scores, own = self._held_out.of(self._seen() >= self.well_known)
            if len(own):
                log_ratio = self._moments.log_ratio
                right = np.array([count_right(one, own, log_ratio) for one in scores])
                errors = ((scores - np.eye(len(log_ratio))[own]) ** 2).sum(axis=(1, 2))
                j, a = choose(right, len(own), self.tolerance, errors)
                self._choice = j, float(RECODINGS[a])
            else:
                self._choice = (len(self.regularizations) - 1) // 2, self._first_recoding
        return self._choice
