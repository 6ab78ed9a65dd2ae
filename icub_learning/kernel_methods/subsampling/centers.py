"""Base of the methods on Nyström centres: their settings, and the choice of the centres."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cholesky, solve_triangular
from sklearn.utils import check_random_state

from icub_learning.arrays import Array, finite, integer
from icub_learning.errors import ParameterError, ShapeError
from icub_learning.kernel_methods.estimator import KernelRegressor, check_choice, check_regularization
from icub_learning.kernel_methods.kernels import Kernel, blocks, rows_per_block, sample_rows
from icub_learning.kernel_methods.rows import TrainingRows

SAMPLINGS = ("uniform", "leverage")
DEFAULT_CENTERS = 100  # Nyström centres where none are asked for, or all samples if there are fewer


@dataclass(kw_only=True, eq=False, repr=False)
class CenterRegressor(KernelRegressor):
    """Base of regressors on a subset of m centres, of which `n_kept_` are independent to working precision.

    Args:
        kernel, length_scale, degree, regularization, random_state: see `KernelRegressor`.
        n_centers: m <= n, drawn from the samples; the default becomes n where there are fewer.
        centers: (m, d) centres, used as given and in their order instead of a draw; or None.
        sampling: "uniform" without replacement, or "leverage": with replacement, by approximate leverage scores.
    """

    n_centers: int = DEFAULT_CENTERS
    centers: ArrayLike | None = None
    sampling: str = "uniform"

    def _sample_centers(
        self, rows: TrainingRows, kernel: Kernel, *, given: ArrayLike | None = None, random: RandomState | None = None
    ) -> tuple[Array, Array]:
        """Return the centres (m, d) and their weights (m,), 1 / (n times the probability that each was drawn with).

        Leverage scores are approximated from as many uniform pilots as centres (thesis 4.2.3). `given` and `random`
        take the place of the settings.
        """
        level = check_regularization(self.regularization)
        given = self.centers if given is None else given
        if given is not None:
            checked = check_centers(given, rows.n_inputs)
            return checked, np.ones(len(checked))
        m = integer("n_centers", self.n_centers, 1)
        if m > rows.n and m != DEFAULT_CENTERS:
            raise ParameterError("n_centers", m, f"at most the number of samples, {rows.n}")
        check_choice("sampling", self.sampling, SAMPLINGS)
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


class ApproximateLeverage:
    """x -> leverage scores l(x) = (k(x, x) - k_x (K_JJ + lambda p I)^-1 k_x^T) / (lambda n) from p pilot samples J.

    With all n samples as pilots this is exactly (K (K + lambda n I)^-1)_ii. A uniform subset overestimates, up to the
    largest possible score 1, since it spans less than all samples do (thesis 4.2.3, approximate leverage scores).
    """

    def __init__(self, kernel: Kernel, pilots: Array, regularization: float, n: int) -> None:
        self._kernel = kernel
        self._against = kernel.against(pilots)
        gram = kernel.gram(pilots)
        # Rounding of the kernel is the least ridge that keeps the factorization going.
        least = 10 * len(pilots) * np.finfo(float).eps * float(np.diag(gram).max())
        gram.flat[:: len(pilots) + 1] += max(regularization * len(pilots), least)
        self._factor = cholesky(gram, lower=True, overwrite_a=True, check_finite=False)
        self._scale = regularization * n

    def __call__(self, samples: NDArray[Any]) -> Array:
        """Return the scores (r,), in [0, 1], of rows (r, d)."""
        scores = np.empty(len(samples))
        for rows in blocks(len(samples), rows_per_block(len(self._factor))):
            x = np.asarray(samples[rows], dtype=np.float64)
            explained = solve_triangular(self._factor, self._against(x).T, lower=True, check_finite=False)
            left = self._kernel.diagonal(x) - np.einsum("ij,ij->j", explained, explained)
            scores[rows] = left / self._scale
        return np.clip(scores, 0.0, 1.0)


def check_centers(centers: ArrayLike, n_inputs: int) -> Array:
    """Return given centres as a float64 array (m, d), m >= 1. Raises ShapeError, NotFiniteError."""
    given = np.array(finite("centers", centers))
    if given.ndim != 2 or given.shape[1] != n_inputs or not len(given):
        raise ShapeError("centers", given.shape, f"(m, {n_inputs}) with m >= 1")
    return given
