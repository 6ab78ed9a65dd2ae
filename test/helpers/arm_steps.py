"""The simulated arm step by step, and where its hand is."""

import pinocchio


def steps(simulation, count):
    """Return the sensors and the truth of the next `count` steps."""
    shown = []
    for _ in range(count):
        simulation.step()
        shown.append((simulation.sensors(), simulation.truth()))
    return shown


def hand_position(arm, q):
    """Return the position of the hand in the root frame [m], (3,), at joint positions (7,) [rad]."""
    model, data = arm.kinematics.model, arm.kinematics.data
    pinocchio.framesForwardKinematics(model, data, q)
    return data.oMf[arm.kinematics.frame_of(arm.hand)].translation.copy()
