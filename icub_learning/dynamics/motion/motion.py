"""The motion of all joints at one instant."""

from typing import NamedTuple

import numpy as np

from icub_learning.arrays import Array

TURN = 2.0 * np.pi  # [rad]


class Motion(NamedTuple):
    """Joint positions, velocities and accelerations at one instant."""

    stamp: int  # ns
    position: Array  # (n_joints,) rad or m
    velocity: Array  # (n_joints,) per s
    acceleration: Array  # (n_joints,) per s^2


def at_turn(angles: Array, near: Array | float) -> Array:
    """Return angles (n,) [rad], moved by whole turns to within half a turn of `near`, which is (n,) or one number."""
    return np.asarray(angles - TURN * np.round((angles - near) / TURN))
