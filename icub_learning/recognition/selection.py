"""Choice of regularization and recoding by accuracy on held-out examples (thesis 7.6.3, and a better rule)."""

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array

RECODINGS = np.round(np.linspace(0.0, 1.0, 21), 2)  # candidates for alpha
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


def choose(right: Array, n_examples: int, tolerance: float, errors: Array) -> tuple[int, int]:
    """Which regularization and which recoding to predict with.

    Examples of well-known classes only tell what recoding costs; what a class with few examples gains by it cannot be
    measured yet. So for each recoding the regularization with the highest accuracy counts, and of all recodings the
    largest is taken whose accuracy is not below that without recoding by more than `tolerance` standard errors of it,
    sqrt(p (1 - p) / n). The rule of the thesis is tolerance 0: one example more that is wrong, by chance, and a whole
    class stays unseen. A loss within one standard error cannot be told from none, and buys the new class its place.

    Args:
        right: (J, A) number of right examples for each regularization and each recoding; the first recoding is 0.
        n_examples: of which so many are right; at least 1.
        tolerance: in standard errors; 0: as published.
        errors: (J,) squared errors on the examples, which decide between regularizations with equally many right.

    Returns:
        Places (j, a) of regularization and recoding.
    """
    best = right.max(axis=0) / n_examples
    floor = best[0] - tolerance * np.sqrt(best[0] * (1.0 - best[0]) / n_examples)
    place = int(np.flatnonzero(best >= floor - 1e-12)[-1])
    equal = np.flatnonzero(right[:, place] == right[:, place].max())
    return int(equal[errors[equal].argmin()]), place
