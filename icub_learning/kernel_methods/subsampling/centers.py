"""Base of the methods on Nyström centres: their settings, and the choice of the centres."""

from dataclasses import dataclass

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from icub_learning.arrays import Array, finite, integer
from icub_learning.errors import ParameterError, ShapeError
from icub_learning.kernel_methods.estimator import KernelRegressor, check_regularization
from icub_learning.kernel_methods.kernels import Kernel, sample_rows
from icub_learning.kernel_methods.rows import ArrayRows, DaskRows
from icub_learning.kernel_methods.subsampling.leverage import ApproximateLeverage

SAMPLINGS = ("uniform", "leverage")
DEFAULT_CENTERS = 100  # Nyström centres where none are asked for, or all samples if there are fewer


@dataclass(kw_only=True, eq=False, repr=False)
class CenterRegressor(KernelRegressor):
    """Base of regressors on a subset of m centres.

    Args:
        kernel, length_scale, degree: the kernel; see `Kernel`.
        regularization: lambda > 0.
        n_centers: m <= n, drawn from the samples; the default becomes n where there are fewer.
        centers: (m, d) centres, used as given and in their order instead of a draw; or None.
        sampling: "uniform" without replacement, or "leverage": with replacement, by approximate leverage scores.
        random_state: seed of the draw; see `KernelRegressor`.

    Attributes:
        dual_coef_: (m,) or (m, T).
        centers_: (m, d).
        n_kept_: centres that are independent to working precision.
    """

    n_centers: int = DEFAULT_CENTERS
    centers: ArrayLike | None = None
    sampling: str = "uniform"

    def _sample_centers(
        self,
        rows: ArrayRows | DaskRows,
        kernel: Kernel,
        *,
        given: ArrayLike | None = None,
        random: RandomState | None = None,
    ) -> tuple[Array, Array]:
        """Return the centres (m, d) and their weights (m,), 1 / (n times the probability that each was drawn with).

        Leverage scores are those of `kernel` at lambda, approximated from as many uniform pilots as centres (thesis
        4.2.3). `given` and `random` take the place of the settings. Raises ParameterError, ShapeError, NotFiniteError:
        n_centers beyond n, another sampling, centres of another width.
        """
        level = check_regularization(self.regularization)
        given = self.centers if given is None else given
        if given is not None:
            checked = check_centers(given, rows.n_inputs)
            return checked, np.ones(len(checked))
        m = integer("n_centers", self.n_centers, 1)
        if m > rows.n and m != DEFAULT_CENTERS:
            raise ParameterError("n_centers", m, f"at most the number of samples, {rows.n}")
        if self.sampling not in SAMPLINGS:
            raise ParameterError("sampling", self.sampling, f"one of {', '.join(SAMPLINGS)}")
        random = check_random_state(self.random_state if random is None else random)
        m = min(m, rows.n)
        drawn = sample_rows(random, rows.n, m)
        if self.sampling == "uniform":
            return rows.take(drawn), np.ones(m)
        scores = rows.map(ApproximateLeverage(kernel, rows.take(drawn), level, rows.n))
        total = scores.sum()
        chances = scores / total if total > 0 else np.full(rows.n, 1.0 / rows.n)
        drawn = random.choice(rows.n, size=m, replace=True, p=chances)
        return rows.take(drawn), 1.0 / (rows.n * chances[drawn])


def check_centers(centers: ArrayLike, n_inputs: int) -> Array:
    """Return given centres as a float64 array (m, d), m >= 1. Raises ShapeError, NotFiniteError."""
    given = np.array(finite("centers", centers))
    if given.ndim != 2 or given.shape[1] != n_inputs or not len(given):
        raise ShapeError("centers", given.shape, f"(m, {n_inputs}) with m >= 1")
    return given
