"""FALKON: Nyström regression by preconditioned iterations, in O(m^2) memory or with the kernel matrix kept."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from icub_learning.arrays import Array
from icub_learning.kernel_methods.estimator import check_choice, check_regularization
from icub_learning.kernel_methods.kernels import Kernel
from icub_learning.kernel_methods.rows import StreamingRegressor, TrainingRows
from icub_learning.kernel_methods.spectral.iterative import check_iterations
from icub_learning.kernel_methods.subsampling.centers import CenterBasis, CenterRegressor
from icub_learning.kernel_methods.subsampling.conjugate_gradient import conjugate_gradients, run_iterations
from icub_learning.kernel_methods.subsampling.falkon_system import PreconditionedSystem, estimate_scatter
from icub_learning.kernel_methods.subsampling.stored_kernel import StoredKernel

KEPT = 1e-4  # target residual of iterations with the kept matrix, relative to that at their start
COARSE = 3e-3  # largest relative error of its products; up to it they mostly save time, at 1.7 times the iterations
WORTH = 0.1  # share of the residual that these must leave at most; where they leave more, double precision is faster


@dataclass(kw_only=True, eq=False, repr=False)
class FALKON(CenterRegressor, StreamingRegressor):
    """Nyström KRLS by conjugate gradients on the preconditioned normal equations, n m t in time.

    B^T (K_nm^T K_nm + lambda n K_mm) B beta = B^T K_nm^T Y, alpha = B beta, with B = n^(-1/2) T^-1 A^-1, T = chol(K_mm)
    and A = chol(S + lambda I), S an estimate of T^-T K_nm^T K_nm T^-1 / n. The paper's S averages over the centres, T D
    T^T / m (D: weights of centres drawn by leverage scores), and needs about 1 / lambda of them; averaged over ten
    samples per centre, or all there are, the condition number is at most about ten, and a residual of 1e-3 takes some
    ten iterations. Centres that depend on earlier ones are left out of T. X and y may be memory-mapped (float64 or
    float32) or Dask arrays. With lambda below rounding, 1e-12 or so, overfitted solutions differ from `NystromKRLS`.

    Each iteration is one pass over K_nm, which is kept in single precision if a quarter of the free memory holds it and
    its products are accurate to 0.3 %, which they are not with many nearly dependent centres; else its blocks are
    recomputed. The residual left with the kept matrix is computed in double precision and solved for again until `tol`
    is reached (iterative refinement: Higham, "Accuracy and Stability of Numerical Algorithms", 2002, section 12).

    Args:
        kernel, ..., random_state: see `CenterRegressor`.
        n_preconditioner: number of samples, at random, that S averages over; None for ten a centre, 0 for the centres.
        max_iter: largest number of iterations.
        tol: iterations end once the preconditioned residual is at most tol of the right-hand side, in each target.
        storage: "auto": keep K_nm of a Gaussian or Matérn kernel where it fits and is accurate; "none": never.

    `stored_` is whether K_nm was kept; the path holds the solution after each of the `n_iter_` iterations.
    """

    n_preconditioner: int | None = None
    max_iter: int = 100
    tol: float = 1e-6
    storage: str = "auto"

    def _fit_rows(self, rows: TrainingRows, kernel: Kernel) -> None:
        level = check_regularization(self.regularization)
        max_iter, tol = check_iterations(self.max_iter, self.tol)
        check_choice("storage", self.storage, ("auto", "none"))
        self.centers_, weights = self._sample_centers(rows, kernel)
        basis = CenterBasis(kernel, self.centers_)
        scatter = estimate_scatter(rows, basis, weights, self.n_preconditioner, level, self.random_state)
        system = PreconditionedSystem(rows, basis, scatter, level)
        if self.storage == "auto":
            system.stored = StoredKernel.make(rows, basis.against)
        right = system.right_hand_side(rows.n_targets)
        if system.stored is not None and system.error_of_stored(right) > COARSE:
            system.stored = None
        self.stored_ = system.stored is not None
        enough = tol * np.linalg.norm(right, axis=0)
        refined = _refined(system, right, enough)
        solutions = run_iterations(refined, max_iter, right, enough, "FALKON", "n_preconditioner")
        self.n_kept_ = system.size
        self._set_path([system.to_coefficients(solution) for solution in solutions or [np.zeros_like(right)]])
        self.n_iter_ = len(solutions)


def _refined(system: PreconditionedSystem, right: Array, enough: Array) -> Iterator[tuple[Array, Array]]:
    """Yield (solution, residual) of conjugate gradients: with the kept matrix while that converges, then in double."""
    solution, residual = np.zeros_like(right), right
    while system.stored is not None and ((before := np.linalg.norm(residual, axis=0)) > enough).any():
        goal = np.maximum(enough / 2, KEPT * before)  # half, as rounding adds to what is left
        for step, left in conjugate_gradients(system.apply_stored, np.zeros_like(right), residual, goal):
            yield solution + step, left
        solution = solution + step
        residual = right - system.apply(solution)
        left[...] = residual  # by which the solution yielded last is judged
        if not (np.linalg.norm(residual, axis=0) <= np.maximum(WORTH * before, enough)).all():
            system.stored = None  # single precision is too coarse for this kernel matrix
    yield from conjugate_gradients(system.apply, solution, residual, enough)
