"""FALKON: Nyström regression by preconditioned iterations that read the data in blocks and keep O(m^2) numbers."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cholesky, solve_triangular
from sklearn.utils import check_random_state

from icub_learning.arrays import Array, integer
from icub_learning.errors import ParameterError, ShapeError
from icub_learning.kernel_methods.estimator import check_regularization
from icub_learning.kernel_methods.kernels import Kernel, blocks, rows_per_block, sample_rows
from icub_learning.kernel_methods.rows import ArrayRows
from icub_learning.kernel_methods.spectral.iterative import check_iterations, choose_step
from icub_learning.kernel_methods.streaming import StreamingRegressor, TrainingRows
from icub_learning.kernel_methods.subsampling.basis import CenterBasis
from icub_learning.kernel_methods.subsampling.centers import choose_centers
from icub_learning.kernel_methods.subsampling.conjugate_gradient import conjugate_gradients, run_iterations
from icub_learning.kernel_methods.subsampling.least_squares import BasisFeatures, NormalEquations

SOLVERS = ("cg", "gradient")
SAMPLES_PER_CENTER = 10  # in the preconditioner
POWER_ITERATIONS = 8  # passes over the data that estimate the largest step of the gradient variant


class FALKON(StreamingRegressor):
    """Nyström KRLS by conjugate gradients on the preconditioned normal equations, n m t in time, O(m^2) in memory.

    B^T (K_nm^T K_nm + lambda n K_mm) B beta = B^T K_nm^T Y, alpha = B beta, with B = n^(-1/2) T^-1 A^-1,
    T = chol(K_mm) and A = chol(S + lambda I), S an estimate of T^-T K_nm^T K_nm T^-1 / n. The paper's S averages over
    the centres, T D T^T / m (D: weights of centres that were drawn by leverage scores), and needs about 1 / lambda of
    them; with further samples, ten times as many as centres, the condition number is about ten whatever lambda is,
    and a residual of 1e-3 takes less than ten iterations. Centres that depend on earlier ones to working precision are
    left out of T. Each iteration is one pass over blocks of K_nm, which are computed and forgotten; X and y may be
    memory-mapped arrays (float64 or float32) or Dask arrays.

    Args:
        kernel, length_scale, degree: see `Kernel`.
        regularization: lambda > 0; n^(-1/2) is the theory's choice, with m = n^(1/2).
        n_centers, centers, sampling, random_state: see `NystromKRLS`.
        n_preconditioner: samples, drawn uniformly, that S averages over; None for ten times as many as centres and at
            most half of all, 0 for the centres alone.
        max_iter: most iterations.
        tol: iterations end once the preconditioned residual is at most tol of the right-hand side, in each target.
        solver: "cg", or "gradient": gradient descent with the same B.
        step_size: of "gradient": below 2 / ||B^T H B||, H the matrix of the normal equations, or "auto": half of that.
        warm_start: begin at the last fit's solution, on its centres.

    Attributes:
        dual_coef_: (m,) or (m, T).
        centers_: (m, d).
        n_kept_: centres that are independent to working precision.
        n_iter_: iterations done; path_levels_: 1..n_iter_ (0 alone where a warm start needed none).
    """

    def __init__(
        self,
        *,
        kernel: Any = "gaussian",
        length_scale: float = 1.0,
        degree: int = 3,
        regularization: float = 1e-6,
        n_centers: int = 100,
        centers: ArrayLike | None = None,
        sampling: str = "uniform",
        random_state: Any = None,
        n_preconditioner: int | None = None,
        max_iter: int = 100,
        tol: float = 1e-6,
        solver: str = "cg",
        step_size: float | str = "auto",
        warm_start: bool = False,
    ) -> None:
        self.kernel = kernel
        self.length_scale = length_scale
        self.degree = degree
        self.regularization = regularization
        self.n_centers = n_centers
        self.centers = centers
        self.sampling = sampling
        self.random_state = random_state
        self.n_preconditioner = n_preconditioner
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.step_size = step_size
        self.warm_start = warm_start

    def _fit_rows(self, rows: TrainingRows, kernel: Kernel) -> None:
        level = check_regularization(self.regularization)
        max_iter, tol = check_iterations(self.max_iter, self.tol)
        if self.solver not in SOLVERS:
            raise ParameterError("solver", self.solver, f"one of {', '.join(SOLVERS)}")
        before: Array | None = getattr(self, "_coefficients", None) if self.warm_start else None
        if before is not None and before.shape[1] != rows.n_targets:
            raise ShapeError("y", (rows.n, rows.n_targets), f"(n, {before.shape[1]}), as in the last fit")
        centers, weights = choose_centers(
            rows,
            kernel,
            level,
            n_centers=self.n_centers,
            centers=self.centers if before is None or self.centers is not None else self.centers_,
            sampling=self.sampling,
            random_state=self.random_state,
        )
        if before is not None and not np.array_equal(centers, self.centers_):
            raise ParameterError("centers", centers.shape, "those of the last fit, for a warm start")
        basis = CenterBasis(kernel, centers)
        scatter = self._estimate_scatter(rows, kernel, basis, weights)
        system = PreconditionedSystem(rows, kernel, basis, scatter, level)
        start = np.zeros((system.size, rows.n_targets)) if before is None else system.to_solution(before)
        right, residual = system.right_hand_side(start)
        enough = tol * np.linalg.norm(right, axis=0)
        iterates = (
            conjugate_gradients(system.apply, start, residual, enough)
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

    def _estimate_scatter(self, rows: TrainingRows, kernel: Kernel, basis: CenterBasis, weights: Array) -> Array:
        """S (k, k) of the preconditioner."""
        k, size = len(basis.kept), self.n_preconditioner
        count = (
            max(min(SAMPLES_PER_CENTER * k, rows.n // 2), 1) if size is None else integer("n_preconditioner", size, 0)
        )
        if count > rows.n:
            raise ParameterError("n_preconditioner", count, f"at most the number of samples, {rows.n}")
        if count == 0:
            echelon = basis.echelon * np.sqrt(weights / len(weights))
            return echelon @ echelon.T
        drawn = rows.take(sample_rows(check_random_state(self.random_state), rows.n, count))
        part = NormalEquations(BasisFeatures(kernel, basis), 1)
        scatter, _ = ArrayRows(drawn, np.zeros((count, 1))).sum(part)
        return (np.triu(scatter) + np.triu(scatter, 1).T) / count

    def _descend(
        self, system: "PreconditionedSystem", start: Array, right: Array, residual: Array, enough: Array
    ) -> Iterator[tuple[Array, Array]]:
        self.step_size_ = choose_step(self.step_size, 2.0, system.largest_eigenvalue(), "||n B^T H B||")
        solution = start
        while (np.linalg.norm(residual, axis=0) > enough).any():
            solution = solution + self.step_size_ * residual
            residual = right - system.apply(solution)
            yield solution, residual


class PreconditionedSystem:
    """W beta = b with W = B^T (K_nm^T K_nm + lambda n K_mm) B; each product with W is one pass over the rows.

    In the coordinates of the centres' orthonormal basis K_mm is the identity, and B = n^(-1/2) A^-1 with A the Cholesky
    factor of `scatter` + lambda I.
    """

    def __init__(
        self, rows: TrainingRows, kernel: Kernel, basis: CenterBasis, scatter: Array, regularization: float
    ) -> None:
        self.basis = basis
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

    def apply(self, solution: Array) -> Array:
        """W beta, (k, T)."""
        coordinates = self._precondition(solution)
        (product,) = self._rows.sum(KernelProducts(self._kernel, self._kept, self._expand(coordinates)))
        return self._reduce(product) + self._level * self._rows.n * self._precondition_transposed(coordinates)

    def right_hand_side(self, start: Array) -> tuple[Array, Array]:
        """b = B^T K_nm^T Y and b - W start, (k, T) each, in one pass."""
        coordinates = self._precondition(start)
        vectors = self._expand(coordinates) if start.any() else None
        moment, *products = self._rows.sum(KernelProducts(self._kernel, self._kept, vectors, start.shape[1]))
        right = self._reduce(moment)
        if vectors is None:
            return right, right
        ridge = self._level * self._rows.n * self._precondition_transposed(coordinates)
        return right, right - self._reduce(products[0]) - ridge

    def to_coefficients(self, solution: Array) -> Array:
        """alpha = B beta, (m, T)."""
        return self.basis.to_coefficients(self._precondition(solution))

    def to_solution(self, coefficients: Array) -> Array:
        """The beta of given alpha (m, T)."""
        return np.sqrt(self._rows.n) * (self._root @ self.basis.to_coordinates(coefficients))

    def largest_eigenvalue(self) -> float:
        """Of W, by a few power iterations from a fixed start; a slight underestimate."""
        vector = np.ones((self.size, 1))
        for _ in range(POWER_ITERATIONS):
            vector = self.apply(vector / np.linalg.norm(vector))
        return float(np.linalg.norm(vector))

    def _precondition(self, solution: Array) -> Array:
        return solve_triangular(self._root, solution, check_finite=False) / np.sqrt(self._rows.n)

    def _precondition_transposed(self, coordinates: Array) -> Array:
        return solve_triangular(self._root, coordinates, trans="T", check_finite=False) / np.sqrt(self._rows.n)

    def _expand(self, coordinates: Array) -> Array:
        return solve_triangular(self.basis.triangle, coordinates, check_finite=False)

    def _reduce(self, moment: Array) -> Array:
        coordinates = solve_triangular(self.basis.triangle, moment, trans="T", check_finite=False)
        return self._precondition_transposed(coordinates)


@dataclass(frozen=True)
class KernelProducts:
    """Sums K_b^T Y_b (if n_targets), then K_b^T K_b vectors (if given), over blocks of rows (see `rows.Sum`)."""

    kernel: Kernel
    centers: Array
    vectors: Array | None = None
    n_targets: int = 0

    def start(self) -> tuple[Array, ...]:
        """Zeros to add to."""
        m = len(self.centers)
        moments = [np.zeros((m, self.n_targets))] if self.n_targets else []
        return (*moments, np.zeros_like(self.vectors)) if self.vectors is not None else tuple(moments)

    def add(self, totals: tuple[Array, ...], samples: NDArray[Any], targets: NDArray[Any]) -> None:
        """Add the part of some rows, a block that fits the cache at a time."""
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
