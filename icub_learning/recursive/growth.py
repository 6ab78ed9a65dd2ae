"""Least squares whose inputs and outputs become more while it learns."""

import numpy as np

from icub_learning.arrays import integer
from icub_learning.errors import ParameterError
from icub_learning.recursive.least_squares import RecursiveLeastSquares


def grown(
    learner: RecursiveLeastSquares, n_features: int, n_outputs: int, regularization: float = 1.0
) -> RecursiveLeastSquares:
    """Return the learner as if its inputs and outputs had always been so many, the new ones zero in all past samples.

    New ones come last, inputs with `regularization` > 0; nothing is computed anew: O(d^2 + d T). The learner stays as
    it was. Raises ParameterError: a number is smaller than that of the learner, or the regularization out of its range.
    """
    for name, size in (("n_features", n_features), ("n_outputs", n_outputs)):
        if integer(name, size, 1) < getattr(learner, name):
            raise ParameterError(name, size, f"at least {getattr(learner, name)}, which the learner has")
    more, outputs = n_features - learner.n_features, n_outputs - learner.n_outputs
    state = learner.state()
    unit = np.eye(n_features)
    unit[: learner.n_features, : learner.n_features] = state["unit_factor"]
    state["unit_factor"] = unit
    for name in ("regularization", "pivots", "prior"):
        state[name] = np.r_[state[name], np.full(more, regularization)]
    for name in ("weights", "initial_weights"):
        state[name] = np.pad(state[name], ((0, more), (0, outputs)))
    return RecursiveLeastSquares.from_state(state)
