"""One-vs-rest classifiers of regions by FALKON, trained on hard negatives: the minibootstrap."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array
from icub_learning.detection.settings import DEFAULTS
from icub_learning.errors import ParameterError
from icub_learning.kernel_methods.subsampling.falkon import FALKON

HARD, EASY = -0.7, -0.9  # scores above which negatives are taken in, and below which they are dropped again
POSITIVE_SHARE = 0.25  # of the samples; positives are repeated until they are that many
MAX_REPEATS = 20  # of a positive
SAMPLES_PER_CENTER = 2  # at least; twice the centres would cost half as much time again for half a point of mAP
ITERATIONS, TOLERANCE = 20, 1e-2  # of conjugate gradients; scores change in the third digit beyond
STRATEGIES = ("minibootstrap", "full", "random")


# Makes, for rows (n, d) and targets 1 and -1 (n,), a regressor as scikit-learn's.
MakeRegressor = Callable[[Array, Array], Any]


@dataclass(frozen=True)
class Bootstrap:
    """How negatives are chosen."""

    # "minibootstrap"; "full": the same over all negatives, in batches of that size; "random": one random set of as many
    # negatives as all batches hold
    strategy: str = "minibootstrap"
    n_batches: int = DEFAULTS.n_batches  # batches of negatives, for "minibootstrap" and "random"
    batch_size: int = DEFAULTS.batch_size  # negatives in a batch

    def __post_init__(self) -> None:
        if self.strategy not in STRATEGIES:
            raise ParameterError("strategy", self.strategy, f"one of {', '.join(STRATEGIES)}")
        for name in ("n_batches", "batch_size"):
            if getattr(self, name) < 1:
                raise ParameterError(name, getattr(self, name), "at least 1")


def falkon(n_centers: int, length_scale: float, regularization: float, seed: int) -> MakeRegressor:
    """Return a function that makes a FALKON regressor for samples (n, d) with at most n_centers centres."""

    def make(samples: Array, _targets: Array) -> FALKON:
        return FALKON(
            length_scale=length_scale,
            regularization=regularization,
            n_centers=max(1, min(n_centers, len(samples) // SAMPLES_PER_CENTER)),
            n_preconditioner=0,
            max_iter=ITERATIONS,
            tol=TOLERANCE,
            random_state=seed,
        )

    return make


def train(
    positives: Array, negatives: Array, make: MakeRegressor, bootstrap: Bootstrap, rng: np.random.Generator
) -> tuple[Any, Array]:
    """Train a class of regions (n, d) against others (m, d); return the classifier, and the negatives that it learned
    last.

    The first classifier learns the positives and the first batch of negatives. Of each further batch, the negatives
    that the present classifier scores above -0.7 are taken in, those of the pool below -0.9 are dropped, and it is
    trained again (Maiettini, Pasquale, Rosasco, Natale, "Speeding-up object detection training for robotics with
    FALKON", IROS 2018, algorithm 1).
    """
    order = rng.permutation(len(negatives))
    size = bootstrap.batch_size
    if bootstrap.strategy != "full":
        order = order[: bootstrap.n_batches * size]
    if bootstrap.strategy == "random":
        pool = negatives[order]
        return _fit(positives, pool, make), pool
    batches = [order[first : first + size] for first in range(0, len(order), size)]
    pool = negatives[batches[0]] if batches else negatives
    classifier = _fit(positives, pool, make)
    for batch in batches[1:]:
        candidates = negatives[batch]
        hard = candidates[classifier.predict(candidates) > HARD]
        if not len(hard):
            continue
        pool = np.concatenate([pool[classifier.predict(pool) >= EASY], hard])
        classifier = _fit(positives, pool, make)
    return classifier, pool


def _fit(positives: Array, negatives: Array, make: MakeRegressor) -> Any:
    wanted = POSITIVE_SHARE / (1.0 - POSITIVE_SHARE) * len(negatives) / len(positives)
    repeats = int(np.clip(round(wanted), 1, MAX_REPEATS))
    samples = np.concatenate([np.tile(positives, (repeats, 1)), negatives])
    targets: NDArray[np.float64] = np.ones(len(samples))
    targets[repeats * len(positives) :] = -1.0
    classifier = make(samples, targets)
    classifier.fit(samples, targets)
    return classifier
