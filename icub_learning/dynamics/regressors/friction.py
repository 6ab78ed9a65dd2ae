"""Joint friction and sensor offset as columns of a linear model."""

import numpy as np

from icub_learning.arrays import Array

FRICTION_PARAMETERS = ("coulomb", "viscous", "offset")


def fill_friction(columns: Array, v: Array, coulomb_velocity: float) -> None:
    """Write the friction columns of all joints into the last 3 n columns of an (n, n_parameters) array of zeros.

    Row j gets, at joint j's own three columns, tanh(v_j / coulomb_velocity), v_j and 1: Coulomb friction, viscous
    friction and the offset of the torque sensor or motor current. The smooth sign is used because measured
    velocities are never exactly 0: sign(v) of a joint at rest would be noise of full size, and real friction too rises
    over a small range of speeds (presliding) instead of jumping.

    Args:
        columns: C-contiguous (n, n_parameters), changed in place.
        v: (n,) velocities [rad/s or m/s].
        coulomb_velocity: speed at which 76 % of the Coulomb friction acts [rad/s or m/s].
    """
    n, width = columns.shape
    flat = columns.reshape(-1)
    first = width - 3 * n
    step = width + 3  # from one joint's entry to the next: a row down, three columns right
    flat[first::step] = np.tanh(v / coulomb_velocity)
    flat[first + 1 :: step] = v
    flat[first + 2 :: step] = 1.0
