"""The motion of all joints at one instant."""

from typing import NamedTuple

from icub_learning.arrays import Array


class Motion(NamedTuple):
    """Joint positions, velocities and accelerations at one instant."""

    stamp: int  # ns
    position: Array  # (n_joints,) rad or m
    velocity: Array  # (n_joints,) per s
    acceleration: Array  # (n_joints,) per s^2
