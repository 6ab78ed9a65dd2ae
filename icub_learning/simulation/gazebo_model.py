"""The URDF of a robot as Gazebo needs it: fixed to the world, with joint controllers and a force/torque sensor."""

import hashlib
import os
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from icub_learning.errors import ModelError, ParameterError
from icub_learning.files import cache_folder, replacing
from icub_learning.robots import find_urdf
from icub_learning.simulation.gazebo_control import PositionControl, position_control
from icub_learning.simulation.urdf import joint_link

RATE = 200  # [Hz] of joint states and wrenches, in simulated time
# Topics of Gazebo Transport; config/gazebo_bridge.yaml connects them to ROS.
TOPICS = {name: f"/icub_learning/{name}" for name in ("joint_states", "wrench", "joint_trajectory")}


def model_file(config: str | os.PathLike[str]) -> Path:
    """Write the model for a parameter file of inverse_dynamics into the user's cache, and return its path.

    The name of the file contains a digest of the model, so that equal models share one file.

    Args:
        config: the YAML file, with urdf, joints and sensor.

    Raises:
        ParameterError, ModelError: the parameter file or the URDF lacks what is needed.
    """
    settings = _settings(config)
    urdf = find_urdf(settings["urdf"])
    text = urdf if _is_xml(urdf) else Path(urdf).read_text()
    text = gazebo_model(text, settings["joints"], settings["sensor"])
    path = cache_folder() / f"gazebo_model_{hashlib.sha256(text.encode()).hexdigest()[:16]}.urdf"
    if not path.exists():
        with replacing(path, "w") as file:  # another launch may read it
            file.write(text)
    return path


def resource_path(config: str | os.PathLike[str]) -> str:
    """Return GZ_SIM_RESOURCE_PATH with the folder in which Gazebo finds the meshes (package://iCub/... in the URDF)."""
    urdf = find_urdf(_settings(config)["urdf"])
    folders = [os.environ.get("GZ_SIM_RESOURCE_PATH", "")]
    if not _is_xml(urdf):
        folders.insert(0, str(_share_folder(Path(urdf).resolve())))
    return os.pathsep.join(filter(None, folders))


def gazebo_model(urdf: str, joints: Sequence[str], sensor: str) -> str:
    """Return the URDF of a robot that Gazebo can simulate for the inverse dynamics node.

    The root is fixed to the world, and all joints but `joints` are fixed, as in the learner's model. Elements for other
    simulators are replaced by plugins of Gazebo that publish joint states and the wrench at `sensor`, and follow
    trajectories, on TOPICS.

    Args:
        urdf: XML text.
        joints: names of the joints that move.
        sensor: a fixed joint. Its wrench is that of the link before the joint on the link after it, in the axes of the
            latter, at the origin of the joint; WrenchRegressor uses the same convention.

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
        raise ModelError(f"{sensor} is not a fixed joint", name="sensor", value=sensor, bound="a fixed joint")
    for name, joint in present.items():
        if name not in joints:
            _fix(joint)
    _fix_to_world(robot)
    control = position_control(ElementTree.tostring(robot, encoding="unicode"), joints)
    for name, damping in zip(joints, control.damping, strict=True):
        _set_damping(present[name], damping)
    robot.extend([_sensor(sensor), _preserved(sensor), _plugins(joints, control)])
    ElementTree.indent(robot)
    return ElementTree.tostring(robot, encoding="unicode")


def _settings(config: str | os.PathLike[str]) -> dict[str, Any]:
    try:
        settings = yaml.safe_load(Path(config).read_text())["inverse_dynamics"]["ros__parameters"]
        return {name: settings[name] for name in ("urdf", "joints", "sensor")}
    except (OSError, yaml.YAMLError, KeyError, TypeError) as error:
        bound = "a YAML file with inverse_dynamics: ros__parameters: urdf, joints and sensor"
        raise ParameterError("config", f"{config} ({error})", bound) from None


def _is_xml(urdf: str) -> bool:
    return urdf.lstrip().startswith("<")


def _share_folder(urdf: Path) -> Path:
    """Return the folder X for a file X/iCub/robots/NAME/model.urdf: package://iCub/meshes is X/iCub/meshes."""
    return next((folder.parent for folder in urdf.parents if (folder / "meshes").is_dir()), urdf.parent)


def _fix(joint: ElementTree.Element) -> None:
    joint.set("type", "fixed")
    for child in list(joint):
        if child.tag not in ("origin", "parent", "child"):
            joint.remove(child)


def _fix_to_world(robot: ElementTree.Element) -> None:
    """Make a link named "world" the root; sdformat takes a link of this name as the world itself."""
    children = {joint_link(joint, "child") for joint in robot.findall("joint")}
    root = next(link for link in robot.findall("link") if link.get("name") not in children)
    name = root.get("name", "")
    if root.find("inertial") is None:  # sdformat would drop a link without mass and everything attached to it
        for joint in robot.findall("joint"):
            parent = joint.find("parent")
            if parent is not None and parent.get("link") == name:
                parent.set("link", "world")
        root.set("name", "world")
        return
    robot.append(ElementTree.Element("link", name="world"))
    joint = _child(robot, "joint", name="world_to_robot", type="fixed")
    _child(joint, "parent", link="world")
    _child(joint, "child", link=name)


def _set_damping(joint: ElementTree.Element, damping: float) -> None:
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
    # As in iCub's own description; the node's parameter wrench_direction is set accordingly.
    _child(settings, "measure_direction", "child_to_parent")
    return gazebo


def _preserved(joint: str) -> ElementTree.Element:
    """Keep sdformat from merging the two links of the sensor's joint, which would remove the sensor."""
    gazebo = ElementTree.Element("gazebo", reference=joint)
    _child(gazebo, "preserveFixedJoint", "true")
    return gazebo


def _plugins(joints: Sequence[str], control: PositionControl) -> ElementTree.Element:
    gazebo = ElementTree.Element("gazebo")
    states = _plugin(gazebo, "joint-state-publisher", "JointStatePublisher", TOPICS["joint_states"], joints)
    _child(states, "update_rate", str(RATE))
    topic = TOPICS["joint_trajectory"]
    controller = _plugin(gazebo, "joint-trajectory-controller", "JointTrajectoryController", topic, joints)
    for tag, values in (
        ("initial_position", control.initial),
        ("position_p_gain", control.proportional),
        ("position_i_gain", control.integral),
    ):
        for value in values:  # one element for each joint, in the order of the joints' names
            _child(controller, tag, f"{value:.6g}")
    return gazebo


def _plugin(
    gazebo: ElementTree.Element, file: str, kind: str, topic: str, joints: Sequence[str]
) -> ElementTree.Element:
    plugin = _child(gazebo, "plugin", filename=f"gz-sim-{file}-system", name=f"gz::sim::systems::{kind}")
    _child(plugin, "topic", topic)
    for name in joints:
        _child(plugin, "joint_name", name)
    return plugin


def _child(parent: ElementTree.Element, tag: str, text: str | None = None, **attributes: str) -> ElementTree.Element:
    element = ElementTree.SubElement(parent, tag, attributes)
    element.text = text
    return element
