"""Choice of the centres of Nyström methods."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from icub_learning.arrays import Array
from icub_learning.errors import ParameterError
from icub_learning.kernel_methods.estimator import check_centers, check_n_centers
from icub_learning.kernel_methods.kernels import Kernel, sample_rows
from icub_learning.kernel_methods.rows import ArrayRows, DaskRows
from icub_learning.kernel_methods.subsampling.leverage import ApproximateLeverage

SAMPLINGS = ("uniform", "leverage")


def choose_centers(
    rows: ArrayRows | DaskRows,
    kernel: Kernel,
    regularization: float,
    *,
    n_centers: Any,
    centers: Any,
    sampling: Any,
    random_state: Any,
) -> tuple[Array, Array]:
    """The centres (m, d) and their weights (m,), one over n times the probability that each was drawn with.

    * `centers` given: these, in their order.
    * sampling "uniform": without replacement, in random order.
    * sampling "leverage": with replacement, with probabilities in proportion to approximate leverage scores at lambda,
      from as many uniform pilots as centres (thesis 4.2.3).

    Raises:
        ParameterError, ShapeError, NotFiniteError: n_centers beyond n, an unknown sampling, centres of another width.
    """
    if centers is not None:
        given = check_centers(centers, rows.n_inputs)
        return given, np.ones(len(given))
    m = check_n_centers(n_centers, rows.n)
    if sampling not in SAMPLINGS:
        raise ParameterError("sampling", sampling, f"one of {', '.join(SAMPLINGS)}")
    random = check_random_state(random_state)
    drawn = sample_rows(random, rows.n, m)
    if sampling == "uniform":
        return rows.take(drawn), np.ones(m)
    scores = rows.map(ApproximateLeverage(kernel, rows.take(drawn), regularization, rows.n))
    total = scores.sum()
    chances = scores / total if total > 0 else np.full(rows.n, 1.0 / rows.n)
    drawn = random.choice(rows.n, size=m, replace=True, p=chances)
    return rows.take(drawn), 1.0 / (rows.n * chances[drawn])
