"""The robot's model for Gazebo, with a fixed base, controllers and a force/torque sensor, and the world around it."""

import hashlib
import os
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import numpy as np
import pinocchio
import yaml

from icub_learning.arrays import Array
from icub_learning.dynamics.regressors.robot_model import neutral
from icub_learning.errors import ModelError, ParameterError
from icub_learning.files import cache_folder, replacing
from icub_learning.robots import find_urdf, is_xml, link_at, read_urdf

RATE = 200  # [Hz] rate of the wrenches in simulated time; joint states come at each step of the physics
BANDWIDTH = 40.0  # [rad/s] bandwidth of position control
INTEGRAL_SHARE = 0.1  # integral gain relative to the one at the limit of stability
N_POSTURES = 200  # number of random postures over which the largest inertia at each joint is sought
# Topics of Gazebo Transport; config/gazebo_bridge.yaml connects them to ROS.
TOPICS = {name: f"/icub_learning/{name}" for name in ("joint_states", "wrench", "joint_trajectory")}
WORLD = "icub_learning"  # name of the world, which is part of the name of the clock's topic
ROBOT = "robot"
STEP_NS = 1_000_000  # [ns] step of the physics
HEIGHT = 1.5  # [m] height of the robot's root above the floor, which no arm reaches from there
GZ = "http://gazebosim.org/schema"
SYSTEMS = {  # plugins without which a robot does not move, measure or show
    "physics": "Physics", "forcetorque": "ForceTorque", "user-commands": "UserCommands",
    "scene-broadcaster": "SceneBroadcaster",
}  # fmt: skip
# Physics runs first, so that other systems read the state of the same step; gz-sim 9 does not ensure this by itself.
PHYSICS_PRIORITY = -64


def model_file(config: str | os.PathLike[str]) -> Path:
    """Write the model for a parameter file of inverse_dynamics into the user's cache, and return its path. Raises
    ParameterError, ModelError: the file (urdf, joints, sensor) or the URDF lacks what is needed."""
    return cached("gazebo_model", ".urdf", gazebo_model(*robot_of(config)))


def cached(name: str, suffix: str, text: str) -> Path:
    """Return the path of the cached file with this text, named after its digest; it is written if it is missing."""
    path = cache_folder() / f"{name}_{hashlib.sha256(text.encode()).hexdigest()[:16]}{suffix}"
    if not path.exists():
        with replacing(path, "w") as file:  # another launch may read it
            file.write(text)
    return path


def robot_of(config: str | os.PathLike[str]) -> tuple[str, tuple[str, ...], str]:
    """Return the URDF (path or text), moving joints and sensor named in a file. Raises ParameterError, ModelError."""
    try:
        settings = yaml.safe_load(Path(config).read_text())["inverse_dynamics"]["ros__parameters"]
        if (output := settings.get("output", "wrench")) != "wrench":
            raise ParameterError("output", output, "wrench: Gazebo measures no efforts")
        urdf, joints, sensor = (settings[name] for name in ("urdf", "joints", "sensor"))
    except (OSError, yaml.YAMLError, KeyError, TypeError, AttributeError) as error:
        bound = "a YAML file with inverse_dynamics: ros__parameters: urdf, joints, sensor"
        raise ParameterError("config", f"{config} ({error})", bound) from None
    if urdf == "topic":
        raise ParameterError("urdf", urdf, "the URDF's file: Gazebo's model is made of it before any node runs")
    return find_urdf(urdf), tuple(joints), sensor


def resource_path(config: str | os.PathLike[str], *more: str | os.PathLike[str]) -> str:
    """Return GZ_SIM_RESOURCE_PATH after the folders of the URDF's meshes (package://iCub/...) and `more`, joined."""
    urdf, _, _ = robot_of(config)
    folders = [] if is_xml(urdf) else _mesh_folders(Path(urdf).resolve())
    folders += [os.fspath(folder) for folder in more]
    return os.pathsep.join(filter(None, [*folders, os.environ.get("GZ_SIM_RESOURCE_PATH")]))


def gazebo_model(urdf: str, joints: Sequence[str], sensor: str) -> str:
    """Return the URDF (XML text) of a robot, given as path or text, that Gazebo can simulate for inverse_dynamics.

    The root is fixed to the world, and all joints but `joints` are fixed where the learner's model holds them. Relative
    file names of meshes count from the URDF's folder. Elements for other simulators are replaced by plugins of Gazebo
    that publish joint states and the wrench at `sensor`, and follow trajectories, on TOPICS. Limits that exclude 0 are
    widened to it: Gazebo starts every joint there. The sensor is a fixed joint. It measures the wrench of the link
    after the joint on the link before it, in the axes of the former, at the origin of the joint: `wrench_direction:
    child_to_parent` in parameter files. Raises ModelError: the text does not parse, or lacks a joint or the sensor.
    """
    robot = read_urdf(urdf)
    robot[:] = [element for element in robot if element.tag not in ("gazebo", "sensor", "transmission")]
    present = {joint.get("name", ""): joint for joint in robot.findall("joint")}
    for name in [*joints, sensor]:
        if name not in present:
            raise ModelError(f"the URDF has no joint {name}", name="joint", value=name)
    if present[sensor].get("type") != "fixed":
        raise ModelError(f"{sensor} is not a fixed joint", name="sensor", value=sensor, bound="a fixed joint")
    for shape in () if is_xml(urdf) else (*robot.iter("mesh"), *robot.iter("texture")):
        if (file := shape.get("filename", "")) and "://" not in file:
            shape.set("filename", str(Path(urdf).resolve().parent / file))
    _fix(robot, {name: joint for name, joint in present.items() if name not in joints})
    _fix_to_world(robot)
    for name in joints:
        _admit_zero(present[name])
    inertia, offset = _at_joints(ElementTree.tostring(robot, encoding="unicode"), joints)
    for name, damping in zip(joints, 2 * BANDWIDTH * inertia, strict=True):
        present[name][:] = [element for element in present[name] if element.tag != "dynamics"]
        ElementTree.SubElement(present[name], "dynamics", damping=f"{damping:.6g}", friction="0")
    robot.extend(_extensions(sensor, link_at(present[sensor], "child"), joints, inertia, offset))
    ElementTree.indent(robot)
    return ElementTree.tostring(robot, encoding="unicode")


def _fix(robot: ElementTree.Element, joints: dict[str, ElementTree.Element]) -> None:
    """Fix joints where the learner's model holds them: a fixed joint is at its origin, which is moved there."""
    model = pinocchio.buildModelFromXML(ElementTree.tostring(robot, encoding="unicode"))
    data = model.createData()
    pinocchio.forwardKinematics(model, data, neutral(model))
    for name, joint in joints.items():
        if model.existJointName(name) and not (moved := data.joints[model.getJointId(name)].M).isIdentity():
            origin = _child(joint, "origin")
            xyz, rpy = (np.array(origin.get(key, "0 0 0").split(), float) for key in ("xyz", "rpy"))
            placed = pinocchio.SE3(pinocchio.rpy.rpyToMatrix(rpy), xyz) * moved
            origin.set("xyz", " ".join(map(repr, placed.translation.tolist())))
            origin.set("rpy", " ".join(map(repr, pinocchio.rpy.matrixToRpy(placed.rotation).tolist())))
        joint.set("type", "fixed")
        joint[:] = [child for child in joint if child.tag in ("origin", "parent", "child")]


def _at_joints(urdf: str, joints: Sequence[str]) -> tuple[Array, Array]:
    """Return the largest inertia [kg m^2] at each joint over random postures, and the torques [N m] that hold the arm
    at position 0, where Gazebo starts it: without them it would sag until the integral has built up."""
    model = pinocchio.buildModelFromXML(urdf)
    data = model.createData()
    lower, upper = model.lowerPositionLimit, model.upperPositionLimit
    random = np.random.default_rng(0)
    postures = (pinocchio.normalize(model, random.uniform(lower, upper)) for _ in range(N_POSTURES))
    inertia = np.max([np.diag(pinocchio.crba(model, data, q)) for q in postures], axis=0)
    zero = np.zeros(model.nv)
    order = [model.joints[model.getJointId(name)].idx_v for name in joints]
    return inertia[order], pinocchio.rnea(model, data, pinocchio.neutral(model), zero, zero)[order].copy()


def _mesh_folders(urdf: Path) -> list[str]:
    """Return the folders X above a URDF whose files X/PACKAGE/FILE are its meshes package://PACKAGE/FILE."""
    meshes = {mesh.get("filename", "") for mesh in read_urdf(urdf).iter("mesh")}
    parts = sorted({name.removeprefix("package://") for name in meshes if name.startswith("package://")})
    found = (next((folder for folder in urdf.parents if (folder / part).is_file()), None) for part in parts)
    return list(dict.fromkeys(str(folder) for folder in found if folder))


def _fix_to_world(robot: ElementTree.Element) -> None:
    """Make a link named "world" the root; sdformat takes a link of this name as the world itself."""
    children = {link_at(joint, "child") for joint in robot.findall("joint")}
    root = next(link for link in robot.findall("link") if link.get("name") not in children)
    name = root.get("name", "")
    if root.find("inertial") is None:  # sdformat would drop a link without mass and everything attached to it
        for parent in (one for one in robot.findall("joint/parent") if one.get("link") == name):
            parent.set("link", "world")
        root.set("name", "world")
        return
    ElementTree.SubElement(robot, "link", name="world")
    joint = ElementTree.SubElement(robot, "joint", name="world_to_robot", type="fixed")
    ElementTree.SubElement(joint, "parent", link="world")
    ElementTree.SubElement(joint, "child", link=name)


def _admit_zero(joint: ElementTree.Element) -> None:
    """Widen limits that exclude 0: Gazebo starts every joint there, and a violated limit throws the arm into motion.
    A continuous joint has none, whatever its description says."""
    limit = joint.find("limit")
    if limit is not None and joint.get("type") == "continuous":
        limit.attrib = {name: text for name, text in limit.attrib.items() if name not in ("lower", "upper")}
    elif limit is not None:
        limit.set("lower", repr(min(float(limit.get("lower", "0")), 0.0)))
        limit.set("upper", repr(max(float(limit.get("upper", "0")), 0.0)))


def _extensions(sensor: str, child: str, joints: Sequence[str], inertia: Array, offset: Array) -> ElementTree.Element:
    """Return what Gazebo needs: the sensor on the joint above the link `child`, and plugins for the moving joints.

    Gains give each joint, with its largest inertia M, two equal poles at BANDWIDTH, the roots of M s^2 + damping s +
    proportional = 0; with a smaller inertia it is faster and more strongly damped. The integral gain, which carries the
    arm's weight, is stable below damping * proportional / M = 2 BANDWIDTH^3 M. The damping belongs to the joint, where
    the physics integrates it implicitly: neighbouring axes nearly in line (shoulder yaw and forearm) have so little
    inertia against each other that a controller's damping is unstable at 1 ms.
    """
    names = "".join(f"<joint_name>{escape(name)}</joint_name>" for name in joints)
    gains = {"p_gain": BANDWIDTH**2 * inertia, "i_gain": INTEGRAL_SHARE * 2 * BANDWIDTH**3 * inertia}
    gains["cmd_offset"] = offset  # each has one element for each joint, in the order of the joints' names
    numbers = "".join(f"<position_{tag}>{one:.6g}</position_{tag}>" for tag, own in gains.items() for one in own)
    # The sensor measures in the axes of gz_frame_id, which sdformat warns that it does not know, in the direction of
    # iCub's description, as the node's parameter wrench_direction says. preserveFixedJoint keeps sdformat from merging
    # the links of the sensor's joint, which would remove the sensor. Joint states come at each step: not every release
    # has an update_rate for them, and none lets one choose the phase.
    text = f"""<robot>
      <gazebo reference={quoteattr(sensor)}>
        <sensor name={quoteattr(sensor)} type="force_torque">
          <always_on>true</always_on>
          <update_rate>{RATE}</update_rate>
          <topic>{TOPICS["wrench"]}</topic>
          <gz_frame_id>{escape(child)}</gz_frame_id>
          <force_torque><frame>child</frame><measure_direction>child_to_parent</measure_direction></force_torque>
        </sensor>
      </gazebo>
      <gazebo reference={quoteattr(sensor)}><preserveFixedJoint>true</preserveFixedJoint></gazebo>
      <gazebo>
        <plugin filename="gz-sim-joint-state-publisher-system" name="gz::sim::systems::JointStatePublisher">
          <topic>{TOPICS["joint_states"]}</topic>{names}
        </plugin>
        <plugin filename="gz-sim-joint-trajectory-controller-system" name="gz::sim::systems::JointTrajectoryController">
          <topic>{TOPICS["joint_trajectory"]}</topic>{names}{numbers}
        </plugin>
      </gazebo>
    </robot>"""
    return ElementTree.fromstring(text)


def world_file(config: str | os.PathLike[str], world: str | os.PathLike[str]) -> Path:
    """Write the world with the robot of an inverse_dynamics parameter file into the user's cache; return its path.

    `world` is the SDF file of any world; see `gazebo_world` for what is changed in it. Raises ParameterError,
    ModelError: a file lacks what is needed.
    """
    try:
        text = Path(world).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f"{world} cannot be read: {error}", name="world", value=str(world)) from None
    return cached("gazebo_world", ".sdf", gazebo_world(text, model_file(config)))


def gazebo_world(sdf: str, model: str | os.PathLike[str]) -> str:
    """Return a world (SDF text) with a robot in it from the first step on, so that all stamps count from one instant.

    What the robot and the learner rely on replaces what the world says: its name, steps of 1 ms, the learner's gravity
    (9.81 m/s^2; sdformat's default is another), the systems of SYSTEMS, and a priority by which physics runs first.
    Raises ModelError: the text does not parse, or has no world.
    """
    try:
        root = ElementTree.fromstring(sdf)
    except ElementTree.ParseError as error:
        raise ModelError(f"the world does not parse: {error}", name="world", value=sdf[:80]) from None
    world = root.find("world")
    if world is None:
        raise ModelError("the SDF file has no world", name="world", value=root.tag, bound="<sdf><world>")
    ElementTree.register_namespace("gz", GZ)
    world.set("name", WORLD)
    _set(world, "gravity", " ".join(f"{value:g}" for value in pinocchio.Model.gravity981))
    _set(_child(world, "physics", name="1ms", type="ignored"), "max_step_size", f"{STEP_NS * 1e-9:g}")
    for file, kind in SYSTEMS.items():
        name = f"gz::sim::systems::{kind}"
        plugin = next((entry for entry in world.findall("plugin") if entry.get("name") == name), None)
        if plugin is None:
            plugin = ElementTree.SubElement(world, "plugin", filename=f"gz-sim-{file}-system", name=name)
        if kind == "Physics":
            _set(plugin, f"{{{GZ}}}system_priority", str(PHYSICS_PRIORITY))
    include = ElementTree.SubElement(world, "include")
    _set(include, "uri", os.fspath(model))
    _set(include, "name", ROBOT)
    _set(include, "pose", f"0 0 {HEIGHT:g} 0 0 0")
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True)


def _set(parent: ElementTree.Element, tag: str, text: str) -> None:
    _child(parent, tag).text = text


def _child(parent: ElementTree.Element, tag: str, **attributes: str) -> ElementTree.Element:
    """Return the first element of this kind; a new one with the attributes if there is none."""
    found = parent.find(tag)
    return ElementTree.SubElement(parent, tag, attributes) if found is None else found
