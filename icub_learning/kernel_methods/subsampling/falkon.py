"""FALKON: Nyström regression by preconditioned iterations, in O(m^2) memory or with the kernel matrix kept."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.linalg.lapack import dsygst
from sklearn.utils import check_random_state

from icub_learning.arrays import Array, integer
from icub_learning.errors import ParameterError, ShapeError
from icub_learning.kernel_methods.estimator import check_regularization
from icub_learning.kernel_methods.kernels import Kernel, blocks, rows_per_block, sample_rows
from icub_learning.kernel_methods.rows import ArrayRows
from icub_learning.kernel_methods.spectral.iterative import check_iterations, choose_step
from icub_learning.kernel_methods.streaming import StreamingRegressor, TrainingRows
from icub_learning.kernel_methods.subsampling.basis import CenterBasis, inverse_norm
from icub_learning.kernel_methods.subsampling.centers import CenterRegressor
from icub_learning.kernel_methods.subsampling.conjugate_gradient import run_iterations
from icub_learning.kernel_methods.subsampling.least_squares import BasisFeatures, KernelFeatures, NormalEquations
from icub_learning.kernel_methods.subsampling.refinement import refined
from icub_learning.kernel_methods.subsampling.stored_kernel import COARSE_UNIT, UNIT, StoredKernel

SOLVERS = ("cg", "gradient")
SAMPLES_PER_CENTER = 10  # that the preconditioner averages over
STORAGES = ("auto", "none")
GRAM = 0.1  # of lambda that the rounding of S may be
POWER_ITERATIONS = 8  # that estimate a largest eigenvalue, from below
LARGEST_NOISE = 0.25  # in W, whose eigenvalues are about 1, with which conjugate gradients still lead


@dataclass(kw_only=True, eq=False, repr=False)
class FALKON(CenterRegressor, StreamingRegressor):
    """Nyström KRLS by conjugate gradients on the preconditioned normal equations, n m t in time.

    B^T (K_nm^T K_nm + lambda n K_mm) B beta = B^T K_nm^T Y, alpha = B beta, with B = n^(-1/2) T^-1 A^-1, T = chol(K_mm)
    and A = chol(S + lambda I), S an estimate of T^-T K_nm^T K_nm T^-1 / n. The paper's S averages over the centres, T D
    T^T / m (D: weights of centres drawn by leverage scores), and needs about 1 / lambda of them; with further samples,
    ten times as many as centres, the condition number is about ten for any lambda, and a residual of 1e-3 takes less
    than ten iterations. Centres that depend on earlier ones to working precision are left out of T. In theory lambda =
    n^(-1/2) and m = n^(1/2) suffice. X and y may be memory-mapped arrays (float64 or float32) or Dask arrays.

    Each iteration is one pass over K_nm. Where a quarter of the free memory holds it in 24 bits a value, and their
    rounding is not too much for the centres and lambda, it is kept; else its blocks are computed again in each pass, in
    O(m^2) memory. Iterations read the leading 16 bits alone; what these leave is found with all 24, what those leave in
    double, and solved for anew, until `tol` is reached (iterative refinement: Higham, "Accuracy and Stability of
    Numerical Algorithms", 2002, section 12). Iterations go on with more bits, and at last in double, where that does
    not converge.

    Args:
        kernel, length_scale, degree, regularization, n_centers, centers, sampling, random_state: see `CenterRegressor`.
        n_preconditioner: number of samples, drawn uniformly, that S averages over; None for ten times as many as
            centres and at most half of all, 0 for the centres alone.
        max_iter: largest number of iterations.
        tol: iterations end once the preconditioned residual is at most tol of the right-hand side, in each target.
        solver: "cg", or "gradient": gradient descent with the same B, in double.
        storage: "auto": keep K_nm of a Gaussian or Matérn kernel where memory and rounding allow; "none": never.
        step_size: step of "gradient", below 2 / ||B^T H B|| with the matrix H of the normal equations; "auto": half of
            that bound.
        warm_start: whether to start from the solution of the last fit, on its centres.

    Attributes:
        dual_coef_, centers_, n_kept_: see `CenterRegressor`.
        n_iter_: number of iterations done.
        stored_: whether K_nm was kept.
        path_levels_: 1..n_iter_, or 0 alone if a warm start needed no iteration.
    """

    n_preconditioner: int | None = None
    max_iter: int = 100
    tol: float = 1e-6
    solver: str = "cg"
    storage: str = "auto"
    step_size: float | str = "auto"
    warm_start: bool = False

    def _fit_rows(self, rows: TrainingRows, kernel: Kernel) -> None:
        level = check_regularization(self.regularization)
        max_iter, tol = check_iterations(self.max_iter, self.tol)
        if self.solver not in SOLVERS:
            raise ParameterError("solver", self.solver, f"one of {', '.join(SOLVERS)}")
        if self.storage not in STORAGES:
            raise ParameterError("storage", self.storage, f"one of {', '.join(STORAGES)}")
        before: Array | None = getattr(self, "_coefficients", None) if self.warm_start else None
        if before is not None and before.shape[1] != rows.n_targets:
            raise ShapeError("y", (rows.n, rows.n_targets), f"(n, {before.shape[1]}), as in the last fit")
        given = self.centers_ if before is not None and self.centers is None else None
        centers, weights = self._sample_centers(rows, kernel, given=given)
        if before is not None and not np.array_equal(centers, self.centers_):
            raise ParameterError("centers", centers.shape, "those of the last fit, for a warm start")
        basis = CenterBasis(kernel, centers)
        scatter = estimate_scatter(rows, kernel, basis, weights, self.n_preconditioner, level, self.random_state)
        keeps = self.storage == "auto" and self.solver == "cg"
        system = PreconditionedSystem(rows, kernel, basis, scatter, level)
        if keeps:
            system.keep()
        self.stored_ = system.stored is not None
        start = np.zeros((system.size, rows.n_targets)) if before is None else system.to_solution(before)
        right, residual = system.right_hand_side(start)
        enough = tol * np.linalg.norm(right, axis=0)
        iterates = (
            refined(system, start, right, residual, enough)
            if self.solver == "cg"
            else self._descend(system, start, right, residual, enough)
        )
        solutions = run_iterations(iterates, max_iter, residual, enough, "FALKON")
        path = [system.to_coefficients(solution) for solution in solutions]
        self.n_iter_ = len(path)
        self.centers_, self.n_kept_ = centers, len(system.basis.kept)
        self._path = np.stack(path or [system.to_coefficients(start)])
        self._coefficients = self._path[-1]
        self.path_levels_ = np.arange(1, self.n_iter_ + 1) if path else np.zeros(1, dtype=np.int64)

    def _descend(
        self, system: "PreconditionedSystem", start: Array, right: Array, residual: Array, enough: Array
    ) -> Iterator[tuple[Array, Array]]:
        self.step_size_ = choose_step(self.step_size, 2.0, system.largest_eigenvalue(), "||n B^T H B||")
        solution = start
        while (np.linalg.norm(residual, axis=0) > enough).any():
            solution = solution + self.step_size_ * residual
            residual = right - system.apply(solution)
            yield solution, residual


def estimate_scatter(
    rows: TrainingRows,
    kernel: Kernel,
    basis: CenterBasis,
    weights: Array,
    size: int | None,
    regularization: float,
    random_state: Any,
) -> Array:
    """Return S (k, k) of the preconditioner, at least its upper triangle; the last three: see `FALKON`."""
    scatter: Array
    k = len(basis.kept)
    count = max(min(SAMPLES_PER_CENTER * k, rows.n // 2), 1) if size is None else integer("n_preconditioner", size, 0)
    if count > rows.n:
        raise ParameterError("n_preconditioner", count, f"at most the number of samples, {rows.n}")
    if count == 0:
        echelon = basis.echelon * np.sqrt(weights / len(weights))
        scatter = echelon @ echelon.T
        return scatter
    drawn = rows.take(sample_rows(check_random_state(random_state), rows.n, count))
    samples = ArrayRows(drawn, np.zeros((count, 0)))
    gram, _ = samples.sum(NormalEquations(KernelFeatures(kernel, basis), 0))
    gram /= count
    # Its rounding grows by ||T^-1||^2 and must stay below lambda: else each sample is solved for by itself.
    if np.finfo(float).eps * np.trace(gram) * inverse_norm(basis.triangle) ** 2 < GRAM * regularization:
        scatter, _ = dsygst(gram, basis.triangle, overwrite_a=True)  # T^-T gram T^-1
        return scatter
    gram, _ = samples.sum(NormalEquations(BasisFeatures(kernel, basis), 0))
    return np.asarray(gram / count)


class PreconditionedSystem:
    """W beta = b with W = B^T (K_nm^T K_nm + lambda n K_mm) B; each product with W is one pass over the rows.

    In the coordinates of the centres' orthonormal basis K_mm is the identity, and B = n^(-1/2) A^-1 with A the Cholesky
    factor of `scatter` + lambda I. `keep` keeps K_nm.
    """

    def __init__(
        self, rows: TrainingRows, kernel: Kernel, basis: CenterBasis, scatter: Array, regularization: float
    ) -> None:
        self.basis = basis
        self.stored: StoredKernel | None = None
        self.coarse = False  # whether the leading bits of `stored` lead on
        self.size = len(basis.kept)
        self._rows = rows
        self._kernel = kernel
        self._kept = basis.centers[basis.kept]
        self._level = regularization
        small = scatter.copy()
        # Where lambda is below the rounding of the scatter, rounding takes its place in the preconditioner alone.
        least = 10 * self.size * np.finfo(float).eps * float(np.trace(small))
        small.flat[:: self.size + 1] += max(regularization, least)
        self._root = cholesky(small, overwrite_a=True, check_finite=False)

    def keep(self) -> None:
        """Keep K_nm, where memory allows and where its rounding leaves W what it is."""
        gain = self._gain()
        if self._noise(gain, UNIT) < 1.0:
            self.stored = StoredKernel.make(self._rows, self._kernel, self._kept)
        self.coarse = self.stored is not None and self._noise(gain, COARSE_UNIT) < LARGEST_NOISE

    def apply(self, solution: Array) -> Array:
        """Return W beta, (k, T), for beta (k, T)."""
        coordinates = self._precondition(solution)
        (product,) = self._rows.sum(KernelProducts(self._kernel, self._kept, self._expand(coordinates)))
        return self._reduce(product) + self._ridge(coordinates)

    def apply_stored(self, solution: Array, coarse: bool = False) -> Array:
        """Return W beta as `apply` does, with the kept kernel matrix, or the leading bits of its values alone."""
        assert self.stored is not None
        coordinates = self._precondition(solution)
        return self._reduce(self.stored.product(self._expand(coordinates), coarse)) + self._ridge(coordinates)

    def apply_coarse(self, solution: Array) -> Array:
        """Return `apply_stored` with the leading bits alone."""
        return self.apply_stored(solution, coarse=True)

    def rounding(self, solution: Array) -> Array:
        """Return about the norm (T,) of what the rounding of the kept matrix adds to W beta, for beta (k, T)."""
        assert self.stored is not None
        error = self.stored.rounding(self._expand(self._precondition(solution)))
        return np.asarray(np.linalg.norm(self._reduce(error), axis=0))

    def right_hand_side(self, start: Array) -> tuple[Array, Array]:
        """Return b = B^T K_nm^T Y and b - W start, (k, T) each, in one pass."""
        if self.stored is not None:
            right = self._reduce(self.stored.moment)
            return right, right - self.apply(start) if start.any() else right
        coordinates = self._precondition(start)
        vectors = self._expand(coordinates) if start.any() else None
        moment, *products = self._rows.sum(KernelProducts(self._kernel, self._kept, vectors, start.shape[1]))
        right = self._reduce(moment)
        if vectors is None:
            return right, right
        return right, right - self._reduce(products[0]) - self._ridge(coordinates)

    def to_coefficients(self, solution: Array) -> Array:
        """Return alpha = B beta, (m, T)."""
        return self.basis.to_coefficients(self._precondition(solution))

    def to_solution(self, coefficients: Array) -> Array:
        """Return the beta (k, T) of given alpha (m, T)."""
        solution: Array = self._root @ self.basis.to_coordinates(coefficients)
        return sqrt(self._rows.n) * solution

    def largest_eigenvalue(self) -> float:
        """Estimate the largest eigenvalue of W, slightly too small, by power iterations from a fixed start."""
        vector = np.ones((self.size, 1))
        for _ in range(POWER_ITERATIONS):
            vector = self.apply(vector / np.linalg.norm(vector))
        return float(np.linalg.norm(vector))

    def _gain(self) -> float:
        """Estimate the norm of B, slightly too small, by power iterations."""
        vector = np.random.default_rng(0).normal(size=(self.size, 1))
        for _ in range(POWER_ITERATIONS):
            vector = self._reduce(self._expand(self._precondition(vector / np.linalg.norm(vector))))
        return sqrt(np.linalg.norm(vector))

    def _noise(self, gain: float, unit: float) -> float:
        """Estimate the norm of what it changes in W that the values of K_nm are rounded to multiples of `unit`.

        Their errors E are taken as independent. K B has a norm of about 1: (K B)^T E B is some 2 e sqrt(k), and
        B^T E^T E B some n e^2 with e the norm of B times the errors' deviation.
        """
        error = gain * unit / sqrt(12)
        return 4 * error * sqrt(self.size) + self._rows.n * error**2

    def _precondition(self, solution: Array) -> Array:
        return _solve(self._root, solution) / sqrt(self._rows.n)

    def _precondition_transposed(self, coordinates: Array) -> Array:
        return _solve(self._root, coordinates, "T") / sqrt(self._rows.n)

    def _ridge(self, coordinates: Array) -> Array:
        return self._level * self._rows.n * self._precondition_transposed(coordinates)

    def _expand(self, coordinates: Array) -> Array:
        return _solve(self.basis.triangle, coordinates)

    def _reduce(self, moment: Array) -> Array:
        return self._precondition_transposed(_solve(self.basis.triangle, moment, "T"))


def _solve(triangle: Array, right: Array, trans: str = "N") -> Array:
    solved: Array = solve_triangular(triangle, right, trans=trans, check_finite=False)
    return solved


@dataclass(frozen=True)
class KernelProducts:
    """Sums of K_b^T Y_b (if n_targets > 0) and of K_b^T K_b vectors (if given) over blocks of rows (see `rows.Sum`)."""

    kernel: Kernel
    centers: Array
    vectors: Array | None = None
    n_targets: int = 0

    def start(self) -> tuple[Array, ...]:
        """See rows.Sum."""
        m = len(self.centers)
        moments = [np.zeros((m, self.n_targets))] if self.n_targets else []
        return (*moments, np.zeros_like(self.vectors)) if self.vectors is not None else tuple(moments)

    def add(self, totals: tuple[Array, ...], samples: NDArray[Any], targets: NDArray[Any]) -> None:
        """See rows.Sum; blocks fit the cache."""
        against = self.kernel.against(self.centers)
        size = rows_per_block(len(self.centers))
        buffer = np.empty((min(size, len(samples)), len(self.centers)))
        for rows in blocks(len(samples), size):
            x = np.asarray(samples[rows], dtype=np.float64)
            block = against(x, buffer[: len(x)])
            if self.n_targets:
                np.add(totals[0], block.T @ targets[rows], out=totals[0])
            if self.vectors is not None:
                np.add(totals[-1], block.T @ (block @ self.vectors), out=totals[-1])
