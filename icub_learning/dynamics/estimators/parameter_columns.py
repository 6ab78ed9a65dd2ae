"""What was learned of some parameters, brought to a model that has more of them or holds them in another order."""

from collections.abc import Sequence

import numpy as np

from icub_learning.recursive import RecursiveLeastSquares
from icub_learning.recursive.pooling import joined


def with_columns(
    saved: RecursiveLeastSquares, names: Sequence[str], fresh: RecursiveLeastSquares, wanted: Sequence[str]
) -> RecursiveLeastSquares:
    """Return a learner of the parameters `wanted` that knows what `saved` knows; the others are as in `fresh`.

    The rows behind the saved factor have a zero at every parameter that was not there, so the factor of both is that of
    the saved rows, and of the prior of the new parameters, with their columns in the wanted order.

    Args:
        saved: learner with one target whose columns are `names`.
        names: names of its parameters, all among `wanted`.
        fresh: learner with one target whose columns are `wanted`, as it is before any sample.
        wanted: names in the order of the result.
    """
    if tuple(names) == tuple(wanted):
        return saved
    where = [list(wanted).index(name) for name in names]
    rows = np.zeros((len(names), len(wanted)))
    rows[:, where] = saved.factor
    prior = fresh.prior
    prior[where] = 0.0
    factor = joined(np.diag(np.sqrt(prior)), rows)
    state, old = fresh.state(), saved.state()
    diagonal = np.diag(factor)
    state["unit_factor"], state["pivots"] = factor / diagonal[:, None], diagonal**2
    np.fill_diagonal(state["unit_factor"], 1.0)
    for key in ("weights", "initial_weights", "prior", "regularization"):
        state[key][where] = old[key]
    for key in ("forgetting", "n_samples"):
        state[key] = old[key]
    return RecursiveLeastSquares.from_state(state)
