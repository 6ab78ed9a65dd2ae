"""The protocol of thesis 7.6.1, in which a class arrives after the others, for five ways to learn it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from icub_learning.arrays import Array, integer
from icub_learning.errors import ParameterError
from icub_learning.experiments.options import progress
from icub_learning.recognition.classifiers.incremental_classifier import IncrementalClassifier

METHODS = {
    "N": "RLSC", "RB": "rebalanced, from scratch", "RC": "recoding, chosen as published",
    "RC fixed": "one alpha for all", "RC+": "recoding, chosen within a standard error",
}  # fmt: skip
FIXED_RECODING = 0.6  # alpha that comes closest to the published column of RC; not chosen by validation
RECODINGS = np.round(np.linspace(0.0, 1.0, 21), 2)  # candidates for alpha
TOLERANCE = 1e-12  # rounding errors that a comparison of accuracies allows for
LAMBDAS = tuple(10.0**power for power in range(-2, 5))


@dataclass(frozen=True)
class Sizes:
    """Numbers of examples: `n_bal` to train each balanced class, `n_imb` the imbalanced one; `n_test` to test each."""

    n_bal: int
    n_test: int
    n_imb: tuple[int, ...] = (1, 5, 10, 50, 100, 500)

    @property
    def n_val(self) -> int:
        """Number of validation examples of each balanced class: a fifth of n_bal, as in the thesis."""
        return self.n_bal // 5


class Outcome(NamedTuple):
    """Accuracies in [0, 1] of one method, and its settings, by n_imb: of one trial (n_imb,), or (n_trials, n_imb)."""

    total: Array
    imbalanced: Array
    balanced: Array
    recoding: Array
    regularization: Array


@dataclass(frozen=True)
class Split:
    """The examples of one trial; classes are numbered, and the last is the imbalanced one."""

    train: list[Array]
    validation: Array
    validation_classes: NDArray[np.intp]
    test: Array
    test_classes: NDArray[np.intp]
    imbalanced: str


def compare(
    examples: Mapping[str, Array], sizes: Sizes, n_trials: int = 10, seed: int = 0, late: Sequence[str] = ()
) -> tuple[dict[str, Outcome], list[str]]:
    """Run all methods on the same draws; return the outcome of each of METHODS, and the late class of each trial.

    `late` are the late classes, in turn; none: drawn. Raises ParameterError: there are too few examples for the sizes.
    """
    outcomes, imbalanced = [], []
    for trial in progress(range(integer("n_trials", n_trials, 1)), "trials"):
        drawn = split(examples, sizes, np.random.default_rng([seed, trial]), late[trial % len(late)] if late else None)
        imbalanced.append(drawn.imbalanced)
        outcomes.append(run_trial(drawn, sizes, LAMBDAS))
    return {method: Outcome(*np.stack([one[method] for one in outcomes], axis=1)) for method in METHODS}, imbalanced


def split(examples: Mapping[str, Array], sizes: Sizes, rng: np.random.Generator, late: str | None = None) -> Split:
    """Draw the sets of one trial. Raises ParameterError: there are too few examples, of `late` or of others."""
    need, need_imbalanced = sizes.n_bal + sizes.n_val + sizes.n_test, max(sizes.n_imb) + sizes.n_test
    have = {label: len(rows) for label, rows in examples.items()}
    small = {label for label, n in have.items() if n < need}
    able = [label for label, n in have.items() if n >= need_imbalanced and not small - {label}]
    if len(examples) < 2 or not able:
        bound = f"{need} of each class but one, and {need_imbalanced} of that; smaller sizes need fewer"
        raise ParameterError("examples", have, bound)
    if late is not None and late not in able:
        raise ParameterError("late", late, f"one of {', '.join(able)}")
    last = late or able[int(rng.integers(len(able)))]
    parts = []
    for label in [*(label for label in examples if label != last), last]:
        n_val, n_train = (0, max(sizes.n_imb)) if label == last else (sizes.n_val, sizes.n_bal)
        drawn = examples[label][rng.permutation(len(examples[label]))[: sizes.n_test + n_val + n_train]]
        parts.append(np.split(drawn, [sizes.n_test, sizes.n_test + n_val]))
    test, validation, train = zip(*parts, strict=True)
    held, asked = (np.repeat(np.arange(len(examples)), [len(rows) for rows in some]) for some in (validation, test))
    return Split(list(train), np.concatenate(validation), held, np.concatenate(test), asked, last)


def run_trial(drawn: Split, sizes: Sizes, regularizations: Sequence[float]) -> dict[str, Outcome]:
    """Train all methods on one draw, choose their settings, and return their outcomes on the test examples."""
    place = int(np.flatnonzero(RECODINGS == FIXED_RECODING)[0])
    judged: dict[str, list[tuple[float, ...]]] = {method: [] for method in METHODS}
    for n_imb, classifiers, log_ratio in grown(drawn, sizes.n_imb, regularizations):
        validation = np.array([classifier.scores(drawn.validation) for classifier in classifiers])
        own = drawn.validation_classes
        right = np.array([count_correct(scores, own, log_ratio) for scores in validation])
        errors = ((validation - np.eye(len(drawn.train))[own]) ** 2).sum(axis=(1, 2))
        chosen = {
            "N": (most_correct(right[:, 0], errors), 0),
            "RC fixed": (most_correct(right[:, place], errors), place),  # lambda by validation, as in figure 7.2
            "RC": choose_as_published(right, errors),
            "RC+": choose_within_a_standard_error(right, errors, len(own)),
        }
        for method, (j, a) in chosen.items():
            scores = classifiers[j].scores(drawn.test) * np.exp(RECODINGS[a] * log_ratio)
            judged[method].append((*_accuracies(scores, drawn.test_classes), RECODINGS[a], regularizations[j]))
        train = [*drawn.train[:-1], drawn.train[-1][:n_imb]]
        weights, regularization = rebalanced(train, drawn.validation, own, regularizations)
        judged["RB"].append((*_accuracies(drawn.test @ weights, drawn.test_classes), np.nan, regularization))
    return {method: Outcome(*np.transpose(rows)) for method, rows in judged.items()}


def grown(
    drawn: Split, n_imb: Sequence[int], regularizations: Sequence[float]
) -> Iterator[tuple[int, list[IncrementalClassifier], Array]]:
    """Learn all but the last class, then ever more of it; yield each `n_imb`, classifiers by lambda, log(n / n_t)."""
    *others, late = drawn.train
    classifiers = [IncrementalClassifier(drawn.test.shape[1], value, recoding=0.0) for value in regularizations]
    for classifier in classifiers:
        for index, rows in enumerate(others):
            classifier.learn(rows, str(index))
    for seen, n in pairwise((0, *n_imb)):
        for classifier in classifiers:
            classifier.learn(late[seen:n], str(len(others)))  # same as one by one, up to rounding
        counts = np.array(list(classifiers[0].counts.values()), dtype=float)
        yield n, classifiers, np.log(counts.sum() / counts)


def rebalanced(
    train: Sequence[Array], validation: Array, own: NDArray[np.intp], regularizations: Sequence[float]
) -> tuple[Array, float]:
    """Return W = (X^T S X + lambda I)^-1 X^T S Y, S_ii = n / n_(y_i) (7.22), and the lambda that validates best."""
    factors = [sum(len(rows) for rows in train) / len(rows) for rows in train]
    square = sum(factor * (rows.T @ rows) for factor, rows in zip(factors, train, strict=True))
    moment = np.stack([factor * rows.sum(axis=0) for factor, rows in zip(factors, train, strict=True)], axis=1)
    # A row has the weight n / n_(y_i), T on average; lambda is T times as large, to regularize as strongly as for N.
    levels = [len(train) * value for value in regularizations]
    solutions = [cho_solve(cho_factor(square + level * np.eye(len(moment))), moment) for level in levels]
    best = int(np.argmax([((validation @ weights).argmax(axis=1) == own).mean() for weights in solutions]))
    return solutions[best], levels[best]


def _accuracies(scores: Array, classes: NDArray[np.intp]) -> tuple[float, float, float]:
    """Return the share of correct test examples: among all, in the last class, and in the others."""
    right, last = scores.argmax(axis=1) == classes, classes == classes.max()
    return float(right.mean()), float(right[last].mean()), float(right[~last].mean())


def count_correct(scores: Array, targets: NDArray[np.intp], log_ratio: Array) -> NDArray[np.intp]:
    """Count the examples whose true class, of `targets` (m,), has the largest recoded score, for each of RECODINGS.

    The scores (m, T) of class t are multiplied by (k / gamma_t)^alpha, where gamma_t of k examples are of class t;
    `log_ratio` (T,) is log(k / gamma_t). An example whose true class has no positive score counts as wrong.
    """
    positive = scores[np.arange(len(scores)), targets] > 0
    largest = [(scores * np.exp(alpha * log_ratio)).argmax(axis=1) for alpha in RECODINGS]
    return np.count_nonzero(positive & (np.array(largest) == targets), axis=1)


def choose_as_published(correct: NDArray[np.intp], errors: Array) -> tuple[int, int]:
    """Return indices (j, a) of regularization and of the largest recoding that costs no held-out accuracy (7.6.3).

    `correct` (J, A) are numbers of correct examples for each regularization and each recoding (the first is 0);
    squared `errors` (J,) on the examples break ties between regularizations.
    """
    most = correct.max(axis=0)
    a = int(np.flatnonzero(most >= most[0])[-1])
    return most_correct(correct[:, a], errors), a


def choose_within_a_standard_error(correct: NDArray[np.intp], errors: Array, n_examples: int) -> tuple[int, int]:
    """Return indices (j, a) as `choose_as_published`, of the largest recoding without a significant loss of accuracy.

    By the published rule one more wrong example, which may be chance, can leave a new class unrecognized. Here the
    regularization is the best one without recoding, and the recoding the largest that costs at most one standard error
    of the accuracy p, sqrt(p (1 - p) / n), of the `n_examples` held out, at least 1.
    """
    j = most_correct(correct[:, 0], errors)
    accuracy = correct[j] / n_examples
    floor = accuracy[0] - np.sqrt(accuracy[0] * (1.0 - accuracy[0]) / n_examples)
    return j, int(np.flatnonzero(accuracy >= floor - TOLERANCE)[-1])


def most_correct(correct: NDArray[np.intp], errors: Array) -> int:
    """Return the index of the most correct examples (J,); among equals, that of the smallest errors (J,)."""
    equal = np.flatnonzero(correct == correct.max())
    return int(equal[errors[equal].argmin()])
