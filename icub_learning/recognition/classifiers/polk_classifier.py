"""Objects by a limited set of remembered examples: POLK on codes of the classes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from icub_learning.arrays import Array, integer, real
from icub_learning.errors import ParameterError, StateError
from icub_learning.kernel_methods.kernels import Kernel
from icub_learning.kernel_methods.online.dictionary import KernelDictionary
from icub_learning.kernel_methods.online.functional_gradient import compression_budget
from icub_learning.models import check_version, nested, part, reading_state, scalar
from icub_learning.recognition.classifiers.classifier import Classifier, read_map

STATE_VERSION = 1
REHEARSALS = 8  # examples of the dictionary that are learned again with each new one
NONE = -1  # class of an example whose class was forgotten
REGULARIZATION = 1e-6  # of POLK: a stream has no end, so this only keeps the norm finite


class PolkClassifier(Classifier):
    """Learns classes with a dictionary of examples that grows only where they are new, and never beyond a limit.

    As IncrementalClassifier it codes targets 0/1, one column a class, and recodes scores. It learns them by functional
    gradient steps of the square loss, each cut back to the examples that matter (see FunctionalGradient), on features
    scaled to unit length, where the Gaussian kernel depends on their angle alone. Examples kept remember their class:
    with each new example some of them are learned again, in turn. People teach one object after another, and stochastic
    gradients alone, made for samples in random order, would forget the first while the last is shown. Unlike sums over
    all examples, what it learns depends on their order.

    Args:
        n_features: d, length of an example x.
        length_scale: sigma > 0 of the Gaussian kernel between features of unit length.
        step_size: eta in (0, 1]: an example's error shrinks by this part.
        parsimony: K >= 0; the larger, the fewer examples are kept.
        max_dictionary: most examples kept; it bounds time and memory of every step.
        recoding: alpha in [0, 1], as in IncrementalClassifier.

    Attributes: as given.

    Raises:
        ParameterError: an argument is outside its range.
    """

    def __init__(
        self,
        n_features: int,
        length_scale: float = 0.5,
        step_size: float = 0.5,
        parsimony: float = 0.1,
        max_dictionary: int = 500,
        recoding: float = 0.5,
    ) -> None:
        super().__init__(n_features)
        self.length_scale = real("length_scale", length_scale, 0.0, low_open=True)
        self.step_size = real("step_size", step_size, 0.0, 1.0, low_open=True)
        self.parsimony = real("parsimony", parsimony, 0.0)
        self.max_dictionary = integer("max_dictionary", max_dictionary, 1)
        self.recoding = recoding
        kernel = Kernel("gaussian", self.length_scale)
        self._dictionary = KernelDictionary(kernel, self.n_features, 0, self.max_dictionary + 1)
        self._next = 0  # example of the dictionary that was learned again last

    @property
    def recoding(self) -> float:
        """alpha, in [0, 1]. Setting it raises ParameterError outside of that."""
        return self._recoding

    @recoding.setter
    def recoding(self, value: float) -> None:
        self._recoding = real("recoding", value, 0.0, 1.0)

    @property
    def dictionary(self) -> Array:
        """(M, d) examples kept, scaled to unit length."""
        return self._dictionary.points.copy()

    def forget(self, label: str) -> None:
        """Drop a class. Raises ParameterError if the label is unknown; nothing changes then."""
        place = self._moments.index(label)
        self._dictionary.keep_outputs([k for k in range(len(self._moments)) if k != place])
        tags = self._dictionary.tags
        tags[:] = np.where(tags == place, NONE, tags - (tags > place))
        self._moments.forget(label)

    def merge(self, other: Any) -> None:
        """Take over what another one learned.

        Classes that only one of them knows stay as they are; of those that both know the scores are averaged by the
        numbers of examples. The dictionary is cut back to the limit of this one. Settings stay as they are here.

        Raises:
            ParameterError: `other` is no PolkClassifier, or has other features or another length scale.
        """
        self._check_other(other)
        if other.length_scale != self.length_scale:
            raise ParameterError("other", other.length_scale, f"of length scale {self.length_scale}")
        before = self.counts
        ours, theirs = self._dictionary, other._dictionary.copy()
        self._moments.merge(other._moments)
        ours.add_outputs(len(self._moments))
        added = np.zeros((theirs.n, len(self._moments)))
        for place, (label, count) in enumerate(other.counts.items()):
            share = count / (count + before.get(label, 0))
            column = self._moments.index(label)
            ours.weights[:, column] *= 1.0 - share if label in before else 0.0
            added[:, column] = share * theirs.weights[:, place]
        if theirs.n:
            _, cross = ours.values(theirs.points)
            places = np.array([self._moments.index(label) for label in other.classes] + [NONE])
            tags = places[theirs.tags]  # NONE is the last place
            ours.step(theirs.points, added, cross, budget=self._budget, limit=self.max_dictionary, tags=tags)

    def state(self) -> dict[str, Array]:
        """All that was learned, as a dict of arrays (no pickle needed); see `from_state`."""
        return {
            "version": np.asarray(STATE_VERSION),
            "length_scale": np.asarray(self.length_scale),
            "step_size": np.asarray(self.step_size),
            "parsimony": np.asarray(self.parsimony),
            "max_dictionary": np.asarray(self.max_dictionary),
            "recoding": np.asarray(self._recoding),
            "next": np.asarray(self._next),
            **nested("dictionary", self._dictionary.state()),
            **self._common_state(),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "PolkClassifier":
        """Rebuild a classifier from `state`. Raises StateError that names the entry which does not fit."""
        with reading_state("a classifier"):
            check_version(state, STATE_VERSION)
            n_features, _ = read_map(state)
            names = ("length_scale", "step_size", "parsimony", "max_dictionary", "recoding")
            classifier = cls(n_features, *(scalar(state, name) for name in names))
            classifier._read_common(state)
            kernel = classifier._dictionary.kernel
            dictionary = KernelDictionary.from_state(part(state, "dictionary"), kernel)
            if (dictionary.points.shape[1], dictionary.n_outputs) != (n_features, len(classifier._moments)):
                raise StateError("dictionary does not fit features and classes", name="dictionary")
            classifier._dictionary = dictionary
            if dictionary.tags.size and not (
                -1 <= dictionary.tags.min() <= dictionary.tags.max() < dictionary.n_outputs
            ):
                raise StateError("classes of the dictionary do not fit", name="dictionary.tags")
            classifier._next = integer("next", int(scalar(state, "next")), 0)
        return classifier

    @property
    def _budget(self) -> float:
        return compression_budget(self.parsimony, self.step_size)

    def _learn(self, z: Array, labels: Sequence[str]) -> None:
        for row, label in zip(_unit(z), labels, strict=True):
            self._moments.add(row, label)
            if len(self._moments) > self._dictionary.n_outputs:
                self._dictionary.add_outputs(len(self._moments))
            x = row[None]
            scores, cross = self._dictionary.values(x)
            target = np.zeros_like(scores)
            target[0, self._moments.index(label)] = 1.0
            self._dictionary.step(
                x,
                self.step_size * (target - scores),
                cross,
                shrink=1.0 - self.step_size * REGULARIZATION,
                budget=self._budget,
                limit=self.max_dictionary,
                tags=self._moments.index(label),
            )
            self._rehearse()

    def _rehearse(self) -> None:
        """Learn examples of the dictionary again, a step each: O(M T) a step, their kernel values are known."""
        kept = self._dictionary
        for _ in range(min(REHEARSALS, kept.n)):
            self._next = (self._next + 1) % kept.n
            error = -(kept.gram[self._next] @ kept.weights)
            if kept.tags[self._next] >= 0:
                error[kept.tags[self._next]] += 1.0
            kept.weights[self._next] += self.step_size * error

    def _raw(self, z: Array) -> Array:
        kept = self._dictionary
        if not kept.n:
            return np.zeros((*z.shape[:-1], len(self._moments)))
        scores = kept.kernel(np.atleast_2d(_unit(z)), kept.points) @ kept.weights
        return scores[0] if z.ndim == 1 else scores

    def _alpha(self) -> float:
        return self._recoding


def _unit(z: Array) -> Array:
    """Rows scaled to unit length; zero stays zero."""
    with np.errstate(over="ignore"):
        largest = np.abs(z).max(axis=-1, keepdims=True)  # squares of what is left cannot overflow
    scaled = z / np.where(largest > 0, largest, 1.0)
    length = np.linalg.norm(scaled, axis=-1, keepdims=True)
    return scaled / np.where(length > 0, length, 1.0)
