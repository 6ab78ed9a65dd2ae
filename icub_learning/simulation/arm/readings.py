"""Results of one step of the simulation: readings of the sensors, and true values."""

from dataclasses import dataclass

from icub_learning.arrays import Array


@dataclass(frozen=True, eq=False)
class Sensors:
    """Readings of the robot's sensors at one instant.

    Attributes:
        stamp: simulated time [ns], never 0.
        position: (7,) joint positions from the encoders [rad].
        velocity: (7,) joint velocities from the encoders [rad/s], delayed by half their window.
        effort: (7,) joint torques, with friction and without the inertia of the rotors [N m].
        wrench: (6,) force [N] and torque [N m] of the force/torque sensor.
    """

    stamp: int
    position: Array
    velocity: Array
    effort: Array
    wrench: Array


@dataclass(frozen=True, eq=False)
class Truth:
    """True values at the same instant, to evaluate learners with; they must not learn from them.

    Attributes:
        stamp: simulated time [ns].
        position, velocity, acceleration: (7,) of the joints [rad, rad/s, rad/s^2].
        wrench: (6,) wrench through the sensor without its errors, rigid_wrench + cable_wrench [N, N m].
        rigid_wrench: (6,) part of the rigid arm with its payload.
        cable_wrench: (6,) part of the cable bundle, which by-passes the sensor.
        drift: (6,) offset of the sensor [N, N m].
        payload_mass: mass of the payload [kg], 0 without payload.
        payload_position: (3,) its centre of mass in the frame of the hand [m].
        push: (3,) force that pushes the hand at the origin of its frame, in the axes of the root [N].
        hand_position: (3,) position of the hand in the root frame [m].
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
    push: Array
    hand_position: Array
