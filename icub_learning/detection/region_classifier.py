"""Regions of one object in the frames that show it, and what is learned from them: a score and a refinement."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array, finite
from icub_learning.detection.backbone import FeatureMaps
from icub_learning.detection.boxes import moved, offsets, overlaps
from icub_learning.errors import StateError

BOX_REGULARIZATION = 1000.0  # ridge regularization lambda of the refinement, for features of mean length 20
# Overlap with the taught box from which a region is positive, and below which it is negative; others are not used.
POSITIVE_OVERLAP, NEGATIVE_OVERLAP = 0.6, 0.3
JITTERED = 8  # number of randomly moved copies of each taught box
JITTER = np.array([0.12, 0.12, 0.15, 0.15])  # standard deviations of the copies' offsets, see boxes.offsets
Rows = NDArray[np.float32]


@dataclass
class Frame:
    """The regions of one image, and the boxes shown in it."""

    digest: bytes  # hash of the image, which tells whether another object is shown in the same image
    maps: FeatureMaps  # feature maps of the image
    proposals: Array  # (n, 4) boxes [px]
    features: Rows  # (n, d) features of the proposals
    boxes: list[tuple[str, Array]] = field(default_factory=list)  # label and box (4,) of each object shown

    def negatives(self, label: str) -> Rows:
        """Return the features (m, d) of the proposals that overlap no box of this label by 0.3 or more."""
        own = np.array([box for name, box in self.boxes if name == label])
        return self.features[overlaps(self.proposals, own).max(axis=1) < NEGATIVE_OVERLAP]


@dataclass
class Sample:
    """A random sample of the rows that came, at most `most`: each has the same chance to be in it.

    Rows of several arrays stay side by side (Vitter, "Random sampling with a reservoir", 1985, algorithm R).
    """

    most: float
    came: int = 0
    arrays: tuple[NDArray[Any], ...] = ()

    def add(self, rng: np.random.Generator, *rows: NDArray[Any]) -> None:
        """Add rows that may be drawn, the same number of each array."""
        room = int(max(0, min(self.most - self.came, len(rows[0]))))
        places = self.came + np.arange(len(rows[0]))
        places[room:] = rng.integers(0, places[room:] + 1)
        self.came += len(places)
        if room:
            kept = self.arrays or tuple(array[:0] for array in rows)
            self.arrays = tuple(np.concatenate([old, new[:room]]) for old, new in zip(kept, rows, strict=True))
        late = np.flatnonzero(places < self.most)[room:]
        for array, new in zip(self.arrays, rows, strict=True):
            array[places[late]] = new[late]


@dataclass
class Shown:
    """What was shown of one object since it was last trained."""

    positives: Sample  # features (n, d) of its regions, and their offsets (n, 4) to its box
    negatives: Sample  # features (m, d) of other regions of the same images
    n_frames: int = 0  # number of these images


def positive_boxes(box: Array, proposals: Array, maps: FeatureMaps, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return boxes (n, 4) that overlap an object's by 0.6 (itself, moved copies, proposals) and their offsets to it."""
    copies = moved(np.tile(box, (JITTERED, 1)), JITTER * rng.normal(size=(JITTERED, 4)), maps.width, maps.height)
    boxes = np.concatenate([box[None], copies, proposals])
    boxes = boxes[overlaps(boxes, box[None])[:, 0] >= POSITIVE_OVERLAP]
    return boxes, offsets(boxes, np.tile(box, (len(boxes), 1)))


@dataclass(frozen=True)
class RegionClassifier:
    """What is learned of one object."""

    centers: Rows  # (m, d) centres of the Gaussian kernel
    coefficients: Rows  # (m,)
    refinement: Array  # (d + 1, 4) weights of the offsets that move a region onto the object; the last row is constant
    positives: Rows  # (p, d) regions of the object, kept to train it again and as negatives of others
    steps: Array  # (p, 4) offsets from these regions to the object
    negatives: Rows  # (k, d) hard negatives of the last training

    def state(self) -> dict[str, NDArray[Any]]:
        """Return everything as a dict of arrays."""
        return {name: np.array(value) for name, value in vars(self).items()}

    @classmethod
    def from_state(cls, state: Mapping[str, Any], n_features: int) -> "RegionClassifier":
        """Rebuild from `state`. Raises StateError, KeyError, NotFiniteError."""
        read = {name: finite(name, state[name]) for name in cls.__dataclass_fields__}
        m, p, k = (len(np.atleast_1d(read[name])) for name in ("centers", "positives", "negatives"))
        small = {"centers": (m, n_features), "coefficients": (m,), "positives": (p, n_features)}
        small["negatives"] = (k, n_features)
        for name, shape in {**small, "refinement": (n_features + 1, 4), "steps": (p, 4)}.items():
            if read[name].shape != shape:
                raise StateError(f"{name} has shape {read[name].shape}, not {shape}", name=name)
        return cls(**{**read, **{name: read[name].astype(np.float32) for name in small}})  # type: ignore[arg-type]


def fit_refinement(positives: Array, steps: Array) -> Array:
    """Return the weights (d + 1, 4) of ridge regression of offsets (p, 4) on regions (p, d), the intercept last."""
    mean, middle = positives.mean(axis=0), steps.mean(axis=0)
    centred = positives - mean
    n, d = centred.shape
    if n < d:  # the same solution from the smaller of two matrices
        weights = centred.T @ np.linalg.solve(centred @ centred.T + BOX_REGULARIZATION * np.eye(n), steps - middle)
    else:
        weights = np.linalg.solve(centred.T @ centred + BOX_REGULARIZATION * np.eye(d), centred.T @ (steps - middle))
    return np.concatenate([weights, (middle - mean @ weights)[None]])


class ClassifierBank:
    """All classifiers side by side, so that one kernel matrix scores regions for all objects."""

    def __init__(self, classifiers: list[RegionClassifier], length_scale: float) -> None:
        self._centers = np.concatenate([one.centers for one in classifiers])
        self._squares = np.einsum("ij,ij->i", self._centers, self._centers)
        self._coefficients = np.concatenate([one.coefficients for one in classifiers])
        self._ends = np.cumsum([len(one.centers) for one in classifiers])[:-1]
        self._factor = np.float32(0.5 / length_scale**2)

    def scores(self, regions: Rows) -> Array:
        """Return the scores (n, T) of regions (n, d)."""
        kernel = regions @ self._centers.T
        kernel *= 2.0
        kernel -= self._squares
        kernel -= np.einsum("ij,ij->i", regions, regions)[:, None]
        kernel *= self._factor
        np.exp(kernel, out=kernel)
        parts = zip(np.split(kernel, self._ends, axis=1), np.split(self._coefficients, self._ends), strict=True)
        return np.stack([values @ coefficients for values, coefficients in parts], axis=1).astype(np.float64)
