"""A robot's URDF with learned inertial parameters in place of its own."""

from collections.abc import Sequence
from xml.etree import ElementTree

import numpy as np
import pinocchio

from icub_learning.arrays import Array
from icub_learning.dynamics.changes.consistency import bodies_of, is_consistent, possible
from icub_learning.dynamics.changes.load import about_centre
from icub_learning.dynamics.regressors.link_effects import from_pseudo_inertia, pseudo_inertia
from icub_learning.dynamics.regressors.robot_model import RobotModel, absent
from icub_learning.errors import ModelError
from icub_learning.robots import Urdf, link_at, read_urdf


def with_inertias(
    urdf: Urdf, joints: Sequence[str], sensor: str | None, names: Sequence[str], parameters: Array
) -> tuple[str, list[str]]:
    """Return the XML text of a URDF with other inertial parameters, and a note on each body that had to be made
    another.

    A body of the regressor is a link that a learned joint (or the sensor) moves with all that is tied to it. Its whole
    inertia goes to that link; links that fixed joints tie to it lose their own inertia. Links beyond joints that were
    not learned keep theirs, and the moving link gets what is left.

    `urdf` is a path or XML text, `joints` are the learned ones, `sensor` the fixed joint of the force/torque sensor if
    a wrench was learned; `parameters` (n_parameters,) are physically consistent, see ConsistentParameters, and `names`
    those of the regressor. Raises ModelError: the URDF lacks a joint or a link, or a body is not possible.
    """
    root, robot = read_urdf(urdf), RobotModel(urdf, joints, sensor)
    links = {link.get("name", ""): link for link in root.findall("link")}
    full = pinocchio.buildModelFromXML(robot.urdf)
    resting = [joint for joint in root.findall("joint") if joint.get("name") not in (*joints, sensor)]
    notes = []
    for body in bodies_of(names):
        if (name := names[body[0]].rpartition(".")[0]) not in links:
            raise absent("link", name, list(links), "urdf")
        own = parameters[body]
        if not is_consistent(own):
            text = f"the parameters of {name!r} are those of no possible body"
            raise ModelError(text, name=name, value=own.tolist(), bound="physically consistent")
        kept = np.zeros(10)
        for joint in _below(name, resting):
            if joint.get("name") in robot.known_joints:  # it can move, though it was not learned
                frame = robot.model.frames[robot.frame_of(link_at(joint, "child"))]
                kept += frame.placement.act(full.inertias[full.getJointId(joint.get("name"))]).toDynamicParameters()
        for joint in _below(name, [joint for joint in resting if joint.get("type") == "fixed"]):
            link = links[link_at(joint, "child")]
            for inertial in link.findall("inertial"):
                link.remove(inertial)
        rest = pseudo_inertia(own - kept)
        left = from_pseudo_inertia(rest)
        if not is_consistent(left):
            left = from_pseudo_inertia(possible(rest))
            text = f"{name}: less was learned than the links beyond it weigh; it was made the lightest possible"
            notes.append(f"{text}, by {left[0] - own[0] + kept[0]:+.3g} kg")
        _write(links[name], left)
    return ElementTree.tostring(root, encoding="unicode"), notes


def _below(link: str, joints: Sequence[ElementTree.Element]) -> list[ElementTree.Element]:
    """Return those of the joints that lie beyond a link in the kinematic tree."""
    found = []
    for joint in joints:
        if link_at(joint, "parent") == link:
            found += [joint, *_below(link_at(joint, "child"), joints)]
    return found


def _write(link: ElementTree.Element, parameters: Array) -> None:
    """Replace the inertia of a link by ten inertial parameters."""
    for old in link.findall("inertial"):
        link.remove(old)
    inertial, centre = ElementTree.Element("inertial"), parameters[1:4] / parameters[0]
    ElementTree.SubElement(inertial, "origin", xyz=" ".join(repr(float(value)) for value in centre), rpy="0 0 0")
    ElementTree.SubElement(inertial, "mass", value=repr(float(parameters[0])))
    about = about_centre(parameters)
    axes = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
    ElementTree.SubElement(inertial, "inertia", {name: repr(float(about[place])) for name, place in axes.items()})
    link.insert(0, inertial)
