"""Many objects and many views: our classifier in three orders of teaching, beside streaming and off-line rivals."""

from collections.abc import Callable, Iterator
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from icub_learning.arrays import Array
from icub_learning.experiments.figures import seconds
from icub_learning.experiments.recognition.views import FEWEST_ASKED, Pools, accuracy, draw
from icub_learning.recognition.assembly import make_classifier
from icub_learning.recognition.classifiers.kept_views import unit
from icub_learning.recognition.settings import DEFAULTS, Settings

N_CLASSES = (10, 30, 100, 300, 1000)
N_VIEWS = (3, 10, 30, 100, 300)  # numbers of taught views of each class
N_RANDOM = 2000  # random ReLU features of RanPAC; its paper has 10 000
MOST_OFF_LINE = 3000  # most views for logistic regression, which takes minutes with more
ORDERS = ("one after the other", "in rounds", "mixed")
OURS = {
    "adaptive (default)": (DEFAULTS, ORDERS[0]), "adaptive, in rounds": (DEFAULTS, ORDERS[1]),
    "adaptive, mixed": (DEFAULTS, ORDERS[2]),
    "RLSC of the thesis": (Settings(classifier="rlsc", recoding=0.7), ORDERS[2])
}  # fmt: skip


def cells(pools: Pools) -> Iterator[tuple[int, int]]:
    """Yield the numbers of classes and views that a data set has enough of; all of its classes, if fewer than 10."""
    for n_views in N_VIEWS:
        able = sum(len(teach) >= n_views and len(ask) >= FEWEST_ASKED for teach, ask in pools.values())
        for n_classes in (*(n for n in N_CLASSES if n < able), able):
            if n_classes > 1:
                yield n_classes, n_views


def compare(pools: Pools, n_classes: int, n_views: int, seed: int) -> dict[str, dict[str, float]]:
    """Return by contender "accuracy", the share in [0, 1] of views named right, classes counting alike, and "learning",
    the median time to learn a view [s]; the mean time for rivals, which are fitted at once.

    Rivals have the settings that are best for the test views, which they could not know.
    """
    drawn = draw(pools, n_classes, n_views, seed)
    x, targets = np.concatenate(list(drawn.taught.values())), np.repeat(np.arange(n_classes), n_views)
    found = {}
    for name, (settings, order) in OURS.items():
        classifier, places = make_classifier(settings, x.shape[1]), ordered(order, targets, seed)
        times = [seconds(classifier.learn, x[place], str(targets[place])) for place in places]
        named = np.array(classifier.classes, dtype=int)[classifier.scores(drawn.asked).argmax(axis=1)]
        took = float(np.median(times[len(times) // 2 :]))
        found[name] = {"accuracy": accuracy(named, drawn.targets), "learning": took}
    for name, fit in RIVALS.items():
        start = perf_counter()
        best = max((accuracy(s.argmax(axis=1), drawn.targets) for s in fit(x, targets, drawn.asked)), default=np.nan)
        found[name] = {"accuracy": best, "learning": (perf_counter() - start) / len(x)}
    return found


def ordered(order: str, targets: NDArray[np.intp], seed: int) -> NDArray[np.intp]:
    """Return the indices (n,) that bring views, given class after class, into one of ORDERS."""
    if order == "in rounds":
        return np.argsort(np.arange(len(targets)) % np.bincount(targets)[0], kind="stable")
    return np.random.default_rng(seed).permutation(len(targets)) if order == "mixed" else np.arange(len(targets))


def class_mean(x: Array, targets: NDArray[np.intp], asked: Array) -> Iterator[Array]:
    """Yield cosines with the mean of each class."""
    yield unit(asked) @ unit(_means(unit(x), targets)).T


def streaming_lda(x: Array, targets: NDArray[np.intp], asked: Array) -> Iterator[Array]:
    """Yield scores of linear discriminants with one shrunk covariance (Hayes and Kanan 2020), by shrinkage."""
    rows, others = unit(x), unit(asked)
    means = _means(rows, targets)
    residuals = rows - means[targets]
    covariance = residuals.T @ residuals / len(x)
    variance = max(float(np.trace(covariance)) / len(covariance), 1e-12)
    for share in (1e-4, 1e-2, 0.05, 0.2, 0.5, 0.9):
        weights = np.linalg.solve((1.0 - share) * covariance + share * variance * np.eye(len(covariance)), means.T)
        yield others @ weights - 0.5 * (means.T * weights).sum(axis=0)


def random_features(x: Array, targets: NDArray[np.intp], asked: Array) -> Iterator[Array]:
    """Yield scores of ridge regression on random ReLU features (RanPAC, McDonnell and others 2023), by its lambda."""
    directions = np.random.default_rng(0).normal(size=(x.shape[1], N_RANDOM))
    mapped, others = (np.maximum(unit(part) @ directions, 0.0) for part in (x, asked))
    yield from ridge(mapped, targets, others)


def ridge(x: Array, targets: NDArray[np.intp], asked: Array) -> Iterator[Array]:
    """Yield scores of ridge regression on views of unit length, by its lambda."""
    rows, others, indicators = unit(x), unit(asked), np.eye(targets.max() + 1)[targets]
    wide = len(rows) < rows.shape[1]
    gram, right = (rows @ rows.T, indicators) if wide else (rows.T @ rows, rows.T @ indicators)
    for power in range(-4, 2):
        solved = np.linalg.solve(gram + 10.0**power * np.eye(len(gram)), right)
        yield others @ (rows.T @ solved if wide else solved)


def logistic_regression(x: Array, targets: NDArray[np.intp], asked: Array) -> Iterator[Array]:
    """Yield scores of multinomial logistic regression, by regularization."""
    if len(x) <= MOST_OFF_LINE:
        center = unit(x).mean(axis=0)
        rows, others = (unit(unit(part) - center) for part in (x, asked))  # without this it hardly converges
        for inverse in (10.0, 100.0, 1000.0):
            yield LogisticRegression(C=inverse, tol=1e-3, max_iter=300).fit(rows, targets).predict_proba(others)


def _means(rows: Array, targets: NDArray[np.intp]) -> Array:
    return np.array([rows[targets == index].mean(axis=0) for index in range(targets.max() + 1)])


RIVALS: dict[str, Callable[[Array, NDArray[np.intp], Array], Iterator[Array]]] = {
    "class mean": class_mean, "SLDA": streaming_lda, "RanPAC": random_features,
    "ridge": ridge, "logistic regression": logistic_regression,
}  # fmt: skip
