"""Iterative refinement of FALKON: iterations with few bits of the kernel matrix, corrected with more of them."""

from collections.abc import Iterator
from functools import partial
from itertools import islice

import numpy as np

from icub_learning.arrays import Array
from icub_learning.kernel_methods.subsampling.conjugate_gradient import conjugate_gradients
from icub_learning.kernel_methods.subsampling.falkon_system import PreconditionedSystem

KEPT = 1e-4  # residual, relative to that at their start, to which iterations with the kept matrix go
COARSE = 1e-2  # the same with the leading bits of its values
MARGIN = 20.0  # between the error of the leading bits, as measured on the step before, and the residual aimed at
MOST = 20  # iterations with the leading bits before it is seen what they have led to


def refined(
    system: PreconditionedSystem, start: Array, right: Array, residual: Array, enough: Array
) -> Iterator[tuple[Array, Array]]:
    """Yield (solution, residual) of conjugate gradients: with the kept matrix as far as that leads, then in double."""
    solution = start
    while system.stored is not None:
        before = np.linalg.norm(residual, axis=0)
        goal = np.maximum(enough, KEPT * before)
        step = np.zeros_like(start)
        for step, left in _refined_once(system, residual, goal):
            yield solution + step, left
        solution = solution + step
        if (goal <= enough).all() and (system.rounding(step) <= enough / 2).all():
            return
        residual = right - system.apply(solution)
        if (np.linalg.norm(residual, axis=0) > np.maximum(before / 2, enough)).any():
            system.stored = None  # 24 bits are too coarse for this kernel matrix
    yield from conjugate_gradients(system.apply, solution, residual, enough)


def _refined_once(system: PreconditionedSystem, right: Array, enough: Array) -> Iterator[tuple[Array, Array]]:
    """Yield (solution, residual) of W solution = right, W of all bits kept: by the leading bits as far as they lead."""
    solution, residual = np.zeros_like(right), right
    zero = np.zeros_like(right)
    apply_coarse = partial(system.apply_stored, coarse=True)
    share: Array | None = None  # of a step's image that the leading bits get wrong
    while system.coarse:
        before = np.linalg.norm(residual, axis=0)
        goal = np.maximum(enough, COARSE * before)
        step, left = zero, residual
        for step, left in islice(conjugate_gradients(apply_coarse, zero, residual, goal), MOST):
            yield solution + step, left
        image = np.linalg.norm(residual - left, axis=0)
        solved = (np.linalg.norm(left, axis=0) <= enough).all()
        if solved and share is not None and (MARGIN * share * image <= enough).all():
            return  # the error of this step is known well enough from that of the step before
        corrected = right - system.apply_stored(solution + step)
        after = np.linalg.norm(corrected, axis=0)
        system.coarse = bool((after <= np.maximum(before / 4, enough)).all())
        if (after > before).any():
            break
        solution, residual = solution + step, corrected
        if (after <= enough).all():
            return
        share = np.linalg.norm(corrected - left, axis=0) / np.maximum(image, np.finfo(float).tiny)
    yield from conjugate_gradients(system.apply_stored, solution, residual, enough)
