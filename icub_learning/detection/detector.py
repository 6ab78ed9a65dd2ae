"""Detects objects in images after it was shown a few dozen frames of each; training takes seconds."""

import copy
import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icub_learning.arrays import Array, integer, real
from icub_learning.detection.backbone import MIN_SIDE, Backbone
from icub_learning.detection.bootstrap import Bootstrap, falkon, train
from icub_learning.detection.boxes import Detections, check_box, moved, suppress
from icub_learning.detection.proposals import propose
from icub_learning.detection.region_classifier import (
    ClassifierBank,
    Frame,
    RegionClassifier,
    Rows,
    Sample,
    Shown,
    fit_refinement,
    positive_boxes,
)
from icub_learning.detection.regions import N_FEATURES, region_features
from icub_learning.detection.settings import DEFAULTS
from icub_learning.errors import ParameterError, StateError
from icub_learning.models import check_version, nested, part, reading_state, scalar
from icub_learning.recognition.classifiers.labels import check_label, pack_labels, shorten, unpack_labels
from icub_learning.recognition.vision.cnn_features import check_image

STATE_VERSION = 1  # version of the saved state
# For region features, whose length is about 20:
LENGTH_SCALE = 10.0  # length scale sigma of the Gaussian kernel
REGULARIZATION = 1e-4  # regularization lambda of FALKON

DUPLICATE = 0.3  # intersection over union above which the weaker of two boxes of one object is dropped
MOST_DETECTIONS = 100  # largest number of detections in one image


class OnlineDetector:
    """Learns to find objects in images from frames with a box around one object each.

    Regions are proposed without regard to what they show, and described by a fixed network. For each object, FALKON
    (Gaussian kernel, Nyström centres) tells its regions from background and from other objects, trained on hard
    negatives (see `bootstrap.train`), and ridge regression moves a region onto it. Objects are independent of each
    other: a new one is trained alone, and the classifiers of the others stay the same, bit for bit.

    In a frame, every region away from the boxes of an object counts as not that object. So all instances of an object
    in a frame have to be shown, by `collect` with the same image; other objects need not be.

    The arguments are those of Settings, `random_state`, the seed (None: a new one each time), and `bootstrap`, how
    negatives are chosen. `counts` holds the number of frames shown of each object; `source`, network and layers, is
    the one that a saved state fits. Raises ParameterError; ModelError: the network's weights are damaged.
    """

    def __init__(
        self, n_centers: int = DEFAULTS.n_centers, random_state: int | None = None, *,
        bootstrap: Bootstrap | None = None, n_proposals: int = DEFAULTS.n_proposals,
        threshold: float = DEFAULTS.threshold, n_threads: int = DEFAULTS.n_threads,
    ) -> None:  # fmt: skip
        self.n_centers = integer("n_centers", n_centers, 1)
        self.n_proposals = integer("n_proposals", n_proposals, 10)
        self.threshold = real("threshold", threshold, -2.0, 2.0)
        self.bootstrap = bootstrap or Bootstrap()
        seed = None if random_state is None else integer("random_state", random_state, 0)
        self._rng = np.random.default_rng(seed)
        self._seed = int(self._rng.integers(2**31)) if seed is None else seed
        self._backbone = Backbone(n_threads)
        self.source = self._backbone.source
        self.counts: dict[str, int] = {}
        self._frame: Frame | None = None  # the last one
        self._shown: dict[str, Shown] = {}
        self._classifiers: dict[str, RegionClassifier] = {}
        self._bank: ClassifierBank | None = None

    @property
    def labels(self) -> list[str]:
        """Trained objects, in the order in which they were first trained."""
        return list(self._classifiers)

    @property
    def waiting(self) -> list[str]:
        """Objects with frames that have not been trained on."""
        return list(self._shown)

    def collect(self, image: NDArray[np.uint8], box: ArrayLike, label: str) -> None:
        """Collect a frame in which an object is shown; `train` learns it.

        The image is uint8 RGB (height, width, 3), the box (4,) x1 y1 x2 y2 [px], cut at the borders of the image; the
        label has 1 to 1024 characters. Raises ShapeError, NotFiniteError, ParameterError; nothing is collected then.
        """
        name, pixels = check_label(label), check_image(image, MIN_SIDE)
        checked = check_box(box, pixels.shape[1], pixels.shape[0])
        frame = self._frame = self._frame_of(pixels)
        boxes, steps = positive_boxes(checked, frame.proposals, frame.maps, self._rng)
        regions, others = map(Sample, self.bootstrap.most_waiting)
        shown = self._shown.setdefault(name, Shown(regions, others))
        shown.n_frames += 1
        shown.positives.add(self._rng, region_features(frame.maps, boxes), steps)
        frame.boxes.append((name, checked))
        self.counts[name] = self.counts.get(name, 0) + 1

    def train(self) -> list[str]:
        """Learn all objects shown since the last training, and return their names.

        Of the frames, regions of an object and the hard negatives of its training are kept for the next one, so many
        at most that neither time nor memory grows with the number of lessons.
        """
        self._end_frame()
        names = list(self._shown)
        shown = {name: self._all_positives(name) for name in names}
        known = {name: one.positives for name, one in self._classifiers.items()}
        known.update({name: positives for name, (positives, _) in shown.items()})
        for name in names:
            self._classifiers[name] = self._train(name, *shown[name], known)
        self._shown = {}
        if names:
            self._bank = ClassifierBank(list(self._classifiers.values()), LENGTH_SCALE)
        return names

    def detect(self, image: NDArray[np.uint8]) -> Detections:
        """Return the objects found in an RGB image (height, width, 3) of uint8. Raises ShapeError, ParameterError."""
        pixels = check_image(image, MIN_SIDE)
        if self._bank is None:
            return Detections()
        maps = self._backbone.maps(pixels)
        proposals = propose(maps, self.n_proposals)
        features = region_features(maps, proposals)
        scores = self._bank.scores(features)
        boxes, labels, found = [np.empty((0, 4))], [], [np.empty(0)]
        for column, (name, one) in enumerate(self._classifiers.items()):
            likely = np.flatnonzero(scores[:, column] > self.threshold)
            steps = features[likely] @ one.refinement[:-1] + one.refinement[-1]
            refined = moved(proposals[likely], steps, maps.width, maps.height)
            kept = suppress(refined, scores[likely, column], DUPLICATE, MOST_DETECTIONS)
            boxes.append(refined[kept])
            found.append(scores[likely[kept], column])
            labels += [name] * len(kept)
        all_boxes, all_scores = np.concatenate(boxes), np.concatenate(found)
        order = np.argsort(-all_scores, kind="stable")[:MOST_DETECTIONS]
        return Detections(all_boxes[order], [labels[index] for index in order], all_scores[order])

    def forget(self, label: str) -> None:
        """Forget an object, and its frames that have not been trained on. Raises ParameterError if it is unknown."""
        if label not in self.counts:
            known = ", ".join(repr(shorten(name)) for name in list(self.counts)[:10])
            raise ParameterError("label", label, f"one of [{known}]" if known else "an object that was shown")
        del self.counts[label]
        self._shown.pop(label, None)
        if self._frame is not None:
            self._frame.boxes = [entry for entry in self._frame.boxes if entry[0] != label]
        if self._classifiers.pop(label, None) is not None:
            self._bank = ClassifierBank(left, LENGTH_SCALE) if (left := list(self._classifiers.values())) else None

    def copy(self, bootstrap: Bootstrap | None = None) -> "OnlineDetector":
        """Return a copy that learns independently of this detector, with another bootstrap if one is given."""
        made = copy.copy(self)
        made.bootstrap = bootstrap or self.bootstrap
        made.counts = dict(self.counts)
        made._rng = copy.deepcopy(self._rng)
        made._frame = self._frame and replace(self._frame, boxes=list(self._frame.boxes))
        made._shown = copy.deepcopy(self._shown)
        made._classifiers = dict(self._classifiers)
        return made

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the trained objects as a dict of arrays; frames that wait for training are not part of it."""
        waiting = {name: one.n_frames for name, one in self._shown.items()}
        parts = (nested(f"object{index}", one.state()) for index, one in enumerate(self._classifiers.values()))
        entries = {key: value for one in parts for key, value in one.items()}
        return {
            "detector": np.asarray(STATE_VERSION), "source": np.asarray(self.source),
            "labels": pack_labels(self.labels), "length_scale": np.asarray(LENGTH_SCALE),
            "counts": np.array([self.counts[name] - waiting.get(name, 0) for name in self.labels], np.int64), **entries,
        }  # fmt: skip

    def load(self, state: Mapping[str, Any]) -> None:
        """Replace all that was learned and shown by what `state` holds. Raises StateError; nothing changes then."""
        with reading_state("a detector"):
            check_version(state, STATE_VERSION, "detector")
            source = str(scalar(state, "source"))
            if source != self.source:
                raise StateError(f"the model uses '{source}', this detector '{self.source}'", name="source")
            if float(scalar(state, "length_scale")) != LENGTH_SCALE:
                raise StateError("the model was trained with another length scale", name="length_scale")
            labels, counts = unpack_labels("labels", state["labels"]), np.asarray(state["counts"])
            if counts.shape != (len(labels),) or (counts < 1).any():
                raise StateError(f"counts are not {len(labels)} positive integers", name="counts")
            parts = {label: part(state, f"object{index}") for index, label in enumerate(labels)}
            classifiers = {label: RegionClassifier.from_state(one, N_FEATURES) for label, one in parts.items()}
        self._classifiers = classifiers
        self.counts = dict(zip(labels, counts.astype(int).tolist(), strict=True))
        self._frame, self._shown = None, {}
        self._bank = ClassifierBank(list(classifiers.values()), LENGTH_SCALE) if classifiers else None

    @classmethod
    def from_state(cls, state: Mapping[str, Any], **settings: Any) -> "OnlineDetector":
        """Return a detector with these settings and what `state` holds. Raises StateError; see `load`."""
        detector = cls(**settings)
        detector.load(state)
        return detector

    def _frame_of(self, pixels: NDArray[np.uint8]) -> Frame:
        """Return the frame of an image: the last one again, if it is the same image."""
        digest = hashlib.sha256(repr(pixels.shape).encode() + pixels.tobytes()).digest()
        if self._frame is not None and self._frame.digest == digest:
            return self._frame
        self._end_frame()
        maps = self._backbone.maps(pixels)
        proposals = propose(maps, self.n_proposals)
        return Frame(digest, maps, proposals, region_features(maps, proposals))

    def _end_frame(self) -> None:
        """Keep the negatives of the last frame, once all its boxes are known."""
        frame, self._frame = self._frame, None
        if frame is not None:
            for name in dict.fromkeys(name for name, _ in frame.boxes):
                self._shown[name].negatives.add(self._rng, frame.negatives(name))

    def _all_positives(self, name: str) -> tuple[Rows, Array]:
        """Return regions (n, d) of an object, those of earlier trainings first, and their offsets (n, 4). All have the
        same chance to be among `most_positives`, so that earlier lessons fade as later ones come."""
        before, (features, steps) = self._classifiers.get(name), self._shown[name].positives.arrays
        if before:
            features, steps = np.concatenate([before.positives, features]), np.concatenate([before.steps, steps])
        rng = np.random.default_rng([self._seed, self.counts[name]])
        kept = np.sort(rng.permutation(len(steps))[: self.bootstrap.most_positives])
        return features[kept], steps[kept]

    def _train(self, name: str, positives: Rows, steps: Array, known: Mapping[str, Rows]) -> RegionClassifier:
        before = self._classifiers.get(name)
        others = [rows for other, rows in known.items() if other != name]
        rows = [*([before.negatives] if before else []), *others, *self._shown[name].negatives.arrays]
        negatives, wide = np.concatenate(rows), positives.astype(np.float64)
        rng = np.random.default_rng([self._seed, len(wide)])
        regressor = falkon(self.n_centers, LENGTH_SCALE, REGULARIZATION, self._seed)
        classifier, pool = train(wide, negatives, regressor, self.bootstrap, rng)
        return RegionClassifier(
            classifier.centers_.astype(np.float32), np.ravel(classifier.dual_coef_).astype(np.float32),
            fit_refinement(wide, steps), positives, steps, pool.astype(np.float32),
        )  # fmt: skip
