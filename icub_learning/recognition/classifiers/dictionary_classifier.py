"""A kernel classifier on a limited dictionary of examples: POLK with targets coded 0/1, and rehearsal."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from icub_learning.arrays import Array, integer, real
from icub_learning.errors import ParameterError, StateError
from icub_learning.kernel_methods.kernels import Kernel
from icub_learning.kernel_methods.online.dictionary import KernelDictionary, compression_budget
from icub_learning.models import nested, part, scalar
from icub_learning.recognition.classifiers.classifier import SettableRecoding
from icub_learning.recognition.settings import DEFAULTS

REHEARSALS = 8  # examples of the dictionary that are learned again with each new one
FORGOTTEN = -1  # tag of an example whose class was forgotten; other tags are indices of classes
REGULARIZATION = 1e-6  # of POLK: a stream has no end, so this only keeps the norm finite


class DictionaryClassifier(SettableRecoding):
    """Learns classes with a dictionary of examples that takes in only what is new to it, up to a maximum size.

    Targets are coded 0/1, one column a class, and scores are recoded (see Classifier). They are learned by functional
    gradient steps of the square loss, each followed by a projection onto fewer examples (see
    kernel_methods.POLKRegressor), on features scaled to unit length, where the Gaussian kernel depends on their angle
    alone.

    Examples in the dictionary remember their class, and with each new example some of them are learned again, in turn
    (rehearsal). People teach one object after another; stochastic gradients alone assume random order and would
    forget the first object while the last is shown. Unlike with IncrementalClassifier, the result depends on the order.

    Args:
        n_features, recoding: see Classifier.
        length_scale: sigma > 0 of the Gaussian kernel, on features of unit length.
        step_size: eta in (0, 1], the factor by which learning an example reduces its error.
        parsimony: K >= 0; a larger value keeps fewer examples.
        max_dictionary: largest number of examples kept; it bounds time and memory of every step.

    Attributes: as given; recoding may be set at any time.

    Raises:
        ParameterError: an argument is outside its range.
    """

    SETTINGS = ("length_scale", "step_size", "parsimony", "max_dictionary", "recoding")

    def __init__(
        self,
        n_features: int,
        length_scale: float = DEFAULTS.length_scale,
        step_size: float = DEFAULTS.step_size,
        parsimony: float = DEFAULTS.parsimony,
        max_dictionary: int = DEFAULTS.max_dictionary,
        recoding: float = 0.7,
    ) -> None:
        super().__init__(n_features, recoding)
        self.length_scale = real("length_scale", length_scale, 0.0, low_open=True)
        self.step_size = real("step_size", step_size, 0.0, 1.0, low_open=True)
        self.parsimony = real("parsimony", parsimony, 0.0)
        self.max_dictionary = integer("max_dictionary", max_dictionary, 1)
        kernel = Kernel("gaussian", self.length_scale)
        self._dictionary = KernelDictionary(kernel, self.n_features, 0, self.max_dictionary + 1)
        self._last_rehearsed = 0  # index in the dictionary

    @property
    def dictionary(self) -> Array:
        """(M, d) examples kept, scaled to unit length."""
        return np.array(self._dictionary.points)

    def _forget(self, index: int) -> None:
        self._dictionary.keep_outputs([k for k in range(len(self._moments)) if k != index])
        tags = self._dictionary.tags
        tags[:] = np.where(tags == index, FORGOTTEN, tags - (tags > index))

    def merge(self, other: Any) -> None:
        """Add the dictionary of another classifier, and cut the result back to the maximum size of this one.

        Classes that only one classifier knows keep their scores; scores of classes that both know are averaged with
        the numbers of examples as weights. See Classifier; the length scales must be equal.
        """
        super().merge(other)

    def _untrained(self) -> "DictionaryClassifier":
        settings = (self.length_scale, self.step_size, self.parsimony, self.max_dictionary)
        return DictionaryClassifier(self.n_features, *settings, recoding=0.0)

    def _merge(self, other: Any) -> None:
        if other.length_scale != self.length_scale:
            raise ParameterError("other", other.length_scale, f"of length scale {self.length_scale}")
        before = self.counts
        ours, theirs = self._dictionary, other._dictionary.copy()
        self._moments.merge(other._moments)
        ours.add_outputs(len(self._moments))
        added = np.zeros((theirs.n, len(self._moments)))
        for source, (label, count) in enumerate(other.counts.items()):
            share = count / (count + before.get(label, 0))
            column = self._moments.index(label)
            ours.weights[:, column] *= 1.0 - share if label in before else 0.0
            added[:, column] = share * theirs.weights[:, source]
        if theirs.n:
            _, cross = ours.values(theirs.points)
            indices = np.array([self._moments.index(label) for label in other.classes] + [FORGOTTEN])
            tags = indices[theirs.tags]  # tag -1 takes the last entry
            ours.step(theirs.points, added, cross, budget=self._budget, limit=self.max_dictionary, tags=tags)

    def _own_state(self) -> dict[str, Array]:
        return {"next": np.asarray(self._last_rehearsed), **nested("dictionary", self._dictionary.state())}

    def _read_own_state(self, state: Mapping[str, Any]) -> None:
        dictionary = KernelDictionary.from_state(part(state, "dictionary"), self._dictionary.kernel)
        if (dictionary.points.shape[1], dictionary.n_outputs) != (self.n_features, len(self._moments)):
            raise StateError("dictionary does not fit features and classes", name="dictionary")
        if not ((dictionary.tags >= FORGOTTEN) & (dictionary.tags < dictionary.n_outputs)).all():
            raise StateError("tags of the dictionary are not indices of classes", name="dictionary.tags")
        self._dictionary = dictionary
        self._last_rehearsed = integer("next", int(scalar(state, "next")), 0)

    @property
    def _budget(self) -> float:
        return compression_budget(self.parsimony, self.step_size)

    def _learn(self, z: Array, labels: Sequence[str]) -> None:
        for row, label in zip(_unit(z), labels, strict=True):
            self._moments.add(row, label)
            if len(self._moments) > self._dictionary.n_outputs:
                self._dictionary.add_outputs(len(self._moments))
            index, x = self._moments.index(label), row[None]
            scores, cross = self._dictionary.values(x)
            target = np.zeros_like(scores)
            target[0, index] = 1.0
            self._dictionary.step(
                x,
                self.step_size * (target - scores),
                cross,
                shrink=1.0 - self.step_size * REGULARIZATION,
                budget=self._budget,
                limit=self.max_dictionary,
                tags=index,
            )
            self._rehearse()

    def _rehearse(self) -> None:
        """Learn examples of the dictionary again, O(M T) each, as their kernel values are known."""
        kept = self._dictionary
        for _ in range(min(REHEARSALS, kept.n)):
            self._last_rehearsed = row = (self._last_rehearsed + 1) % kept.n
            error = -(kept.gram[row] @ kept.weights)
            if kept.tags[row] != FORGOTTEN:
                error[kept.tags[row]] += 1.0
            kept.weights[row] += self.step_size * error

    def _unrecoded_scores(self, z: Array) -> Array:
        kept = self._dictionary
        if not kept.n:
            return np.zeros((*z.shape[:-1], len(self._moments)))
        scores = kept.kernel(np.atleast_2d(_unit(z)), kept.points) @ kept.weights
        return scores[0] if z.ndim == 1 else scores


def _unit(z: Array) -> Array:
    """Return rows scaled to unit length; zero stays zero."""
    with np.errstate(over="ignore"):
        largest = np.abs(z).max(axis=-1, keepdims=True)  # dividing by it first keeps the squares from overflowing
    scaled = z / np.where(largest > 0, largest, 1.0)
    length = np.linalg.norm(scaled, axis=-1, keepdims=True)
    return scaled / np.where(length > 0, length, 1.0)
