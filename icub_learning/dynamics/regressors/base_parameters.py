"""Base parameters: the combinations of a linear model's parameters that measurements can determine."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from icub_learning.arrays import Array

# Columns are scaled to unit length first. What is left of a dependent column after taking the others away is rounding,
# around 1e-14; what is left of an independent one has stayed above 0.05 on iCub, UR10 and Panda. A column this much
# shorter than the longest one is rounding as well.
_DEPENDENT = 1e-9
SPARE = 20  # states beyond those that are needed, so that none of them decides


def base_projection(
    regressor: Callable[[Array, Array, Array], Array],
    n_joints: int,
    n_parameters: int,
    n_states: int | None = None,
) -> Array:
    """Return the identifiable combinations of the parameters of `regressor`, one in a row.

    The result B has full row rank and B @ p determines regressor(q, v, a) @ p for every state, so two parameter
    vectors predict the same exactly when B maps them to the same base parameters. It is the reduced row echelon form
    of the regressor's row space, hence unique: each row begins with a 1 at the first parameter, in the regressor's
    order, that does not depend on those before it, and holds the multiples of later parameters that act through it.

    The rank is found from a fixed pseudo-random sample of states. The regressor is analytic in the state, so its rank
    over any random sample of enough states is, with probability one, its rank over all states (Gautier and Khalil,
    "Exciting trajectories for the identification of base inertial parameters of robots", 1992; numerical rank by QR:
    Gautier, "Numerical calculation of the base inertial parameters of robots", 1991).

    Args:
        regressor: maps q, v and a, each (n_joints,), to (n_outputs, n_parameters).
        n_joints: number of joints.
        n_parameters: number of parameters.
        n_states: how many; None: twice the number of parameters and some more, since a joint's own row may be all that
            shows a parameter. Where each row shows all of them as many as parameters and some more are enough.

    Returns:
        (n_base, n_parameters), n_base the rank.
    """
    heard, triangle, scale = _scaled_triangle(regressor, n_joints, n_states or 2 * n_parameters + SPARE)
    kept: list[int] = []
    directions = np.zeros((len(heard), len(heard)))
    for index in range(len(heard)):
        rest, basis = triangle[:, index], directions[: len(kept)]
        for _ in range(2):  # twice, or rounding would keep the basis from being orthogonal
            rest = rest - (basis @ rest) @ basis
        length = float(np.linalg.norm(rest))
        if length > _DEPENDENT:
            directions[len(kept)] = rest / length
            kept.append(index)
    basis = directions[: len(kept)]
    # basis @ triangle[:, kept] is triangular: solving with it expresses every column in those kept.
    rows = np.linalg.solve(basis @ triangle[:, kept], basis @ triangle)
    rows[np.abs(rows) < _DEPENDENT] = 0.0
    rows[:, kept] = np.eye(len(kept))
    projection = np.zeros((len(kept), n_parameters))
    projection[:, heard] = rows * scale / scale[kept, None]
    return projection


def base_columns(projection: Array) -> NDArray[np.intp]:
    """Return the columns (n_base,) of a regressor that stand for its base parameters: where the rows of B begin."""
    columns: NDArray[np.intp] = np.argmax(projection != 0.0, axis=1)
    return columns


def _scaled_triangle(
    regressor: Callable[[Array, Array, Array], Array], n_joints: int, n_states: int
) -> tuple[NDArray[np.intp], Array, Array]:
    """Return which columns are not zero, R of the QR factorization of these over many states, and their lengths.

    The columns are scaled to unit length before the factorization.
    """
    random = np.random.default_rng(0)
    q = random.uniform(-np.pi, np.pi, (n_states, n_joints))
    v = random.normal(0.0, 3.0, (n_states, n_joints))  # [rad/s] with a, makes motion weigh about as much as gravity
    a = random.normal(0.0, 10.0, (n_states, n_joints))  # [rad/s^2]
    stack = np.concatenate([regressor(*state) for state in zip(q, v, a, strict=True)])
    scale = np.linalg.norm(stack, axis=0)
    heard = np.flatnonzero(scale >= _DEPENDENT * scale.max())
    scale = scale[heard]
    return heard, qr(stack[:, heard] / scale, mode="r", overwrite_a=True)[0][: len(heard)], scale
