"""Choice of regularization and recoding by the accuracy on held-out examples (thesis 7.6.3, and a better rule)."""

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array

RECODINGS = np.round(np.linspace(0.0, 1.0, 21), 2)  # candidates for alpha
RULES = ("standard_error", "published")
SMALLEST_SCORE = 1e-300  # takes the place of scores that are not positive
TOLERANCE = 1e-12  # of comparisons between rounded numbers


def count_correct(
    scores: Array, targets: NDArray[np.intp], log_ratio: Array, recodings: Array = RECODINGS
) -> NDArray[np.intp]:
    """Count the examples whose true class has the largest recoded score, for each recoding.

    With positive scores s and recoding factors f_t^alpha the true class y wins over t where
    alpha (log f_t - log f_y) <= log s_y - log s_t, so each example is classified correctly in one interval of alpha,
    which is found directly.

    Args:
        scores: (m, T), before recoding.
        targets: (m,), index of the true class of each example.
        log_ratio: (T,), log(k / gamma_t) with gamma_t examples of class t among k.
        recodings: (A,), candidates for alpha.

    Returns:
        (A,) counts. An example whose true class has no positive score counts as wrong.
    """
    rows = np.arange(len(scores))
    logs = np.log(np.maximum(scores, SMALLEST_SCORE))
    lead = logs[rows, targets][:, None] - logs
    slope = log_ratio - log_ratio[targets][:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        bound = lead / slope
    lead[rows, targets] = 0.0
    high = np.where(slope > 0, bound, np.inf).min(axis=1)
    low = np.where(slope < 0, bound, -np.inf).max(axis=1)
    never = np.where(slope == 0, lead, 0.0).min(axis=1) < 0
    low[never | (scores[rows, targets] <= 0.0)] = np.inf
    correct = (low[:, None] <= recodings + TOLERANCE) & (recodings - TOLERANCE <= high[:, None])
    return np.asarray(np.count_nonzero(correct, axis=0), dtype=np.intp)


def choose_as_published(correct: Array, errors: Array) -> tuple[int, int]:
    """Choose by the rule of the thesis (7.6.3): the largest recoding that does not lower the held-out accuracy.

    Each recoding is judged with its best regularization, and compared with no recoding.

    Args:
        correct: (J, A) number of correct examples for each regularization and each recoding; the first recoding is 0.
        errors: (J,) squared errors on the examples, which break ties between regularizations.

    Returns:
        Indices (j, a) of regularization and recoding.
    """
    most = correct.max(axis=0)
    a = int(np.flatnonzero(most >= most[0])[-1])
    return _first(correct[:, a], errors), a


def choose_within_a_standard_error(correct: Array, errors: Array, n_examples: int) -> tuple[int, int]:
    """Choose the largest recoding whose loss of accuracy is not significant.

    The held-out examples belong to well-known classes: they show what recoding costs these, but not what classes with
    few examples gain. By the published rule one more wrong example, which may be chance, can leave a new class
    unrecognized. Here the regularization is the best one without recoding, and the recoding the largest that costs at
    most one standard error of the accuracy p, sqrt(p (1 - p) / n).

    Args:
        correct, errors: see `choose_as_published`.
        n_examples: number of held-out examples, at least 1.

    Returns:
        Indices (j, a) of regularization and recoding.
    """
    j = _first(correct[:, 0], errors)
    accuracy = correct[j] / n_examples
    floor = accuracy[0] - np.sqrt(accuracy[0] * (1.0 - accuracy[0]) / n_examples)
    return j, int(np.flatnonzero(accuracy >= floor - TOLERANCE)[-1])


def choose(rule: str, correct: Array, errors: Array, n_examples: int) -> tuple[int, int]:
    """Return the indices (j, a) that one of RULES chooses; see the functions above."""
    if rule == "published":
        return choose_as_published(correct, errors)
    return choose_within_a_standard_error(correct, errors, n_examples)


def _first(correct: Array, errors: Array) -> int:
    """Return the index of the most correct examples, of the smallest errors among equals."""
    equal = np.flatnonzero(correct == correct.max())
    return int(equal[errors[equal].argmin()])
