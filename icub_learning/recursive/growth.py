"""Least squares whose inputs and outputs become more while it learns."""

import numpy as np

from icub_learning.arrays import integer
from icub_learning.errors import ParameterError
from icub_learning.recursive.least_squares import RecursiveLeastSquares


def grown(
    learner: RecursiveLeastSquares, n_features: int, n_outputs: int, regularization: float = 1.0
) -> RecursiveLeastSquares:
    """Return the learner as if its inputs and outputs had always been so many, the new ones zero in all past samples.

    A new input adds a row and a column with its regularization to A and zeros to B; a new output adds zeros to B. So
    nothing is computed anew, at the cost of a copy, O(d^2 + d T).

    Args:
        learner: stays as it was.
        n_features, n_outputs: at least those of the learner; new ones come last.
        regularization: lambda > 0 of new inputs.

    Raises:
        ParameterError: a number is smaller than that of the learner, or the regularization is out of its range.
    """
    sizes = integer("n_features", n_features, 1), integer("n_outputs", n_outputs, 1)
    for name, size, had in zip(
        ("n_features", "n_outputs"), sizes, (learner.n_features, learner.n_outputs), strict=True
    ):
        if size < had:
            raise ParameterError(name, size, f"at least {had}, which the learner has")
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
