"""Choice of regularization and recoding by the accuracy on held-out examples (thesis 7.6.3, and a better rule)."""

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array

RECODINGS = np.round(np.linspace(0.0, 1.0, 21), 2)  # candidates for alpha
SMALLEST_SCORE = 1e-300  # takes the place of scores that are not positive
TOLERANCE = 1e-12  # of comparisons between rounded numbers


def count_correct(scores: Array, targets: NDArray[np.intp], log_ratio: Array) -> NDArray[np.intp]:
    """Count the examples whose true class has the largest recoded score, for each of RECODINGS, (A,).

    With positive scores s (m, T) and recoding factors f_t^alpha, f_t = k / gamma_t with gamma_t examples of class t
    among k, whose logarithms are `log_ratio` (T,), the true class y, of `targets` (m,), wins over t where
    alpha (log f_t - log f_y) <= log s_y - log s_t, so each example is classified correctly in one interval of alpha,
    which is found directly. An example whose true class has no positive score counts as wrong.
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
    correct = (low[:, None] <= RECODINGS + TOLERANCE) & (high[:, None] >= RECODINGS - TOLERANCE)
    return np.asarray(np.count_nonzero(correct, axis=0), dtype=np.intp)


def choose_as_published(correct: Array, errors: Array) -> tuple[int, int]:
    """Return indices (j, a) of regularization and recoding by the rule of the thesis (7.6.3): the largest recoding
    that, with its best regularization, does not lower the held-out accuracy without recoding.

    `correct` (J, A) are numbers of correct examples for each regularization and each recoding, of which the first is 0;
    squared `errors` (J,) on the examples break ties between regularizations.
    """
    most = correct.max(axis=0)
    a = int(np.flatnonzero(most >= most[0])[-1])
    return most_correct(correct[:, a], errors), a


def choose_within_a_standard_error(correct: Array, errors: Array, n_examples: int) -> tuple[int, int]:
    """Return indices (j, a) as `choose_as_published`, of the largest recoding without a significant loss of accuracy.

    The held-out examples belong to well-known classes: they show what recoding costs these, but not what classes with
    few examples gain. By the published rule one more wrong example, which may be chance, can leave a new class
    unrecognized. Here the regularization is the best one without recoding, and the recoding the largest that costs at
    most one standard error of the accuracy p, sqrt(p (1 - p) / n), of the `n_examples` held out, at least 1.
    """
    j = most_correct(correct[:, 0], errors)
    accuracy = correct[j] / n_examples
    floor = accuracy[0] - np.sqrt(accuracy[0] * (1.0 - accuracy[0]) / n_examples)
    return j, int(np.flatnonzero(accuracy >= floor - TOLERANCE)[-1])


def most_correct(correct: NDArray[np.intp], errors: Array) -> int:
    """Return the index of the most correct examples (J,), of the smallest errors (J,) among equals."""
    equal = np.flatnonzero(correct == correct.max())
    return int(equal[errors[equal].argmin()])
