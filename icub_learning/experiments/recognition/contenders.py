"""Learners of few views of each class: the classifiers of this package, and rivals of scikit-learn at their best."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.svm import SVC

from icub_learning.arrays import Array
from icub_learning.experiments.recognition.views import Pools, accuracy, draw
from icub_learning.recognition.assembly import make_classifier
from icub_learning.recognition.classifiers.kept_views import unit
from icub_learning.recognition.settings import Settings

PARTS = 3  # folds of the cross-validation on training views that chooses a rival's settings


@dataclass(frozen=True)
class Rival:
    """An estimator of scikit-learn; views have a mean squared length of 1, which is the unit of its settings."""

    make: Callable[..., Any]  # returns the estimator with a given setting
    settings: tuple[Any, ...]  # candidates, from which cross-validation on the training views chooses
    single: Any  # estimator for a single view of each class, of unit length, where none can be held out


OURS = {"adaptive (default)": Settings(), "incremental": Settings(classifier="rlsc", weighting="none")}
RIVALS = {
    # A single view of each class is its mean, and shows no variation within classes.
    "class mean": Rival(lambda _: NearestCentroid(), (0.0,), KNeighborsClassifier(1)),
    "nearest neighbour": Rival(lambda _: KNeighborsClassifier(1), (0.0,), KNeighborsClassifier(1)),
    "ridge": Rival(RidgeClassifier, (0.001, 0.01, 0.03, 0.1, 0.3, 1.0, 10.0), RidgeClassifier(0.1)),
    "logistic regression": Rival(lambda inverse: LogisticRegression(C=inverse, tol=1e-3, max_iter=300),
                                 (1.0, 10.0, 100.0, 1000.0), LogisticRegression(C=10.0)),
    "support vector machine": Rival(lambda pair: SVC(C=pair[0], gamma=pair[1]),
                                    tuple(product((1.0, 10.0, 100.0), (0.3, 1.0, 3.0))), SVC(C=10.0, gamma=1.0)),
    "shrunk LDA": Rival(lambda share: LinearDiscriminantAnalysis(solver="lsqr", shrinkage=share),
                        (0.05, 0.2, 0.5, 0.8, 0.95), KNeighborsClassifier(1)),
}  # fmt: skip


def compare(pools: Pools, n_classes: int, n_views: Sequence[int], seed: int) -> dict[str, list[float]]:
    """Return the accuracies of each contender on views not taught, by the number of views taught."""
    contenders: dict[str, Settings | Rival] = {**OURS, **RIVALS}
    most = draw(pools, n_classes, max(n_views), seed)
    some = [{label: rows[:n] for label, rows in most.taught.items()} for n in n_views]
    return {
        name: [accuracy(named_by(contender, taught, most.asked), most.targets) for taught in some]
        for name, contender in contenders.items()
    }


def named_by(contender: Settings | Rival, taught: Mapping[str, Array], asked: Array) -> NDArray[np.intp]:
    """Return the classes (m,) of `asked` (m, d) by a classifier of ours that is taught views (n, d), class after class,
    or by a rival whose setting, and whether views have unit length, are chosen by cross-validation on `taught`."""
    if isinstance(contender, Settings):
        classifier = make_classifier(contender, asked.shape[1])
        for name, rows in taught.items():
            classifier.learn(rows, name)
        return np.array([list(taught).index(name) for name in classifier.predict(asked)], dtype=np.intp)
    counts = [len(rows) for rows in taught.values()]
    x, targets = np.concatenate(list(taught.values())), np.repeat(np.arange(len(taught)), counts)
    scaled = list(_scalings(x, asked))
    estimator, (train, others) = contender.single, scaled[-1]
    if min(counts) > 1:
        best = -1
        parts = list(StratifiedKFold(min(PARTS, *counts), shuffle=True, random_state=0).split(x, targets))
        for setting, (views, more) in product(contender.settings, scaled):
            right = 0
            for learned, held in parts:
                found = _fit_and_name(contender.make(setting), views[learned], targets[learned], views[held])
                right += np.count_nonzero(found == targets[held])
            if right > best:
                best, estimator, train, others = right, contender.make(setting), views, more
    return _fit_and_name(estimator, train, targets, others)


def _fit_and_name(estimator: Any, train: Array, targets: NDArray[np.intp], others: Array) -> NDArray[np.intp]:
    with warnings.catch_warnings():
        # The class mean warns of pixels that are the same in all digits of a class, but it uses no deviations.
        warnings.filterwarnings("ignore", message="self.within_class_std_dev_ has at least 1 zero")
        return np.asarray(estimator.fit(train, targets).predict(others), dtype=np.intp)


def _scalings(x: Array, asked: Array) -> Iterator[tuple[Array, Array]]:
    """Yield training and other views, with their own, then with unit length, in the dimensions that the former span."""
    length = np.sqrt((x**2).sum(axis=1).mean())
    for train, others in ((x / length, asked / length), (unit(x), unit(asked))):
        if len(train) > train.shape[1]:
            yield train, others
            continue
        centre = train.mean(axis=0)
        basis = np.linalg.qr((train - centre).T)[0]
        yield (train - centre) @ basis, (others - centre) @ basis
