"""Choice of regularization and recoding by accuracy on held-out examples (thesis 7.6.3, and a better rule)."""

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array

RECODINGS = np.round(np.linspace(0.0, 1.0, 21), 2)  # candidates for alpha
RULES = ("standard_error", "published")
SMALLEST = 1e-300  # stands for all scores that are not positive


def count_right(scores: Array, own: NDArray[np.intp], log_ratio: Array, recodings: Array = RECODINGS) -> Array:
    """Of each class, how many held-out examples get the right label, for each recoding.

    With positive scores s and factors f_t^alpha the right class y wins over t where
    alpha (log f_t - log f_y) <= log s_y - log s_t, so each example has one interval of alpha, found without trying any.

    Args:
        scores: (m, T), uncoded.
        own: (m,), place of the right class.
        log_ratio: (T,), log(k / gamma_t).
        recodings: (A,), candidates.

    Returns:
        (A,) number of examples whose right class has the largest recoded score. An example whose right class has no
        positive score counts as wrong.
    """
    rows = np.arange(len(scores))
    logs = np.log(np.maximum(scores, SMALLEST))
    lead = logs[rows, own][:, None] - logs
    slope = log_ratio - log_ratio[own][:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        bound = lead / slope
    lead[rows, own] = 0.0
    high = np.where(slope > 0, bound, np.inf).min(axis=1)
    low = np.where(slope < 0, bound, -np.inf).max(axis=1)
    never = np.where(slope == 0, lead, 0.0).min(axis=1) < 0
    low[never | (scores[rows, own] <= 0.0)] = np.inf
    slack = 1e-12
    return ((low[:, None] <= recodings + slack) & (recodings - slack <= high[:, None])).sum(axis=0)


def choose_as_published(right: Array, errors: Array) -> tuple[int, int]:
    """The rule of the thesis (7.6.3): the largest recoding that loses nothing on the held-out examples.

    For each recoding the regularization with most right examples counts; of all recodings the largest is taken with at
    least as many right as without recoding.

    Args:
        right: (J, A) number of right examples for each regularization and each recoding; the first recoding is 0.
        errors: (J,) squared errors on the examples, which decide between regularizations with equally many right.

    Returns:
        Places (j, a) of regularization and recoding.
    """
    most = right.max(axis=0)
    place = int(np.flatnonzero(most >= most[0])[-1])
    return _first(right[:, place], errors), place


def choose_within_a_standard_error(right: Array, errors: Array, n_examples: int) -> tuple[int, int]:
    """A rule that gives more to classes with few examples.

    Held-out examples of well-known classes tell only what recoding costs; what a class with few examples gains cannot
    be measured yet. By the published rule one example more that is wrong, by chance, and a whole class stays unseen.
    Here the regularization is the best one without recoding, and the recoding the largest that does not cost more than
    one standard error of the accuracy, sqrt(p (1 - p) / n): less than can be told from nothing.

    Args:
        right, errors: as for `choose_as_published`.
        n_examples: of which so many are right; at least 1.

    Returns:
        Places (j, a) of regularization and recoding.
    """
    j = _first(right[:, 0], errors)
    accuracy = right[j] / n_examples
    floor = accuracy[0] - np.sqrt(accuracy[0] * (1.0 - accuracy[0]) / n_examples)
    return j, int(np.flatnonzero(accuracy >= floor - 1e-12)[-1])


def choose(rule: str, right: Array, errors: Array, n_examples: int) -> tuple[int, int]:
    """Choose by one of RULES."""
    if rule == "published":
        return choose_as_published(right, errors)
    return choose_within_a_standard_error(right, errors, n_examples)


def _first(right: Array, errors: Array) -> int:
    """Most right, of equal ones that with the smallest errors."""
    equal = np.flatnonzero(right == right.max())
    return int(equal[errors[equal].argmin()])
