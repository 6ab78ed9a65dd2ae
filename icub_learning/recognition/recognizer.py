"""From features to names: what is checked, recognized, taught and taken back, without ROS, threads or clocks."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array, real
from icub_learning.errors import ParameterError, RecognitionError, SampleError, StateError
from icub_learning.models import check_version, nested, part, scalar
from icub_learning.recognition.classifiers.kinds import AnyClassifier, from_state, kind_of
from icub_learning.recognition.classifiers.labels import shorten
from icub_learning.recognition.feature_window import FeatureWindow, check_features
from icub_learning.recognition.lesson import UNKNOWN, Lesson, check_name
from icub_learning.recognition.settings import DEFAULTS

STATE_VERSION = 1


@dataclass(frozen=True)
class Recognition:
    """What is seen.

    Attributes:
        stamp: of the newest features [ns].
        label: of the largest score; UNKNOWN where its confidence is too low, or where nothing has been taught.
        confidence: of the label with the largest score, in [0, 1].
        labels: all that are known.
        scores: (T,), one for each label, mean over the window.
    """

    stamp: int
    label: str
    confidence: float
    labels: list[str]
    scores: Array


@dataclass
class Counts:
    """Feature vectors since the start; `refused` by reason."""

    recognized: int = 0
    learned: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    last_refusal: str = ""


class ObjectRecognizer:
    """Recognizes each feature vector, and learns those that come while a lesson is under way.

    The first vector that is learned settles the network (`source`) and the size of all that follow; vectors of
    another network or size are refused, because numbers of two networks have nothing to do with each other.

    A lesson is all or nothing: it learns from each vector as it comes, and recognition improves meanwhile; if it ends
    early, all is again as it was before it. Until its end nothing else may change what is known.

    Args:
        make_classifier: given the size of the features, makes a classifier that knows nothing.
        smoothing_window: newest vectors whose scores are averaged; 1: no smoothing.
        max_age: vectors older than the newest by more than this take no part in the average [s].
        unknown_below: confidence below which the label is UNKNOWN, in [0, 1].

    Attributes:
        classifier: None until something was learned.
        source: network that computed the features; meaningless while there is no classifier.
        lesson: the one under way, or None.
        counts: of feature vectors.
        unknown_below: as given; may be set at any time.

    Raises:
        ParameterError: an argument is outside its range.
    """

    def __init__(
        self,
        make_classifier: Callable[[int], AnyClassifier],
        smoothing_window: int = DEFAULTS.smoothing_window,
        max_age: float = DEFAULTS.max_age,
        unknown_below: float = DEFAULTS.unknown_below,
    ) -> None:
        self._make_classifier = make_classifier
        self._window = FeatureWindow(smoothing_window, max_age)
        self.unknown_below = real("unknown_below", unknown_below, 0.0, 1.0)
        self.classifier: AnyClassifier | None = None
        self.source = ""
        self.lesson: Lesson | None = None
        self.counts = Counts()
        self._newest: tuple[str, Array] | None = None  # source and vector, while it may still be learned

    def recognize(self, stamp: int, source: str, values: ArrayLike) -> Recognition:
        """Take in one feature vector and say what is seen.

        Args:
            stamp: of the image [ns]; where it goes back, the average starts anew.
            source: name of the network.
            values: (d,), of magnitude at most 1e6.

        Raises:
            SampleError: `reason` is "source", "array_size", "not_finite" or "out_of_range"; nothing is learned then.
        """
        self._newest = None
        try:
            x = check_features(values)
            self._check_origin(source, x.size)
        except SampleError as error:
            self.counts.refused[error.reason] += 1
            self.counts.last_refusal = f"{error.reason}: {error}"
            if self.lesson is not None:
                self.lesson.n_refused += 1
                self.lesson.last_refusal = str(error)
            raise
        self._newest = (source, x)
        self.counts.recognized += 1
        rows = self._window.add(stamp, source, x)
        if self.classifier is None or not self.classifier.classes:
            return Recognition(stamp, UNKNOWN, 0.0, [], np.empty(0))
        scores = self.classifier.scores(rows).mean(axis=0)
        labels = self.classifier.classes
        confidence = self.classifier.confidence(scores)
        label = labels[int(np.argmax(scores))] if confidence >= self.unknown_below else UNKNOWN
        return Recognition(stamp, label, confidence, labels, scores)

    def start_lesson(self, label: str, n_frames: int) -> Lesson:
        """Learn the next `n_frames` vectors as examples of `label`; a new label adds an object.

        Raises:
            RecognitionError: a lesson is under way.
            ParameterError: see Lesson.
        """
        self._check_free("teach")
        self._newest = None  # what came before the lesson is none of it
        self.lesson = Lesson(label, n_frames, None if self.classifier is None else self.state())
        return self.lesson

    def learn(self) -> bool:
        """Learn the vector that `recognize` took in last, if a lesson is under way; whether it did.

        Raises:
            IcubLearningError: it cannot be learned; the lesson is as it was.
        """
        if self.lesson is None or self.lesson.done or self._newest is None:
            return False
        source, x = self._newest
        self._newest = None
        classifier = self._make_classifier(x.size) if self.classifier is None else self.classifier
        classifier.calibrate(x, self.lesson.label)
        classifier.learn(x, self.lesson.label)
        if self.classifier is None:
            self.classifier, self.source = classifier, source
        self.lesson.n_taken += 1
        self.counts.learned += 1
        return True

    def end_lesson(self) -> None:
        """End the lesson: what it taught stays if it is done; else all is as before it."""
        lesson, self.lesson = self.lesson, None
        if lesson is not None and not lesson.done and lesson.n_taken:
            self.counts.learned -= lesson.n_taken
            self.classifier = None
            if lesson.before is not None:
                self.source, self.classifier = self._read(lesson.before)

    def objects(self) -> dict[str, int]:
        """Examples learned of each object."""
        return {} if self.classifier is None else dict(self.classifier.counts)

    def forget(self, label: str) -> None:
        """Forget one object. Raises RecognitionError during a lesson, ParameterError if it is unknown."""
        self._check_free("forget")
        self._taught("label", label).forget(label)

    def rename(self, old: str, new: str) -> None:
        """Give an object another name.

        Raises:
            RecognitionError: a lesson is under way.
            ParameterError: the old name is unknown, or the new one in use or not allowed.
        """
        self._check_free("rename")
        self._taught("old_label", old).rename(old, check_name(new, "new_label"))

    def reset(self) -> None:
        """Forget everything, the network too. Raises RecognitionError during a lesson."""
        self._check_free("reset")
        self.classifier = None
        self._window.clear()

    def state(self) -> dict[str, Any]:
        """All that is known, as a dict of arrays. Raises StateError if that is nothing."""
        if self.classifier is None:
            raise StateError("nothing has been taught yet", name="classifier")
        return {
            "recognizer": np.asarray(STATE_VERSION),
            "source": np.asarray(self.source),
            "kind": np.asarray(kind_of(self.classifier)),
            **nested("classifier", self.classifier.state()),
        }

    def saved(self) -> dict[str, Any]:
        """`state` for a file. Raises RecognitionError during a lesson, StateError if nothing is known."""
        self._check_free("save")
        return self.state()

    def load(self, state: Mapping[str, Any]) -> None:
        """Know what `state` holds, and nothing else. Raises RecognitionError during a lesson, StateError."""
        self._check_free("load")
        self.source, self.classifier = self._read(state)
        self._window.clear()

    def merge(self, state: Mapping[str, Any]) -> None:
        """Pool with what `state` holds, as if its examples had been seen here.

        Raises:
            RecognitionError: a lesson is under way.
            StateError: it is no state, or one of another network.
            ParameterError: its classifier has other settings.
        """
        self._check_free("merge")
        source, other = self._read(state)
        if self.classifier is None:
            self.source, self.classifier = source, other
            return
        if (source, other.n_features) != (self.source, self.classifier.n_features):
            theirs, ours = (f"{n} features of '{name}'" for n, name in ((other.n_features, source), self._origin()))
            raise StateError(f"the saved model knows {theirs}, this one {ours}", name="source", value=source)
        self.classifier.merge(other)

    def _read(self, state: Mapping[str, Any]) -> tuple[str, AnyClassifier]:
        check_version(state, STATE_VERSION, "recognizer")
        return str(scalar(state, "source")), from_state(str(scalar(state, "kind")), part(state, "classifier"))

    def _origin(self) -> tuple[int, str]:
        return (0 if self.classifier is None else self.classifier.n_features), self.source

    def _check_origin(self, source: str, size: int) -> None:
        """Raise SampleError unless features of this network and size are those of the model."""
        if self.classifier is None:
            return
        if source != self.source:
            text = f"features come from '{source}', the model knows those of '{self.source}'"
            raise SampleError("source", text, name="source", value=source, bound=self.source)
        if size != self.classifier.n_features:
            text = f"{size} features, the model knows {self.classifier.n_features}"
            raise SampleError("array_size", text, name="features", value=size, bound=str(self.classifier.n_features))

    def _check_free(self, what: str) -> None:
        if self.lesson is not None:
            text = f"cannot {what} now: '{self.lesson.label}' is being taught, so far {self.lesson.progress()}"
            raise RecognitionError(text, name=what, value=self.lesson.label, bound="no lesson under way")

    def _taught(self, name: str, label: str) -> AnyClassifier:
        """The classifier. Raises ParameterError if there is none, which then knows no `label` either."""
        if self.classifier is None:
            raise ParameterError(name, shorten(label), "a known object: none has been taught yet")
        return self.classifier
