"""FALKON: Nyström regression by preconditioned iterations, in O(m^2) memory or with the kernel matrix kept."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from icub_learning.arrays import Array
from icub_learning.errors import ParameterError, ShapeError
from icub_learning.kernel_methods.estimator import check_choice, check_regularization
from icub_learning.kernel_methods.kernels import Kernel
from icub_learning.kernel_methods.rows import StreamingRegressor, TrainingRows
from icub_learning.kernel_methods.spectral.iterative import check_iterations, choose_step
from icub_learning.kernel_methods.subsampling.basis import CenterBasis
from icub_learning.kernel_methods.subsampling.centers import CenterRegressor
from icub_learning.kernel_methods.subsampling.conjugate_gradient import run_iterations
from icub_learning.kernel_methods.subsampling.falkon_system import PreconditionedSystem, estimate_scatter
from icub_learning.kernel_methods.subsampling.refinement import refined


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
        kernel, ..., random_state: see `CenterRegressor`.
        n_preconditioner: number of samples, drawn uniformly, that S averages over; None for ten times as many as
            centres and at most half of all, 0 for the centres alone.
        max_iter: largest number of iterations.
        tol: iterations end once the preconditioned residual is at most tol of the right-hand side, in each target.
        solver: "cg", or "gradient": gradient descent with the same B, in double.
        storage: "auto": keep K_nm of a Gaussian or Matérn kernel where memory and rounding allow; "none": never.
        step_size: step of "gradient", below 2 / ||B^T H B|| with the matrix H of the normal equations; "auto": half of
            that bound.
        warm_start: whether to start from the solution of the last fit, on its centres.

    `n_iter_` iterations were done; `stored_` is whether K_nm was kept. The path is that of all iterations, or 0 alone
    if a warm start needed none.
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
        check_choice("solver", self.solver, ("cg", "gradient"))
        check_choice("storage", self.storage, ("auto", "none"))
        before: Array | None = getattr(self, "_coefficients", None) if self.warm_start else None
        if before is not None and before.shape[1] != rows.n_targets:
            raise ShapeError("y", (rows.n, rows.n_targets), f"(n, {before.shape[1]}), as in the last fit")
        given = self.centers_ if before is not None and self.centers is None else None
        centers, weights = self._sample_centers(rows, kernel, given=given)
        if before is not None and not np.array_equal(centers, self.centers_):
            raise ParameterError("centers", centers.shape, "those of the last fit, for a warm start")
        basis = CenterBasis(kernel, centers)
        scatter = estimate_scatter(rows, basis, weights, self.n_preconditioner, level, self.random_state)
        system = PreconditionedSystem(rows, basis, scatter, level)
        if self.storage == "auto" and self.solver == "cg":
            system.keep()
        self.stored_ = system.stored is not None
        start = np.zeros((system.size, rows.n_targets)) if before is None else system.to_solution(before)
        right, residual = system.right_hand_side(start)
        enough = tol * np.linalg.norm(right, axis=0)
        iterate = refined if self.solver == "cg" else self._descend
        iterates = iterate(system, start, right, residual, enough)
        solutions = run_iterations(iterates, max_iter, residual, enough, "FALKON")
        self.centers_, self.n_kept_ = centers, system.size
        self._set_path([system.to_coefficients(solution) for solution in solutions or [start]])
        if not solutions:
            self.n_iter_, self.path_levels_ = 0, np.zeros(1, dtype=np.int64)

    def _descend(
        self, system: PreconditionedSystem, start: Array, right: Array, residual: Array, enough: Array
    ) -> Iterator[tuple[Array, Array]]:
        self.step_size_ = choose_step(self.step_size, 2.0, system.largest_eigenvalue(), "||n B^T H B||")
        solution = start
        while (np.linalg.norm(residual, axis=0) > enough).any():
            solution = solution + self.step_size_ * residual
            residual = right - system.apply(solution)
            yield solution, residual
