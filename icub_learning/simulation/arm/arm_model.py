"""The arm of iCubGenova01 as a MuJoCo model (for the physics) and as a Pinocchio model (for kinematics and control)."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any
from xml.etree import ElementTree

import mujoco
import numpy as np
import pinocchio

from icub_learning.arrays import Array
from icub_learning.dynamics.regressors.robot_model import RobotModel, read_urdf
from icub_learning.robots import find_urdf
from icub_learning.simulation.arm.settings import TIME_STEP

ARM_JOINTS = ("shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow", "wrist_prosup", "wrist_pitch", "wrist_yaw")
# Rotors of the motors as seen behind their gears [kg m^2]: they steady the light links of the wrist. They do not
# load the force/torque sensor, and published efforts are those behind the gears, without them.
ROTOR_INERTIA = np.array([0.08, 0.08, 0.08, 0.08, 0.01, 0.01, 0.01])


@dataclass(frozen=True)
class ArmModel:
    """One arm with its seven joints free and the rest of the robot fixed at joint position 0.

    Attributes:
        side: "right" or "left".
    """

    side: str

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the seven joints, from the shoulder to the hand."""
        return tuple(f"{self.side[0]}_{joint}" for joint in ARM_JOINTS)

    @property
    def sensor(self) -> str:
        """The fixed joint of the URDF that is the force/torque sensor."""
        return f"{self.side[0]}_arm_ft_sensor"

    @property
    def sensor_frame(self) -> str:
        """The link below the sensor; the wrench is expressed in its frame, at its origin."""
        return f"{self.side[0]}_upper_arm"

    @property
    def shoulder(self) -> str:
        """The link above the sensor."""
        return f"{self.side[0]}_shoulder_3"

    @property
    def elbow(self) -> str:
        """The link between the elbow and the rotation of the forearm."""
        return f"{self.side[0]}_elbow_1"

    @property
    def hand(self) -> str:
        """The frame in the palm: follows the circles, and the payload's position is given in it."""
        return f"{self.side[0]}_hand_dh_frame"

    @cached_property
    def kinematics(self) -> RobotModel:
        """The seven-joint Pinocchio model, rotors included."""
        robot = RobotModel(find_urdf("icub"), self.joint_names)
        robot.model.armature = ROTOR_INERTIA
        return robot

    @cached_property
    def limits(self) -> tuple[Array, Array]:
        """Lowest and highest joint positions [rad], (7,) each."""
        model = self.kinematics.model
        return model.lowerPositionLimit.copy(), model.upperPositionLimit.copy()

    def hand_position(self, q: Array) -> Array:
        """Return the position of the hand in the root frame [m], (3,), at joint positions `q` (7,) [rad]."""
        robot = self.kinematics
        frame = robot.model.getFrameId(self.hand)
        pinocchio.framesForwardKinematics(robot.model, robot.data, q)
        return robot.data.oMf[frame].translation.copy()

    def physics(self) -> Any:
        """Return the MuJoCo model.

        Two sensors "force" and "torque" sit at the force/torque sensor, in the frame and with the sign of Pinocchio's
        joint force `data.f`; a massless body "payload" is fixed to the hand. The integrator is semi-implicit Euler
        with explicit damping: the acceleration of a step is exactly the change of velocity over it.
        """
        spec = mujoco.MjSpec.from_string(self._urdf())
        spec.option.timestep = TIME_STEP
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_EULER
        spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_EULERDAMP | mujoco.mjtDisableBit.mjDSBL_CONTACT)
        for name, inertia in zip(self.joint_names, ROTOR_INERTIA, strict=True):
            joint = spec.joint(name)
            joint.armature = inertia
            joint.damping = np.zeros_like(joint.damping)  # friction is an effect of its own
        spec.body(self.hand).add_body(name="payload")
        spec.body(self.sensor_frame).add_site(name="sensor")
        for name, kind in (("force", mujoco.mjtSensor.mjSENS_FORCE), ("torque", mujoco.mjtSensor.mjSENS_TORQUE)):
            spec.add_sensor(name=name, type=kind, objtype=mujoco.mjtObj.mjOBJ_SITE, objname="sensor")
        return spec.compile()

    def _urdf(self) -> str:
        """The URDF reduced to the links from the root to this arm and below, without shapes, other joints fixed."""
        root = read_urdf(find_urdf("icub"))
        # fusestatic would merge the links on both sides of the sensor (and lose mass).
        ElementTree.SubElement(ElementTree.SubElement(root, "mujoco"), "compiler", fusestatic="false")
        parents: dict[str, str] = {}
        for joint in root.findall("joint"):
            parents[_link(joint, "child")] = _link(joint, "parent")
            if joint.get("name") not in self.joint_names:
                joint.set("type", "fixed")

        def way_to_root(link: str) -> list[str]:
            return [link, *way_to_root(parents[link])] if link in parents else [link]

        first_moving = f"{self.side[0]}_shoulder_1"
        kept = set(way_to_root(self.hand))
        for link in root.findall("link"):
            name = link.get("name", "")
            if name not in kept and not (link.find("inertial") is not None and first_moving in way_to_root(name)):
                root.remove(link)
            for shape in [*link.findall("visual"), *link.findall("collision")]:
                link.remove(shape)
        links = {link.get("name") for link in root.findall("link")}
        for joint in root.findall("joint"):
            if _link(joint, "child") not in links:
                root.remove(joint)
        return ElementTree.tostring(root, encoding="unicode")


def _link(joint: ElementTree.Element, end: str) -> str:
    """The link at one end, "parent" or "child", of a joint of a URDF."""
    found = joint.find(end)
    return found.get("link", "") if found is not None else ""
