"""Budgeted stochastic gradient descent (BSGD), the rival of POLK that fixes the number of points in advance."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array
from icub_learning.kernel_methods import POLKClassifier

STEPS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 6.0)  # candidates for the constant step size
HELD_OUT = 5  # every fifth sample is held out to judge the candidates
LOOKS = 10  # moments of a candidate's last quarter over which its held-out errors are averaged


def budgeted_sgd(budget: int, step_size: float, averaging: int = 1, **settings: Any) -> POLKClassifier:
    """Return a learner of the hinge loss that keeps `budget` points by projection (Wang, Crammer and Vucetic 2012).

    It takes one sample at a time; with one point too many, the one whose projection onto the others changes the
    function least is projected. The average of the last `averaging` steps predicts; 1 is the published method.
    """
    settings |= {"loss": "hinge", "parsimony": 0.0, "batch_size": 1, "averaging": averaging}
    return POLKClassifier(max_dictionary=budget, step_size=step_size, **settings)


def tune_step(x: Array, y: NDArray[np.intp], budget: int, averaging: int = 1, **settings: Any) -> float:
    """Return the step size of STEPS with the least held-out error, from training samples x (n, d), y (n,) alone."""
    held = np.arange(len(x)) % HELD_OUT == HELD_OUT - 1
    kept = np.flatnonzero(~held)
    first, last = np.split(kept, [3 * len(kept) // 4])
    errors = []
    for step in STEPS:
        model = budgeted_sgd(budget, step, averaging, **settings)
        model.partial_fit(x[first], y[first], classes=np.unique(y))
        wrong = []
        for part in np.array_split(last, LOOKS):
            model.partial_fit(x[part], y[part])
            wrong.append(1.0 - model.score(x[held], y[held]))
        errors.append(np.mean(wrong))
    return STEPS[int(np.argmin(errors))]
