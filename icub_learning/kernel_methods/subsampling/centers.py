"""Nyström centres: base class of their methods, choice of centres, an orthonormal basis of their functions."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.linalg.lapack import dtrcon

from icub_learning.arrays import Array, finite, integer
from icub_learning.errors import ParameterError, ShapeError
from icub_learning.kernel_methods.estimator import KernelRegressor, check_choice, check_regularization
from icub_learning.kernel_methods.kernels import Kernel, blocks, check_seed, rows_per_block, sample_rows
from icub_learning.kernel_methods.rows import TrainingRows

SAMPLINGS = ("uniform", "leverage")
PANEL = 64  # columns factored between two matrix products
DEFAULT_CENTERS = 100  # default number of Nyström centres; all samples if there are fewer


@dataclass(kw_only=True, eq=False, repr=False)
class CenterRegressor(KernelRegressor):
    """Base of regressors on a subset of m centres, of which `n_kept_` are independent to working precision.

    Args:
        kernel, length_scale, degree, regularization, random_state: see `KernelRegressor`.
        n_centers: m <= n, drawn from the samples; the default is lowered to n if there are fewer samples.
        centers: (m, d) centres, used as given and in their order instead of a draw; or None.
        sampling: "uniform" without replacement, or "leverage": with replacement, by approximate leverage scores.
    """

    n_centers: int = DEFAULT_CENTERS
    centers: ArrayLike | None = None
    sampling: str = "uniform"

    def _sample_centers(
        self, rows: TrainingRows, kernel: Kernel, random: RandomState | None = None
    ) -> tuple[Array, Array]:
        """Return centres (m, d) and weights (m,), 1 / (n times the probability of each); `random` replaces the seed."""
        level = check_regularization(self.regularization)
        if self.centers is not None:
            given = check_centers(self.centers, rows.n_inputs)
            return given, np.ones(len(given))
        most = None if self.n_centers == DEFAULT_CENTERS else rows.n
        m = integer("n_centers", self.n_centers, 1, most, "the number of samples, ")
        check_choice("sampling", self.sampling, SAMPLINGS)
        random = check_seed(self.random_state if random is None else random)
        m = min(m, rows.n)
        drawn = sample_rows(random, rows.n, m)
        if self.sampling == "uniform":
            return rows.take(drawn), np.ones(m)
        # The scores (thesis 4.2.2) are estimated from as many uniform pilots as there are centres.
        scores = rows.map(ApproximateLeverage(kernel, rows.take(drawn), level, rows.n))
        total = scores.sum()
        chances = scores / total if total > 0 else np.full(rows.n, 1.0 / rows.n)
        drawn = random.choice(rows.n, size=m, replace=True, p=chances)
        return rows.take(drawn), 1.0 / (rows.n * chances[drawn])


class ApproximateLeverage:
    """x -> leverage scores l(x) = (k(x, x) - k_x (K_JJ + lambda p I)^-1 k_x^T) / (lambda n) from p pilot samples J.

    Exact with all n samples as pilots (scores: thesis 4.2.2). With fewer, those of pilots that are like no other sample
    are too small, down to p / n of the exact ones, and most others too large, since the pilots span less.
    """

    def __init__(self, kernel: Kernel, pilots: Array, regularization: float, n: int) -> None:
        self._kernel = kernel
        self._against = kernel.against(pilots)
        gram = kernel.gram(pilots)
        # The ridge is at least the rounding of the kernel, so that the factorization succeeds.
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


class CenterBasis:
    """The functions k(centers[j], .), (m, d), orthonormalized in their order: K_mm = echelon^T echelon.

    Centre j is kept if its function differs from the span of the earlier ones by more than rounding; the functions of a
    smooth kernel fill their span, to working precision, after some tens of centres, and further Cholesky pivots are
    rounding. R = T^-1 satisfies R R^T = K_mm^+ on that span, and its leading blocks belong to the leading centres.
    """

    def __init__(self, kernel: Kernel, centers: Array) -> None:
        # echelon (k, m): column j holds the coordinates of centre j's function; kept (k,): the centres of the basis
        self.echelon, self.kept = echelon_cholesky(kernel.gram(centers))
        if not len(self.kept):
            raise ParameterError("centers", len(centers), "others: the kernel is 0 on all of them")
        self.triangle = np.asfortranarray(self.echelon[:, self.kept])  # T, (k, k), upper triangular, in Fortran order
        self.centers = centers[self.kept]
        self.against = kernel.against(self.centers)  # x -> k(x, the centres that are kept)

    def to_coefficients(self, coordinates: Array) -> Array:
        """Return coefficients (m, T) of the centres from coordinates (k, T) of functions; zero for centres not kept."""
        coefficients = np.zeros((self.echelon.shape[1], coordinates.shape[1]))
        coefficients[self.kept] = solve_triangular(self.triangle, coordinates, check_finite=False)
        return coefficients


def echelon_cholesky(
    gram: Array, scale: Array | None = None, size: int | None = None
) -> tuple[Array, NDArray[np.intp]]:
    """Factor a Gram matrix (m, m) by Cholesky in the given order, without the columns that depend on earlier ones.

    A pivot counts as zero if it is within rounding of `scale` (m,), by default the diagonal, after the elimination of
    `size` columns, by default m; for a Schur complement, pass the original diagonal and all columns. Returns the factor
    E (k, m) in echelon form, gram = E^T E up to rounding, and indices (k,) of the columns kept.
    """
    m = len(gram)
    scale = np.diag(gram).copy() if scale is None else scale
    tolerance = 10 * (size or m) * np.finfo(float).eps  # a pivot's rounding is about m eps of its diagonal entry
    try:
        factor = cholesky(gram, check_finite=False)
        if (np.diag(factor) ** 2 > tolerance * scale).all():
            return factor, np.arange(m)
    except np.linalg.LinAlgError:
        pass
    echelon = np.zeros((m, m))
    kept: list[int] = []
    for start in range(0, m, PANEL):
        stop = min(start + PANEL, m)
        count = len(kept)
        if count:
            triangle, across = echelon[:count, kept], gram[kept, start:stop]
            echelon[:count, start:stop] = solve_triangular(triangle, across, trans="T", check_finite=False)
        panel = echelon[:count, start:stop]
        rest = gram[start:stop, start:stop] - panel.T @ panel
        for j in range(stop - start):
            if rest[j, j] <= tolerance * scale[start + j]:
                continue
            row = rest[j] / np.sqrt(rest[j, j])
            row[:j] = 0.0
            echelon[len(kept), start:stop] = row
            rest -= np.outer(row, row)
            kept.append(start + j)
    return echelon[: len(kept)], np.asarray(kept, dtype=np.intp)


def inverse_norm(triangle: Array) -> float:
    """Estimate the 1-norm of the inverse of an upper triangular matrix in Fortran order, in O(k^2)."""
    reciprocal, _ = dtrcon(triangle)
    return float(1.0 / (reciprocal * np.abs(triangle).sum(axis=0).max())) if reciprocal > 0 else np.inf


def border_inverse(inverse: Array, across: Array, corner: Array) -> Array:
    """Return the inverse of the upper triangular [[T, across], [0, corner]] from the inverse of T."""
    corner_inverse = solve_triangular(corner, np.eye(len(corner)), check_finite=False, overwrite_b=True)
    return border(inverse, -(inverse @ across) @ corner_inverse, corner_inverse)


def border(square: Array, across: Array, corner: Array) -> Array:
    """Return [[square, across], [0, corner]]."""
    k, b = across.shape
    out = np.zeros((k + b, k + b))
    out[:k, :k], out[:k, k:], out[k:, k:] = square, across, corner
    return out
