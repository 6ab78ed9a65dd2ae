"""Recognizes feature vectors and learns them in lessons; uses neither ROS nor threads nor clocks."""

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

STATE_VERSION = 1  # version of the saved state


@dataclass(frozen=True)
class Recognition:
    """What was recognized in the newest feature vectors; see Judgement."""

    stamp: int  # timestamp of the newest image [ns]
    label: str  # `nearest`, or UNKNOWN if the view is less typical than `reject_known` of the views of known objects
    nearest: str
    confidence: float
    typicality: float
    labels: list[str]  # labels of all taught objects
    scores: Array  # (T,), one for each label, averaged over the window


@dataclass
class Counts:
    """Numbers of feature vectors recognized, learned, and refused by reason, since the start."""

    recognized: int = 0
    learned: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    last_refusal: str = ""


class ObjectRecognizer:
    """Recognizes every feature vector, and learns those that come during a lesson.

    The first vector learned fixes the network (`source`) and the size of all later ones; different vectors are refused.

    A lesson is all or nothing. Its vectors are learned one by one; if it ends early, everything is restored to the
    state before it. During a lesson nothing else may change the taught objects, and nothing is calibrated, since that
    takes longer than a frame: vectors are judged with the calibration from its start (see Classifier.judge).

    Args:
        make_classifier: returns an untrained classifier for a given number of features.
        smoothing_window, max_age: see Settings and FeatureWindow.
        reject_known: share of the views of known objects that may be called UNKNOWN, in [0, 1]; may be set at any time.
        own: class of the classifier if it is none of KINDS, see OwnClassifier.of; models of other classes are refused.

    Attributes:
        classifier: None until a vector is learned.
        source: network that computed the features; valid while there is a classifier.
    """

    def __init__(
        self, make_classifier: Callable[[int], AnyClassifier], smoothing_window: int = DEFAULTS.smoothing_window,
        max_age: float = DEFAULTS.max_age, reject_known: float = DEFAULTS.reject_known, own: Any = None,
    ) -> None:  # fmt: skip
        self._make_classifier, self._own = make_classifier, own
        self._window = FeatureWindow(smoothing_window, max_age)
        self.reject_known = real("reject_known", reject_known, 0.0, 1.0)
        self.classifier: AnyClassifier | None = None
        self.source = ""
        self.lesson: Lesson | None = None
        self.counts = Counts()
        self._newest: tuple[str, Array] | None = None  # source and vector, until it is learned

    def recognize(self, stamp: int, source: str, values: ArrayLike) -> Recognition:
        """Return what is recognized in the window that ends with a feature vector (d,) of the image at `stamp` [ns].
        Raises SampleError, and the vector is ignored: "source", "array_size", "not_finite" or "out_of_range"."""
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
        rows, known = self._window.add(stamp, source, x), self.classifier
        found = None if known is None else known.judge(rows, recalibrate=self.lesson is None)
        if known is None or found is None or not found.nearest:
            return Recognition(stamp, UNKNOWN, "", 0.0, 0.0, [], np.empty(0))
        label = found.nearest if found.typicality >= self.reject_known else UNKNOWN
        return Recognition(stamp, label, found.nearest, found.confidence, found.typicality, known.classes, found.scores)

    def start_lesson(self, label: str, n_frames: int) -> Lesson:
        """Start to learn the next `n_frames` vectors as `label`. Raises RecognitionError, ParameterError."""
        self._check_no_lesson("teach")
        self._newest = None  # vectors before the lesson are not part of it
        lesson = Lesson(label, n_frames, None if self.classifier is None else self.state())
        if self.classifier is not None:
            self.classifier.calibrate()
        self.lesson = lesson
        return lesson

    def learn(self) -> bool:
        """Learn the last recognized vector if the lesson needs it; return whether it does. Raises IcubLearningError."""
        if self.lesson is None or self.lesson.done or self._newest is None:
            return False
        source, x = self._newest
        self._newest = None
        classifier = self._make_classifier(x.size) if self.classifier is None else self.classifier
        classifier.learn(x, self.lesson.label)
        if self.classifier is None:
            self.classifier, self.source = classifier, source
        self.lesson.n_taken += 1
        self.counts.learned += 1
        return True

    def end_lesson(self) -> None:
        """End the lesson: keep what it taught if it is done, else restore the state before it."""
        lesson, self.lesson = self.lesson, None
        if lesson is not None and not lesson.done and lesson.n_taken:
            self.counts.learned -= lesson.n_taken
            if lesson.before is None:
                self.classifier = None
            else:
                self.source, self.classifier = self._read(lesson.before)

    def objects(self) -> dict[str, int]:
        """Return the number of examples of each object."""
        return {} if self.classifier is None else dict(self.classifier.counts)

    def recall(self) -> Array:
        """Return how surely each object is known, (T,), in the order of `objects`; see Classifier.recall."""
        return np.zeros(0) if self.classifier is None else self.classifier.recall

    def forget(self, label: str) -> None:
        """Forget one object. Raises RecognitionError during a lesson, ParameterError if it is unknown."""
        self._check_no_lesson("forget")
        self._classifier_with("label", label).forget(label)

    def rename(self, old: str, new: str) -> None:
        """Give an object another label. Raises RecognitionError during a lesson, ParameterError."""
        self._check_no_lesson("rename")
        self._classifier_with("old_label", old).rename(old, check_name(new, "new_label"))

    def reset(self) -> None:
        """Forget all objects and the network. Raises RecognitionError during a lesson."""
        self._check_no_lesson("reset")
        self.classifier = None
        self._window.clear()

    def state(self) -> dict[str, Any]:
        """Return all that was taught as a dict of arrays. Raises StateError if nothing was taught."""
        if self.classifier is None:
            raise StateError("nothing has been taught yet", name="classifier")
        return {
            "recognizer": np.asarray(STATE_VERSION), "source": np.asarray(self.source),
            "kind": np.asarray(kind_of(self.classifier)), **nested("classifier", self.classifier.state()),
        }  # fmt: skip

    def saved(self) -> dict[str, Any]:
        """Return `state` to be saved. Raises RecognitionError during a lesson, StateError if nothing was taught."""
        self._check_no_lesson("save")
        return self.state()

    def load(self, state: Mapping[str, Any]) -> None:
        """Replace all that was taught by what `state` holds. Raises RecognitionError during a lesson, StateError."""
        self._check_no_lesson("load")
        self.source, self.classifier = self._read(state)
        self._window.clear()

    def merge(self, state: Mapping[str, Any]) -> str:
        """Add the objects that `state` holds; return a warning if views are in both, "" without one. Raises
        RecognitionError during a lesson; StateError, ParameterError."""
        self._check_no_lesson("merge")
        source, other = self._read(state)
        if self.classifier is None:
            self.source, self.classifier = source, other
            return ""
        pair = ((other, source), (self.classifier, self.source))
        theirs, ours = (f"{one.n_features} features of '{name}' and classifier '{kind_of(one)}'" for one, name in pair)
        if theirs != ours:
            raise StateError(f"the saved model uses {theirs}, this one {ours}", name="source", value=source)
        rows = (one.get("classifier.kept.rows", ()) for one in (state, self.state()))
        shared = set.intersection(*({row.tobytes() for row in views} for views in rows))
        self.classifier.merge(other)
        return f"{len(shared)} of the views kept are in both models: what they share counts twice" if shared else ""

    def _read(self, state: Mapping[str, Any]) -> tuple[str, AnyClassifier]:
        if "recognizer" not in state:
            raise StateError("this is no model of object recognition: it has no entry 'recognizer'", name="recognizer")
        check_version(state, STATE_VERSION, "recognizer")
        kind, source = str(scalar(state, "kind")), str(scalar(state, "source"))
        return source, from_state(kind, part(state, "classifier"), self._own)

    def _check_origin(self, source: str, size: int) -> None:
        if self.classifier is None:
            return
        if source != self.source:
            text = f"features come from '{source}', the model uses those of '{self.source}'"
            raise SampleError("source", text, name="source", value=source, bound=self.source)
        if size != self.classifier.n_features:
            text = f"{size} features, the model uses {self.classifier.n_features}"
            raise SampleError("array_size", text, name="features", value=size, bound=str(self.classifier.n_features))

    def _check_no_lesson(self, action: str) -> None:
        if self.lesson is not None:
            text = f"cannot {action} now: '{self.lesson.label}' is being taught, so far {self.lesson.progress()}"
            raise RecognitionError(text, name=action, value=self.lesson.label, bound="no lesson under way")

    def _classifier_with(self, name: str, label: str) -> AnyClassifier:
        if self.classifier is None:
            raise ParameterError(name, shorten(label), "a known object: none has been taught yet")
        return self.classifier
