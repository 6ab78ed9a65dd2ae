"""Leverage scores of samples under a kernel, exact or approximated from a subset."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve, cholesky, solve_triangular
from sklearn.utils import check_random_state

from icub_learning.arrays import Array, finite, integer
from icub_learning.errors import ParameterError, ShapeError
from icub_learning.kernel_methods.estimator import Seed, check_regularization
from icub_learning.kernel_methods.kernels import Kernel, KernelFunction, blocks, rows_per_block


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


def leverage_scores(
    X: ArrayLike,
    *,
    kernel: str | KernelFunction = "gaussian",
    length_scale: float = 1.0,
    degree: int = 3,
    regularization: float = 1e-6,
    n_pilots: int | None = None,
    random_state: Seed = None,
) -> Array:
    """Return the leverage scores l_i = (K (K + lambda n I)^-1)_ii of samples X (n, d). Raises ParameterError,
    ShapeError, NotFiniteError: an argument is outside its range.

    Args:
        kernel, length_scale, degree: the kernel; see `Kernel`.
        regularization: lambda > 0.
        n_pilots: number of samples, drawn uniformly, that approximate the scores; None for exact scores.
        random_state: seed of that draw.
    """
    samples = check_samples(X)
    level = check_regularization(regularization)
    function = Kernel(kernel, length_scale, degree)
    n = len(samples)
    if n_pilots is None:
        gram = function.gram(samples)
        factor = cho_factor(gram + level * n * np.eye(n), check_finite=False)
        scores: Array = np.einsum("ij,ji->i", gram, cho_solve(factor, np.eye(n), check_finite=False))
        return scores
    if integer("n_pilots", n_pilots, 1) > n:
        raise ParameterError("n_pilots", n_pilots, f"at most the number of samples, {n}")
    pilots = samples[check_random_state(random_state).permutation(n)[:n_pilots]]
    return ApproximateLeverage(function, pilots, level, n)(samples)


def check_samples(X: ArrayLike) -> Array:
    """Return samples as a finite float64 array (n, d), n >= 1. Raises ShapeError, NotFiniteError."""
    samples = finite("X", X)
    if samples.ndim != 2 or not samples.size:
        raise ShapeError("X", samples.shape, "(n, d) with n, d >= 1")
    return samples
