"""The motion of all joints at one instant."""

from typing import NamedTuple

from icub_learning.arrays import Array


class Motion(NamedTuple):
    """Joint positions, velocities and accelerations at one instant.

    Attributes:
        stamp: ns.
        position: (n_joints,) rad or m.
        velocity: (n_joints,) per s.
        acceleration: (n_joints,) per s^2.
    """

    stamp: int
    position: Array
    velocity: Array
    acceleration: Array
