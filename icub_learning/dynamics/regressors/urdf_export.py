"""A robot's URDF with learned inertial parameters in place of its own."""

import os
from collections.abc import Sequence
from xml.etree import ElementTree

import numpy as np
import pinocchio

from icub_learning.arrays import Array
from icub_learning.dynamics.changes.consistency import bodies_of, is_consistent, possible
from icub_learning.dynamics.changes.load import about_centre
from icub_learning.dynamics.regressors.link_effects import (
    from_pseudo_inertia,
    parameters_in_frame,
    pseudo_inertia,
)
from icub_learning.dynamics.regressors.robot_model import RobotModel, child_link, read_urdf
from icub_learning.errors import ModelError


def with_inertias(
    urdf: str | os.PathLike[str], joints: Sequence[str], sensor: str | None, names: Sequence[str], parameters: Array
) -> tuple[str, list[str]]:
    """Return the XML text of a URDF with other inertial parameters, and what had to be changed further, in words.

    A body of the regressor is a link that a learned joint (or the sensor) moves with all that is tied to it. It goes to
    that link as a whole; links that fixed joints tie to it lose their own inertia. Links beyond joints that were not
    learned keep theirs, and the moving link gets what is left.

    Args:
        urdf: path or XML text of the whole robot.
        joints: the learned joints.
        sensor: fixed joint of the force/torque sensor, if a wrench was learned.
        names: names of the regressor's parameters.
        parameters: (n_parameters,), physically consistent, see ConsistentParameters.

    Raises:
        ModelError: the URDF lacks a joint or a link, or a body is not possible.
    """
    root, robot = read_urdf(urdf), RobotModel(urdf, joints, sensor)
    links = {link.get("name", ""): link for link in root.findall("link")}
    full = pinocchio.buildModelFromXML(robot.urdf)
    children: dict[str, list[ElementTree.Element]] = {}
    for joint in root.findall("joint"):
        parent = joint.find("parent")
        children.setdefault(parent.get("link", "") if parent is not None else "", []).append(joint)
    moving = {*joints, *([sensor] if sensor else [])}
    notes = []
    for body in bodies_of(names):
        name = names[body[0]].rpartition(".")[0]
        if name not in links:
            raise ModelError(f"the URDF has no link {name!r}", name="urdf", value=name, bound="a link of the robot")
        own = parameters[body]
        if not is_consistent(own):
            text = f"the parameters of {name!r} are those of no possible body"
            raise ModelError(text, name=name, value=own.tolist(), bound="physically consistent")
        kept = np.zeros(10)
        for joint in _tied(name, children, moving):
            child = child_link(joint)
            if joint.get("name") in robot.known_joints:  # it can move, though it was not learned
                kept += _of_held(robot, full, joint.get("name", ""), child)
        for link in _fixed_to(name, children, moving):
            inertial = links[link].find("inertial")
            if inertial is not None:
                links[link].remove(inertial)
        rest = pseudo_inertia(own - kept)
        left = from_pseudo_inertia(rest)
        if not is_consistent(left):
            left = from_pseudo_inertia(possible(rest))
            notes.append(f"{name}: less was learned than the links beyond it weigh; it was made the lightest possible")
        _write(links[name], left)
    return ElementTree.tostring(root, encoding="unicode"), notes


def _tied(link: str, children: dict[str, list[ElementTree.Element]], moving: set[str]) -> list[ElementTree.Element]:
    """All joints below a link that do not move in the regressor."""
    found = []
    for joint in children.get(link, []):
        if joint.get("name") not in moving:
            found += [joint, *_tied(child_link(joint), children, moving)]
    return found


def _fixed_to(link: str, children: dict[str, list[ElementTree.Element]], moving: set[str]) -> list[str]:
    """All links that fixed joints alone tie to a link."""
    found = []
    for joint in children.get(link, []):
        if joint.get("type") == "fixed" and joint.get("name") not in moving:
            found += [child_link(joint), *_fixed_to(child_link(joint), children, moving)]
    return found


def _of_held(robot: RobotModel, full: "pinocchio.Model", joint: str, link: str) -> Array:
    """Parameters (10,) that a held joint's body adds to the body that carries it."""
    placement = robot.model.frames[robot.model.getFrameId(link)].placement.homogeneous
    own: Array = full.inertias[full.getJointId(joint)].toDynamicParameters()
    return parameters_in_frame(placement) @ own


def _write(link: ElementTree.Element, parameters: Array) -> None:
    """Replace the inertia of a link by ten inertial parameters."""
    old = link.find("inertial")
    if old is not None:
        link.remove(old)
    inertial = ElementTree.Element("inertial")
    centre = parameters[1:4] / parameters[0]
    ElementTree.SubElement(inertial, "origin", xyz=" ".join(repr(float(value)) for value in centre), rpy="0 0 0")
    ElementTree.SubElement(inertial, "mass", value=repr(float(parameters[0])))
    about = about_centre(parameters)
    axes = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
    ElementTree.SubElement(inertial, "inertia", {name: repr(float(about[place])) for name, place in axes.items()})
    link.insert(0, inertial)
