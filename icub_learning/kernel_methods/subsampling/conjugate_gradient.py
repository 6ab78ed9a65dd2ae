"""Preconditioned conjugate gradients for several right-hand sides at once, and exact KRLS by them."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.exceptions import ConvergenceWarning

from icub_learning.arrays import Array
from icub_learning.kernel_methods.estimator import apply_by_blocks, check_regularization
from icub_learning.kernel_methods.kernels import Kernel, Operator
from icub_learning.kernel_methods.rows import ArrayRows
from icub_learning.kernel_methods.spectral.iterative import check_iterations
from icub_learning.kernel_methods.subsampling.centers import CenterBasis, CenterRegressor
from icub_learning.kernel_methods.subsampling.least_squares import BasisFeatures


def conjugate_gradients(
    apply: Operator, start: Array, residual: Array, enough: Array, precondition: Operator | None = None
) -> Iterator[tuple[Array, Array]]:
    """Yield (solution, residual) after each iteration on apply(solution) = right-hand side (k, T), from `start` on.

    `apply` is symmetric positive definite, and so is `precondition`, an approximate inverse. A column whose residual's
    norm is at most `enough` (T,), or whose curvature is lost in rounding, stops; the iteration ends when all stop.
    """
    solution, residual = start.copy(), residual.copy()
    image = residual if precondition is None else precondition(residual)
    direction = image.copy()
    energy = np.einsum("ij,ij->j", residual, image)
    active = np.linalg.norm(residual, axis=0) > enough
    while active.any():
        product = apply(direction)
        curvature = np.einsum("ij,ij->j", direction, product)
        active &= curvature > 0
        step = np.where(active, energy / np.where(active, curvature, 1.0), 0.0)
        solution = solution + step * direction
        residual = residual - step * product
        active &= np.linalg.norm(residual, axis=0) > enough
        yield solution, residual
        image = residual if precondition is None else precondition(residual)
        before, energy = energy, np.einsum("ij,ij->j", residual, image)
        turn = np.where(active, energy / np.where(active, before, 1.0), 0.0)
        direction = np.where(active, image + turn * direction, 0.0)


def run_iterations(
    iterates: Iterator[tuple[Array, Array]], max_iter: int, residual: Array, enough: Array, name: str, size: str
) -> list[Array]:
    """Return the solutions of up to `max_iter` iterations; a warning of unsolved columns advises to raise `size`."""
    solutions: list[Array] = []
    for solution, left in islice(iterates, max_iter):
        solutions.append(solution)
        residual = left
    over = np.linalg.norm(residual, axis=0) / np.where(enough > 0, enough, np.inf)
    if (over > 1).any():
        text = f"{name} stopped after {len(solutions)} iterations at {over.max():.1e} times the residual"
        advice = f"that tol allows: choose a larger {size}, regularization or max_iter"
        warnings.warn(f"{text} {advice}", ConvergenceWarning, stacklevel=5)
    return solutions


@dataclass(kw_only=True, eq=False, repr=False)
class PreconditionedKRLS(CenterRegressor):
    """KRLS, (K + lambda n I) alpha = Y, by conjugate gradients; K is computed in blocks and never stored.

    The preconditioner is (A A^T + lambda n I)^-1 with A A^T the Nyström approximation of K on m centres (see
    `CenterRegressor`), by Woodbury's identity: n m^2 in time once, then n^2 T in each iteration, and O(n m) in memory.
    There are at most `max_iter` iterations; they end once ||Y - (K + lambda n I) alpha|| <= tol ||Y|| in each target.
    """

    max_iter: int = 200
    tol: float = 1e-8

    def _fit(self, samples: Array, targets: Array, kernel: Kernel) -> None:
        level = check_regularization(self.regularization)
        max_iter, tol = check_iterations(self.max_iter, self.tol)
        rows = ArrayRows(samples, targets)
        centers, _ = self._sample_centers(rows, kernel)
        ridge = level * len(samples)
        features = BasisFeatures(CenterBasis(kernel, centers))(samples)
        small = cho_factor(features.T @ features + ridge * np.eye(features.shape[1]), check_finite=False)
        against = kernel.against(samples)

        def apply(vectors: Array) -> Array:
            return rows.map(lambda some: apply_by_blocks(against, some, vectors)) + ridge * vectors

        def precondition(residual: Array) -> Array:
            explained = features @ cho_solve(small, features.T @ residual, check_finite=False)
            return np.asarray((residual - explained) / ridge)

        enough = tol * np.linalg.norm(targets, axis=0)
        iterates = conjugate_gradients(apply, np.zeros_like(targets), targets, enough, precondition)
        self.centers_ = samples
        solutions = run_iterations(iterates, max_iter, targets, enough, "PreconditionedKRLS", "n_centers")
        self._set_path(solutions or [np.zeros_like(targets)])
