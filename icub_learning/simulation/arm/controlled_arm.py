"""The simulated arm under an exchangeable controller, with friction in its gears."""

from collections.abc import Callable

import numpy as np
import pinocchio

from icub_learning.arrays import Array
from icub_learning.simulation.arm.arm_model import ROTOR_INERTIA
from icub_learning.simulation.arm.arm_simulation import ArmSimulation
from icub_learning.simulation.arm.effects import joint_friction
from icub_learning.simulation.arm.motions import Reference
from icub_learning.simulation.arm.settings import SimulationSettings

BANDWIDTH = 12.0  # [rad/s] bandwidth of the feedback: what a model lacks shows as a tracking error
DAMPING = 0.7  # damping ratio of the feedback

Controller = Callable[[Array, Array, Reference], Array]  # positions, velocities, reference to motor torques (7,) [N m]


class ControlledArm(ArmSimulation):
    """An arm whose motor torques come from `controller`, which reads the encoders, at every `every`-th step of 1 ms.

    ArmSimulation moves its arm almost exactly, with drives that compensate their friction. Here the torques of the
    controller move rotors, gears with friction, cables and links, so that models can be compared by tracking errors.
    """

    def __init__(self, settings: SimulationSettings, every: int = 2) -> None:
        super().__init__(settings)
        self._every = every
        self.controller: Controller = feedback(self)  # can be replaced at any time
        self.torque = np.zeros(len(ROTOR_INERTIA))  # (7,) motor torques of the last call [N m]
        self.error = np.zeros(len(ROTOR_INERTIA))  # (7,) reference minus true position at the last step [rad]

    def _control(self, q: Array, v: Array) -> Array:
        reference = self._reference()
        self.error = reference[0] - q
        if self._steps % self._every == 0:
            measured = (q, v) if self._newest is None else self._newest.encoded
            self.torque = self.controller(*measured, reference)
        return self.torque - joint_friction(self.settings.joint_friction, v)


def feedback(arm: ArmSimulation) -> Controller:
    """Return a controller with proportional and derivative feedback only, its gains scaled by each joint's inertia."""
    kinematics = arm.arm.kinematics
    inertia = np.diag(pinocchio.crba(kinematics.model, kinematics.data, np.mean(arm.arm.limits, axis=0))).copy()
    stiffness, damping = BANDWIDTH**2 * inertia, 2.0 * DAMPING * BANDWIDTH * inertia

    def control(q: Array, v: Array, reference: Reference) -> Array:
        to_q, to_v, _ = reference
        return stiffness * (to_q - q) + damping * (to_v - v)

    return control
