"""The iCub as Gazebo needs it: fixed to the world, the learned joints moved by controllers, a sensor at the arm."""

import hashlib
import os
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio
import yaml

from icub_learning.errors import ModelError, ParameterError
from icub_learning.files import cache_folder, replacing
from icub_learning.robots import find_urdf

RATE = 200  # [Hz] of joint states and wrenches, in simulated time
# Topics of Gazebo Transport; config/gazebo_bridge.yaml takes them to ROS.
TOPICS = {name: f"/icub_learning/{name}" for name in ("joint_states", "wrench", "joint_trajectory")}
BANDWIDTH = 40.0  # [rad/s] of the joints' position control
N_POSTURES = 200  # over which the largest inertia at a joint is sought


def model_file(config: str | os.PathLike[str]) -> Path:
    """Write the model that fits a parameter file of inverse_dynamics into the user's cache.

    Args:
        config: the YAML file, with urdf, joints and sensor.

    Returns:
        The file; the same one for the same model.

    Raises:
        ParameterError, ModelError: the parameter file or the URDF does not hold what is needed.
    """
    settings = _settings(config)
    text = gazebo_model(_urdf_text(settings["urdf"]), settings["joints"], settings["sensor"])
    path = cache_folder() / f"gazebo_model_{hashlib.sha256(text.encode()).hexdigest()[:16]}.urdf"
    if not path.exists():
        with replacing(path, "w") as file:  # another launch may read it
            file.write(text)
    return path


def resource_path(config: str | os.PathLike[str]) -> str:
    """Return GZ_SIM_RESOURCE_PATH with the folder in which Gazebo finds the meshes (package://iCub/... in the URDF)."""
    urdf = find_urdf(_settings(config)["urdf"])
    folders = [os.environ.get("GZ_SIM_RESOURCE_PATH", "")]
    if not urdf.lstrip().startswith("<"):
        folders.insert(0, str(_share_folder(Path(urdf).resolve())))
    return os.pathsep.join(filter(None, folders))


def gazebo_model(urdf: str, joints: Sequence[str], sensor: str) -> str:
    """Return the URDF of a robot that Gazebo can simulate for the inverse dynamics node.

    The root is fixed to the world, and so are all joints but `joints`: the learner's model has them fixed too. What
    the description says to simulators is replaced: joint states and the wrench at `sensor` are published and
    trajectories are followed on TOPICS by systems that come with Gazebo.

    Args:
        urdf: XML text.
        joints: those that move.
        sensor: a fixed joint. Its wrench comes in the axes of the link after the joint, at the origin of the joint,
            as what the link before it applies to the link after it (WrenchRegressor measures so too).

    Raises:
        ModelError: the text does not parse, or lacks a joint or the sensor.
    """
    try:
        robot = ElementTree.fromstring(urdf)
    except ElementTree.ParseError as error:
        raise ModelError(f"the URDF does not parse: {error}", name="urdf", value=urdf[:80]) from None
    for tag in ("gazebo", "sensor", "transmission"):
        for element in robot.findall(tag):
            robot.remove(element)
    present = {joint.get("name", ""): joint for joint in robot.findall("joint")}
    for name in [*joints, sensor]:
        if name not in present:
            raise ModelError(f"the URDF has no joint {name}", name="joint", value=name)
    if present[sensor].get("type") != "fixed":
        raise ModelError(f"{sensor} is no fixed joint", name="sensor", value=sensor, bound="a fixed joint")
    for name, joint in present.items():
        if name not in joints:
            _fix(joint)
    _fix_to_world(robot)
    control = _position_control(ElementTree.tostring(robot, encoding="unicode"), joints)
    for name, damping in zip(joints, control.damping, strict=True):
        _damp(present[name], damping)
    robot.extend([_sensor(sensor), _preserved(sensor), _systems(joints, control)])
    ElementTree.indent(robot)
    return ElementTree.tostring(robot, encoding="unicode")


def _settings(config: str | os.PathLike[str]) -> dict[str, Any]:
    try:
        settings = yaml.safe_load(Path(config).read_text())["inverse_dynamics"]["ros__parameters"]
        return {name: settings[name] for name in ("urdf", "joints", "sensor")}
    except (OSError, yaml.YAMLError, KeyError, TypeError) as error:
        bound = "a YAML file with inverse_dynamics: ros__parameters: urdf, joints and sensor"
        raise ParameterError("config", f"{config} ({error})", bound) from None


def _urdf_text(robot: str) -> str:
    found = find_urdf(robot)
    return found if found.lstrip().startswith("<") else Path(found).read_text()


def _share_folder(urdf: Path) -> Path:
    """The folder X of X/iCub/robots/NAME/model.urdf: package://iCub/meshes means X/iCub/meshes."""
    return next((folder.parent for folder in urdf.parents if (folder / "meshes").is_dir()), urdf.parent)


def _fix(joint: ElementTree.Element) -> None:
    joint.set("type", "fixed")
    for child in list(joint):
        if child.tag not in ("origin", "parent", "child"):
            joint.remove(child)


def _fix_to_world(robot: ElementTree.Element) -> None:
    """Make a link named "world" the root, which sdformat takes for the world itself."""
    children = {joint.find("child").get("link") for joint in robot.findall("joint")}  # type: ignore[union-attr]
    root = next(link for link in robot.findall("link") if link.get("name") not in children)
    name = root.get("name")
    if root.find("inertial") is None:  # sdformat drops a link without mass, and all that hangs on it
        for joint in robot.findall("joint"):
            parent = joint.find("parent")
            if parent is not None and parent.get("link") == name:
                parent.set("link", "world")
        root.set("name", "world")
        return
    robot.append(ElementTree.Element("link", name="world"))
    joint = _child(robot, "joint", name="world_to_robot", type="fixed")
    _child(joint, "parent", link="world")
    _child(joint, "child", link=str(name))


@dataclass(frozen=True)
class _PositionControl:
    """Of each moving joint."""

    initial: np.ndarray  # [rad], what is held until a trajectory comes: 0, clipped into the joint's limits
    proportional: np.ndarray  # [N m/rad]
    integral: np.ndarray  # [N m/(rad s)]
    damping: np.ndarray  # [N m s/rad]


def _position_control(urdf: str, joints: Sequence[str]) -> _PositionControl:
    """Position control in which a joint with the inertia M has a pair of poles at BANDWIDTH, critically damped.

    The integral part, which carries the arm's weight, is a tenth of what would make it unstable. M is the largest over
    random postures: with less inertia the joint is faster and damped more strongly. Damping belongs to the joint, not
    to the controller: neighbouring axes nearly in line (shoulder yaw and forearm) have so little inertia against each
    other that damping by a controller is unstable at 1 ms, while physics integrates that of a joint implicitly.
    """
    model = pinocchio.buildModelFromXML(urdf)
    data = model.createData()
    random = np.random.default_rng(0)
    inertia = np.zeros(model.nv)
    for _ in range(N_POSTURES):
        posture = random.uniform(model.lowerPositionLimit, model.upperPositionLimit)
        inertia = np.maximum(inertia, np.diag(pinocchio.crba(model, data, posture)))
    order = [model.joints[model.getJointId(name)].idx_v for name in joints]
    inertia = inertia[order]
    return _PositionControl(
        initial=np.clip(0.0, model.lowerPositionLimit, model.upperPositionLimit)[order],
        proportional=BANDWIDTH**2 * inertia,
        integral=0.2 * BANDWIDTH**3 * inertia,
        damping=2 * BANDWIDTH * inertia,
    )


def _damp(joint: ElementTree.Element, damping: float) -> None:
    for dynamics in joint.findall("dynamics"):
        joint.remove(dynamics)
    _child(joint, "dynamics", damping=f"{damping:.6g}", friction="0")


def _sensor(joint: str) -> ElementTree.Element:
    gazebo = ElementTree.Element("gazebo", reference=joint)
    sensor = _child(gazebo, "sensor", name=joint, type="force_torque")
    _child(sensor, "always_on", "true")
    _child(sensor, "update_rate", str(RATE))
    _child(sensor, "topic", TOPICS["wrench"])
    settings = _child(sensor, "force_torque")
    _child(settings, "frame", "child")
    # As iCub's own description has it; the node is told by its parameter wrench_direction.
    _child(settings, "measure_direction", "child_to_parent")
    return gazebo


def _preserved(joint: str) -> ElementTree.Element:
    """Without this, sdformat would merge the two links of a fixed joint, and the sensor would be lost."""
    gazebo = ElementTree.Element("gazebo", reference=joint)
    _child(gazebo, "preserveFixedJoint", "true")
    return gazebo


def _systems(joints: Sequence[str], control: _PositionControl) -> ElementTree.Element:
    gazebo = ElementTree.Element("gazebo")
    states = _system(gazebo, "joint-state-publisher", "JointStatePublisher", TOPICS["joint_states"], joints)
    _child(states, "update_rate", str(RATE))
    follow = _system(
        gazebo, "joint-trajectory-controller", "JointTrajectoryController", TOPICS["joint_trajectory"], joints
    )
    columns = (
        ("initial_position", control.initial),
        ("position_p_gain", control.proportional),
        ("position_i_gain", control.integral),
    )
    for tag, values in columns:  # one element for each joint, in the order of the joints' names
        for value in values:
            _child(follow, tag, f"{value:.6g}")
    return gazebo


def _system(
    parent: ElementTree.Element, file: str, kind: str, topic: str, joints: Iterable[str]
) -> ElementTree.Element:
    plugin = _child(parent, "plugin", filename=f"gz-sim-{file}-system", name=f"gz::sim::systems::{kind}")
    _child(plugin, "topic", topic)
    for name in joints:
        _child(plugin, "joint_name", name)
    return plugin


def _child(parent: ElementTree.Element, tag: str, text: str | None = None, **attributes: str) -> ElementTree.Element:
    element = ElementTree.SubElement(parent, tag, attributes)
    element.text = text
    return element
