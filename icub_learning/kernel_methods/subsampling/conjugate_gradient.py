"""Preconditioned conjugate gradients for several right-hand sides at once, with step sizes for each."""

import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from icub_learning.arrays import Array
from icub_learning.kernel_methods.kernels import Operator


def conjugate_gradients(
    apply: Operator, start: Array, residual: Array, enough: Array, precondition: Operator | None = None
) -> Iterator[tuple[Array, Array]]:
    """Yield (solution, residual) after each iteration on apply(solution) = right-hand side (k, T), from `start` on.

    `apply` is symmetric positive definite, and so is `precondition`, an approximate inverse. A column whose residual's
    norm is at most `enough` (T,), or whose curvature is lost in rounding, stays as it is; the iteration ends with the
    last.
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
    iterates: Iterator[tuple[Array, Array]], max_iter: int, residual: Array, enough: Array, name: str
) -> list[Array]:
    """Return the solutions of at most `max_iter` `conjugate_gradients` iterations; warn of columns not solved."""
    solutions: list[Array] = []
    for solution, left in iterates:
        solutions.append(solution)
        residual = left
        if len(solutions) == max_iter:
            break
    over = np.linalg.norm(residual, axis=0) / np.where(enough > 0, enough, np.inf)
    if (over > 1).any():
        text = f"{name} stopped after {len(solutions)} iterations at {over.max():.1e} times the residual that tol "
        warnings.warn(
            text + "allows: more centres, a larger regularization or max_iter", ConvergenceWarning, stacklevel=5
        )
    return solutions
