"""An arm of iCubGenova01 as a MuJoCo model, for the physics, and as a Pinocchio model, for kinematics and control."""

from functools import cached_property
from typing import Any

import mujoco
import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics.regressors.robot_model import RobotModel
from icub_learning.robots import find_urdf, links_to_root, read_urdf
from icub_learning.simulation.arm.settings import TIME_STEP
from icub_learning.simulation.urdf import reduced_robot

ARM_JOINTS = ("shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow", "wrist_prosup", "wrist_pitch", "wrist_yaw")
# Inertias of the motors' rotors, as they act behind the gears [kg m^2]; they stabilize the light links of the wrist.
# They do not load the force/torque sensor, and efforts are torques at the joints, without them.
ROTOR_INERTIA = np.array([0.08, 0.08, 0.08, 0.08, 0.01, 0.01, 0.01])


class ArmModel:
    """The "right" or "left" arm of the iCub with seven free joints; all other joints are fixed at position 0."""

    def __init__(self, side: str) -> None:
        self.side = side
        self.joint_names = tuple(f"{side[0]}_{joint}" for joint in ARM_JOINTS)  # from the shoulder to the hand
        self.sensor = f"{side[0]}_arm_ft_sensor"  # fixed joint of the URDF that represents the force/torque sensor
        self.sensor_frame = f"{side[0]}_upper_arm"  # link below the sensor; the wrench is in its frame, at its origin
        self.shoulder = f"{side[0]}_shoulder_3"  # link above the sensor
        self.elbow = f"{side[0]}_elbow_1"  # link between the elbow and the rotation of the forearm
        self.hand = f"{side[0]}_hand_dh_frame"  # frame in the palm, which follows the circles and holds the payload

    @cached_property
    def kinematics(self) -> RobotModel:
        """The Pinocchio model with seven joints, rotors included."""
        robot = RobotModel(find_urdf("icub"), self.joint_names)
        robot.model.armature = ROTOR_INERTIA
        return robot

    @cached_property
    def limits(self) -> tuple[Array, Array]:
        """Lower and upper limits of the joint positions [rad], (7,) each."""
        model = self.kinematics.model
        return model.lowerPositionLimit.copy(), model.upperPositionLimit.copy()

    def physics(self) -> Any:
        """Return the MuJoCo model.

        Sensors "force" and "torque" give the wrench at the force/torque sensor, in the frame and with the sign of
        Pinocchio's joint force `data.f`; a massless body "payload" is fixed to the hand. With semi-implicit Euler
        integration and explicit damping, the acceleration times the time step is exactly the change of velocity.
        """
        spec = mujoco.MjSpec.from_string(self._urdf())
        spec.option.timestep, spec.option.integrator = TIME_STEP, mujoco.mjtIntegrator.mjINT_EULER
        spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_EULERDAMP | mujoco.mjtDisableBit.mjDSBL_CONTACT)
        for name, inertia in zip(self.joint_names, ROTOR_INERTIA, strict=True):
            joint = spec.joint(name)
            joint.armature = inertia
            joint.damping = np.zeros_like(joint.damping)  # effects.joint_friction models it
        spec.body(self.hand).add_body(name="payload")
        spec.body(self.sensor_frame).add_site(name="sensor")
        for name, kind in (("force", mujoco.mjtSensor.mjSENS_FORCE), ("torque", mujoco.mjtSensor.mjSENS_TORQUE)):
            spec.add_sensor(name=name, type=kind, objtype=mujoco.mjtObj.mjOBJ_SITE, objname="sensor")
        return spec.compile()

    def _urdf(self) -> str:
        """Return the URDF of the links from the root to this arm's last ones, without shapes, with other joints fixed.
        Links are not merged: those on both sides of the sensor would lose mass."""
        robot = read_urdf(find_urdf("icub"))
        kept, first_moving = set(links_to_root(robot, self.hand)), f"{self.side[0]}_shoulder_1"
        for link in robot.findall("link"):
            name = link.get("name", "")
            if link.find("inertial") is not None and first_moving in links_to_root(robot, name):
                kept.add(name)
        return reduced_robot(robot, kept, self.joint_names)
