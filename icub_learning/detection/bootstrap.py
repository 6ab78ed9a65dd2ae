"""One-vs-rest classifiers of regions by FALKON, trained on hard negatives: the minibootstrap."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from icub_learning.arrays import Array
from icub_learning.detection.settings import DEFAULTS
from icub_learning.errors import ParameterError
from icub_learning.kernel_methods.subsampling.falkon import FALKON

HARD, EASY = -0.7, -0.9  # scores above which a negative joins the training set, and below which it is dropped again
POSITIVES = 1.0 / 3.0  # number of positives for each negative, reached by repeating them
MAX_REPEATS = 20  # largest number of copies of a positive
SPARE = 4  # most regions that wait, for each one drawn: all those of a lesson of up to 130 images of 300 regions
SAMPLES_PER_CENTER = 2  # fewest samples per centre; twice the centres take 1.5 times as long, for half a point of mAP
ITERATIONS, TOLERANCE = 20, 1e-2  # limits of conjugate gradients, beyond which scores change in the third digit
STRATEGIES = ("minibootstrap", "full", "random")


# Makes a regressor with scikit-learn's interface for samples (n, d) and their targets (n,), which are 1 or -1.
MakeRegressor = Callable[[Array, Array], Any]


@dataclass(frozen=True)
class Bootstrap:
    """How negatives are chosen."""

    # "minibootstrap"; "full": the same over all negatives, in batches of batch_size; "random": training once, on
    # n_batches * batch_size random negatives
    strategy: str = "minibootstrap"
    n_batches: int = DEFAULTS.n_batches  # batches of negatives, for "minibootstrap" and "random"
    batch_size: int = DEFAULTS.batch_size  # negatives in a batch

    def __post_init__(self) -> None:
        if self.strategy not in STRATEGIES:
            raise ParameterError("strategy", self.strategy, f"one of {', '.join(STRATEGIES)}")
        for name in ("n_batches", "batch_size"):
            if getattr(self, name) < 1:
                raise ParameterError(name, getattr(self, name), "at least 1")

    @property
    def most_positives(self) -> int:
        """Largest number of an object's regions that are kept: as many as a training on all these negatives uses."""
        return round(POSITIVES * self.n_batches * self.batch_size)

    @property
    def most_waiting(self) -> tuple[float, float]:
        """Largest numbers of an object's regions, and of others, that wait for a training, which draws from them."""
        others = SPARE * self.n_batches * self.batch_size if self.strategy != "full" else math.inf
        return SPARE * self.most_positives, others


def falkon(n_centers: int, length_scale: float, regularization: float, seed: int) -> MakeRegressor:
    """Return a function that makes a FALKON regressor for samples (n, d) with at most n_centers centres."""

    def make(samples: Array, _targets: Array) -> FALKON:
        return FALKON(
            n_centers=max(1, min(n_centers, len(samples) // SAMPLES_PER_CENTER)), regularization=regularization,
            length_scale=length_scale, n_preconditioner=0, max_iter=ITERATIONS, tol=TOLERANCE, random_state=seed,
        )  # fmt: skip

    return make


def train(
    positives: Array, negatives: Array, make: MakeRegressor, bootstrap: Bootstrap, rng: np.random.Generator
) -> tuple[Any, Array]:
    """Train a classifier of an object's regions (n, d) against others (m, d); return it, and the negatives that it was
    last trained on.

    The first classifier learns the positives and the first batch of negatives. From each further batch, the
    negatives that the classifier scores above -0.7 join the pool, those of the pool below -0.9 leave it, and it is
    trained again (Maiettini, Pasquale, Rosasco, Natale, "Speeding-up object detection training for robotics with
    FALKON", IROS 2018, algorithm 1).
    """
    order, size = rng.permutation(len(negatives)), bootstrap.batch_size
    if bootstrap.strategy != "full":
        order = order[: bootstrap.n_batches * size]
    if bootstrap.strategy == "random":
        pool = negatives[order].astype(np.float64)
        return _fit(positives, pool, make), pool
    batches = [order[first : first + size] for first in range(0, len(order), size)]
    pool = (negatives[batches[0]] if batches else negatives).astype(np.float64)
    classifier = _fit(positives, pool, make)
    for batch in batches[1:]:
        candidates = negatives[batch].astype(np.float64)
        hard = candidates[classifier.predict(candidates) > HARD]
        if len(hard):
            pool = np.concatenate([pool[classifier.predict(pool) >= EASY], hard])
            classifier = _fit(positives, pool, make)
    return classifier, pool


def _fit(positives: Array, negatives: Array, make: MakeRegressor) -> Any:
    repeats = int(np.clip(round(POSITIVES * len(negatives) / len(positives)), 1, MAX_REPEATS))
    samples = np.concatenate([np.tile(positives, (repeats, 1)), negatives])
    targets = np.repeat([1.0, -1.0], [repeats * len(positives), len(negatives)])
    classifier = make(samples, targets)
    classifier.fit(samples, targets)
    return classifier
