"""What learns few views of each class: the classifiers of this package, and rivals of scikit-learn at their best."""

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array
from icub_learning.recognition.assembly import make_classifier
from icub_learning.recognition.classifiers.kept_views import unit
from icub_learning.recognition.settings import Settings

OURS = {
    "adaptive (default)": Settings(),
    "incremental": Settings(classifier="rlsc", weighting="none"),
    "incremental, recoded": Settings(classifier="rlsc", recoding=0.7),
}
PARTS = 3  # of the training views, each held back once to choose a rival's settings


@dataclass(frozen=True)
class Rival:
    """An estimator of scikit-learn."""

    make: Callable[[Any], Any]  # returns one with the given setting
    settings: tuple[Any, ...]  # candidates, from which cross-validation on the training views chooses
    # returns the one for a single view of each class, of unit length, when nothing can be held back
    single: Callable[[], Any]


def rivals() -> dict[str, Rival]:
    """Return the rivals by name; views have a mean squared length of 1, which is the unit of their settings."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.linear_model import LogisticRegression, RidgeClassifier
    from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
    from sklearn.svm import SVC

    def neighbour(_: float = 0.0) -> Any:  # the class mean too, where there is one view of each class
        return KNeighborsClassifier(1)

    return {
        "class mean": Rival(lambda _: NearestCentroid(), (0.0,), neighbour),
        "nearest neighbour": Rival(neighbour, (0.0,), neighbour),
        "ridge": Rival(RidgeClassifier, (0.001, 0.01, 0.03, 0.1, 0.3, 1.0, 10.0), lambda: RidgeClassifier(0.1)),
        "logistic regression": Rival(
            lambda inverse: LogisticRegression(C=inverse, tol=1e-3, max_iter=300),
            (1.0, 10.0, 100.0, 1000.0),
            lambda: LogisticRegression(C=10.0),
        ),
        "support vector machine": Rival(
            lambda pair: SVC(C=pair[0], gamma=pair[1]),
            tuple(product((1.0, 10.0, 100.0), (0.3, 1.0, 3.0))),
            lambda: SVC(C=10.0, gamma=1.0),
        ),
        # A single view of each class shows no variation within classes: what is left of it are the means.
        "shrunk LDA": Rival(
            lambda share: LinearDiscriminantAnalysis(solver="lsqr", shrinkage=share),
            (0.05, 0.2, 0.5, 0.8, 0.95),
            neighbour,
        ),
    }


def name_with_ours(settings: Settings, taught: Mapping[str, Array], asked: Array) -> NDArray[np.intp]:
    """Teach a classifier of ours views (n, d), class after class; return the classes (m,) of `asked` (m, d)."""
    classifier = make_classifier(settings, asked.shape[1])
    for name, rows in taught.items():
        classifier.learn(rows, name)
    places = {name: place for place, name in enumerate(taught)}
    return np.array([places[name] for name in classifier.predict(asked)], dtype=np.intp)


def name_with_rival(rival: Rival, taught: Mapping[str, Array], asked: Array) -> NDArray[np.intp]:
    """Return the classes (m,) of `asked` (m, d) by a rival, set as cross-validation on `taught` prefers.

    Views have unit length or their own, whichever it prefers.
    """
    from sklearn.model_selection import StratifiedKFold

    counts = [len(rows) for rows in taught.values()]
    x, targets = np.concatenate(list(taught.values())), np.repeat(np.arange(len(taught)), counts)
    scaled = list(_scalings(x, asked))
    estimator, (train, others) = rival.single(), scaled[-1]
    if min(counts) > 1:
        best = -1
        parts = list(StratifiedKFold(min(PARTS, *counts), shuffle=True, random_state=0).split(x, targets))
        for setting, (views, more) in product(rival.settings, scaled):
            right = 0
            for learned, held in parts:
                found = _fit_and_name(rival.make(setting), views[learned], targets[learned], views[held])
                right += np.count_nonzero(found == targets[held])
            if right > best:
                best, estimator, train, others = right, rival.make(setting), views, more
    return _fit_and_name(estimator, train, targets, others)


def _fit_and_name(estimator: Any, train: Array, targets: NDArray[np.intp], others: Array) -> NDArray[np.intp]:
    with warnings.catch_warnings():
        # of the class mean, on pixels that are the same in all digits of a class; it uses no deviations
        warnings.filterwarnings("ignore", message="self.within_class_std_dev_ has at least 1 zero")
        return np.asarray(estimator.fit(train, targets).predict(others), dtype=np.intp)


def _scalings(x: Array, asked: Array) -> Iterator[tuple[Array, Array]]:
    """Yield training views and others with their own lengths, then with unit length, in at most n dimensions.

    The dimensions are those that the centred training views span: none of the rivals can tell others apart.
    """
    length = np.sqrt((x**2).sum(axis=1).mean())
    for train, others in ((x / length, asked / length), (unit(x), unit(asked))):
        if len(train) > train.shape[1]:
            yield train, others
            continue
        centre = train.mean(axis=0)
        basis = np.linalg.qr((train - centre).T)[0]
        yield (train - centre) @ basis, (others - centre) @ basis
