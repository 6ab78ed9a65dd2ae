"""Gains of Gazebo's joint position controllers, from the inertias of the robot."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio

from icub_learning.arrays import Array

BANDWIDTH = 40.0  # [rad/s]
INTEGRAL_SHARE = 0.1  # of the integral gain at the limit of stability
N_POSTURES = 200  # random postures over which the largest inertia at each joint is sought


@dataclass(frozen=True)
class PositionControl:
    """Position control of the moving joints, (n_joints,) each."""

    offset: Array  # torques that carry the robot at position 0, where Gazebo starts it [N m]
    proportional: Array  # gains [N m/rad]
    integral: Array  # gains [N m/(rad s)]
    damping: Array  # damping of the joints themselves [N m s/rad]


def position_control(urdf: str, joints: Sequence[str]) -> PositionControl:
    """Return gains for two equal poles at BANDWIDTH at each joint, M s^2 + damping s + proportional = 0.

    M is the largest inertia at the joint over random postures [kg m^2]; with a smaller one the joint is faster and more
    strongly damped. The integral gain, which carries the arm's weight, is stable below damping * proportional / M = 2
    BANDWIDTH^3 M. Without the offset the arm would sag until the integral has built up.

    The damping belongs to the joint, not to the controller. Neighbouring axes that are nearly in line (shoulder yaw and
    forearm) have so little inertia against each other that damping by a controller is unstable at a time step of 1 ms,
    whereas the physics engine integrates the damping of joints implicitly. In the URDF (XML text) only `joints` move.
    """
    model = pinocchio.buildModelFromXML(urdf)
    data = model.createData()
    lower, upper = model.lowerPositionLimit, model.upperPositionLimit
    random = np.random.default_rng(0)
    inertia = np.max(
        [np.diag(pinocchio.crba(model, data, random.uniform(lower, upper))) for _ in range(N_POSTURES)], axis=0
    )
    zero = np.zeros(model.nv)
    order = [model.joints[model.getJointId(name)].idx_v for name in joints]
    inertia = inertia[order]
    return PositionControl(
        offset=pinocchio.rnea(model, data, zero, zero, zero)[order].copy(),
        proportional=BANDWIDTH**2 * inertia,
        integral=INTEGRAL_SHARE * 2 * BANDWIDTH**3 * inertia,
        damping=2 * BANDWIDTH * inertia,
    )
