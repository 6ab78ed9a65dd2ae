"""What one step of the simulation gives: what sensors show, and what is true."""

from dataclasses import dataclass

from icub_learning.arrays import Array


@dataclass(frozen=True, eq=False)
class Sensors:
    """What the robot shows of itself at one instant.

    Attributes:
        stamp: simulated time [ns], never 0.
        position: (7,) of the joint encoders [rad].
        velocity: (7,) of the joint encoders [rad/s], late by half a window of theirs.
        effort: (7,) torques at the joints, friction included, rotors not [N m].
        wrench: (6,) force [N] and torque [N m] of the force/torque sensor.
    """

    stamp: int
    position: Array
    velocity: Array
    effort: Array
    wrench: Array


@dataclass(frozen=True, eq=False)
class Truth:
    """What is true at the same instant: to judge a learner with, never to learn from.

    Attributes:
        stamp: simulated time [ns].
        position, velocity, acceleration: (7,) [rad, rad/s, rad/s^2].
        wrench: (6,) through the sensor, before its errors: rigid_wrench + cable_wrench.
        rigid_wrench: (6,) of the rigid arm and its payload.
        cable_wrench: (6,) share of the cable bundle that by-passes the sensor.
        drift: (6,) offset of the sensor.
        payload_mass: [kg], 0 without one.
        payload_position: (3,) of its centre of mass in the frame of the hand [m].
        hand_position: (3,) in the root frame [m].
    """

    stamp: int
    position: Array
    velocity: Array
    acceleration: Array
    wrench: Array
    rigid_wrench: Array
    cable_wrench: Array
    drift: Array
    payload_mass: float
    payload_position: Array
    hand_position: Array
