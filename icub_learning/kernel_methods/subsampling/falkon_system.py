"""The preconditioned normal equations that FALKON iterates on."""

from copy import copy
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.linalg.lapack import dsygst

from icub_learning.arrays import Array, integer
from icub_learning.kernel_methods.kernels import KernelAgainst, Operator, Seed, blocks, rows_per_block, sample_rows
from icub_learning.kernel_methods.rows import ArrayRows, TrainingRows
from icub_learning.kernel_methods.subsampling.centers import CenterBasis, inverse_norm
from icub_learning.kernel_methods.subsampling.least_squares import BasisFeatures, NormalEquations
from icub_learning.kernel_methods.subsampling.stored_kernel import StoredKernel

SAMPLES_PER_CENTER = 10  # samples that the preconditioner averages over, for each centre
EVERY = 10  # step between the rows on which errors of the kept matrix are estimated: at most sqrt(10) times too large
GRAM = 0.1  # largest rounding of S, as a share of lambda, with which S is computed from a kernel's Gram matrix


def estimate_scatter(
    rows: TrainingRows, basis: CenterBasis, weights: Array, size: int | None, regularization: float, random_state: Seed
) -> Array:
    """Return S (k, k) of the preconditioner, at least its upper triangle; last three arguments: see `FALKON`."""
    size = min(SAMPLES_PER_CENTER * len(basis.kept), rows.n) if size is None else size
    count = integer("n_preconditioner", size, 0, rows.n, "the number of samples, ")
    if count == 0:
        echelon = basis.echelon * np.sqrt(weights / len(weights))
        return np.asarray(echelon @ echelon.T)
    samples = ArrayRows(rows.take(sample_rows(random_state, rows.n, count)), np.zeros((count, 0)))
    gram, _ = samples.sum(NormalEquations(basis.against, 0))
    gram /= count
    # Rounding in gram grows by ||T^-1||^2 and must stay below lambda; else each sample is solved for by itself.
    if np.finfo(float).eps * np.trace(gram) * inverse_norm(basis.triangle) ** 2 < GRAM * regularization:
        return np.asarray(dsygst(gram, basis.triangle, overwrite_a=True)[0])  # T^-T gram T^-1
    gram, _ = samples.sum(NormalEquations(BasisFeatures(basis), 0))
    return np.asarray(gram / count)


class PreconditionedSystem:
    """W beta = b with W = B^T (K_nm^T K_nm + lambda n K_mm) B; each product with W is one pass over the rows.

    In the centres' orthonormal basis K_mm is the identity, and B = n^(-1/2) A^-1, A = chol(scatter + lambda I).
    """

    def __init__(self, rows: TrainingRows, basis: CenterBasis, scatter: Array, regularization: float) -> None:
        self.basis = basis
        self.stored: StoredKernel | None = None  # K_nm, where it is kept
        self.size = len(basis.kept)
        self._rows, self._level = rows, regularization
        small = scatter.copy()
        # If lambda is below the rounding of the scatter, that rounding replaces it, in the preconditioner alone.
        least = 10 * self.size * np.finfo(float).eps * float(np.trace(small))
        small.flat[:: self.size + 1] += max(regularization, least)
        self._root = cholesky(small, overwrite_a=True, check_finite=False)

    def apply(self, solution: Array) -> Array:
        """Return W beta, (k, T), for beta (k, T)."""
        return self._apply(solution, lambda v: self._rows.sum(KernelProducts(self.basis.against, v))[0])

    def apply_stored(self, solution: Array) -> Array:
        """Return W beta as `apply` does, in single precision with the kept kernel matrix."""
        assert self.stored is not None
        return self._apply(solution, self.stored.product)

    def error_of_stored(self, solution: Array) -> float:
        """Return the largest relative error of a column of `apply_stored`, on every tenth row."""
        assert isinstance(self._rows, ArrayRows) and self.stored is not None
        some = copy(self)
        some._rows = ArrayRows(self._rows.samples[::EVERY], self._rows.targets[::EVERY])
        some.stored = self.stored.thinned(some._rows, EVERY)
        exact, found = some.apply(solution), some.apply_stored(solution)
        errors, sizes = np.linalg.norm([exact - found, exact], axis=1)
        return float((errors / np.maximum(sizes, np.finfo(float).tiny)).max())

    def right_hand_side(self, n_targets: int) -> Array:
        """Return b = B^T K_nm^T Y, (k, T)."""
        if self.stored is not None:
            return self._reduce(self.stored.moment)
        (moment,) = self._rows.sum(KernelProducts(self.basis.against, n_targets=n_targets))
        return self._reduce(moment)

    def to_coefficients(self, solution: Array) -> Array:
        """Return alpha = B beta, (m, T)."""
        return self.basis.to_coefficients(self._precondition(solution))

    def _apply(self, solution: Array, product: Operator) -> Array:
        coordinates = self._precondition(solution)
        moment = product(_solve(self.basis.triangle, coordinates))
        return self._reduce(moment) + self._level * self._rows.n * self._precondition(coordinates, "T")

    def _precondition(self, coordinates: Array, trans: str = "N") -> Array:
        return _solve(self._root, coordinates, trans) / sqrt(self._rows.n)

    def _reduce(self, moment: Array) -> Array:
        return self._precondition(_solve(self.basis.triangle, moment, "T"), "T")


def _solve(triangle: Array, right: Array, trans: str = "N") -> Array:
    return np.asarray(solve_triangular(triangle, right, trans=trans, check_finite=False))


@dataclass(frozen=True)
class KernelProducts:
    """Sum over rows of K^T K vectors (m, T), or of K^T Y if there are none; see `rows.Sum`."""

    against: KernelAgainst
    vectors: Array | None = None
    n_targets: int = 0

    def __call__(self, samples: NDArray[Any], targets: NDArray[Any]) -> tuple[Array, ...]:
        m = self.against.n_features
        total = np.zeros((m, self.n_targets) if self.vectors is None else self.vectors.shape)
        size = rows_per_block(m)
        buffer = np.empty((min(size, len(samples)), m))
        for rows in blocks(len(samples), size):
            x = np.asarray(samples[rows], dtype=np.float64)
            block = self.against(x, buffer[: len(x)])
            total += block.T @ (targets[rows] if self.vectors is None else block @ self.vectors)
        return (total,)
