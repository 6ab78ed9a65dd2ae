"""FALKON: Nyström regression by preconditioned iterations, in O(m^2) memory or with the kernel matrix kept."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice

import numpy as np

from icub_learning.arrays import Array
from icub_learning.kernel_methods.estimator import check_choice, check_regularization
from icub_learning.kernel_methods.kernels import Kernel
from icub_learning.kernel_methods.rows import StreamingRegressor, TrainingRows
from icub_learning.kernel_methods.spectral.iterative import check_iterations
from icub_learning.kernel_methods.subsampling.centers import CenterBasis, CenterRegressor
from icub_learning.kernel_methods.subsampling.conjugate_gradient import conjugate_gradients, run_iterations
from icub_learning.kernel_methods.subsampling.falkon_system import PreconditionedSystem, estimate_scatter

KEPT = 1e-4  # target residual of iterations with the kept matrix, relative to that at their start
COARSE = 1e-2  # the same for iterations with the leading bits of its values
MARGIN = 20.0  # safety factor from the error of the leading bits, measured on the step before, to the target residual
MOST = 20  # most iterations with the leading bits before their result is checked with all bits


@dataclass(kw_only=True, eq=False, repr=False)
class FALKON(CenterRegressor, StreamingRegressor):
    """Nyström KRLS by conjugate gradients on the preconditioned normal equations, n m t in time.

    B^T (K_nm^T K_nm + lambda n K_mm) B beta = B^T K_nm^T Y, alpha = B beta, with B = n^(-1/2) T^-1 A^-1, T = chol(K_mm)
    and A = chol(S + lambda I), S an estimate of T^-T K_nm^T K_nm T^-1 / n. The paper's S averages over the centres, T D
    T^T / m (D: weights of centres drawn by leverage scores), and needs about 1 / lambda of them; averaged over ten
    samples per centre, or all there are, the condition number is at most about ten, and a residual of 1e-3 takes fewer
    than ten iterations. Centres that depend on earlier ones are left out of T. X and y may be memory-mapped (float64 or
    float32) or Dask arrays.

    Each iteration is one pass over K_nm, which is kept if it fits into a quarter of the free memory at 24 bits a value
    and their rounding is small enough for the centres and lambda; otherwise its blocks are recomputed in each pass.
    Iterations read the leading 16 bits; the residual is then computed with all 24 bits, finally in double, and solved
    for again, until `tol` is reached (iterative refinement: Higham, "Accuracy and Stability of Numerical Algorithms",
    2002, section 12); where that does not converge, iterations use more bits, at last double.

    Args:
        kernel, ..., random_state: see `CenterRegressor`.
        n_preconditioner: number of samples, drawn uniformly, that S averages over; None for ten times as many as
            centres and at most all, 0 for the centres alone.
        max_iter: largest number of iterations.
        tol: iterations end once the preconditioned residual is at most tol of the right-hand side, in each target.
        storage: "auto": keep K_nm of a Gaussian or Matérn kernel where memory and rounding allow; "none": never.

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
            system.keep()
        self.stored_ = system.stored is not None
        right = system.right_hand_side(rows.n_targets)
        enough = tol * np.linalg.norm(right, axis=0)
        refined = _refined(system, right, enough)
        solutions = run_iterations(refined, max_iter, right, enough, "FALKON", "n_preconditioner")
        self.n_kept_ = system.size
        self._set_path([system.to_coefficients(solution) for solution in solutions or [np.zeros_like(right)]])
        self.n_iter_ = len(solutions)


def _refined(system: PreconditionedSystem, right: Array, enough: Array) -> Iterator[tuple[Array, Array]]:
    """Yield (solution, residual) of conjugate gradients: with the kept matrix while that converges, then in double."""
    solution, residual = np.zeros_like(right), right
    while system.stored is not None:
        before = np.linalg.norm(residual, axis=0)
        goal = np.maximum(enough, KEPT * before)
        step = np.zeros_like(right)
        for step, left in _refined_once(system, residual, goal):
            yield solution + step, left
        solution = solution + step
        if (goal <= enough).all() and (system.rounding(step) <= enough / 2).all():
            return
        residual = right - system.apply(solution)
        if not (np.linalg.norm(residual, axis=0) <= np.maximum(before / 2, enough)).all():
            system.stored = None  # 24 bits are too coarse for this kernel matrix
    yield from conjugate_gradients(system.apply, solution, residual, enough)


def _refined_once(system: PreconditionedSystem, right: Array, enough: Array) -> Iterator[tuple[Array, Array]]:
    """Yield (solution, residual) of W solution = right, W of all kept bits, by the leading bits while they converge."""
    solution, residual = np.zeros_like(right), right
    zero = np.zeros_like(right)
    apply_coarse = partial(system.apply_stored, coarse=True)
    share: Array | None = None  # error of the leading bits as a share of a step's image
    while system.coarse:
        before = np.linalg.norm(residual, axis=0)
        goal = np.maximum(enough, COARSE * before)
        step, left = zero, residual
        for step, left in islice(conjugate_gradients(apply_coarse, zero, residual, goal), MOST):
            yield solution + step, left
        image = np.linalg.norm(residual - left, axis=0)
        solved = (np.linalg.norm(left, axis=0) <= enough).all()
        if solved and share is not None and (MARGIN * share * image <= enough).all():
            return  # judged by the error of the step before, this one is accurate enough
        corrected = right - system.apply_stored(solution + step)
        after = np.linalg.norm(corrected, axis=0)
        system.coarse = bool((after <= np.maximum(before / 4, enough)).all())
        if (after > before).any():
            break
        solution, residual = solution + step, corrected
        share = np.linalg.norm(corrected - left, axis=0) / np.maximum(image, np.finfo(float).tiny)
        left[...] = corrected  # what was yielded last has the residual by all bits
        if (after <= enough).all():
            return
    yield from conjugate_gradients(system.apply_stored, solution, residual, enough)
