"""Which robot, and which force/torque sensor of it, messages are from, where nobody says so."""

from collections.abc import Sequence
from xml.etree import ElementTree

from icub_learning.dynamics.regressors.robot_model import joint_names, link_at, read_urdf
from icub_learning.errors import ModelError
from icub_learning.robots import KNOWN_ROBOTS, find_urdf

SENSOR_WORDS = ("ft_sensor", "force_torque", "ft_joint", "ft300", "wrench")


def guess_robot(names: Sequence[str]) -> str | None:
    """Return the known robot whose URDF has all joints of these names; None where there is none."""
    for robot in KNOWN_ROBOTS:
        try:
            known = joint_names(find_urdf(robot))
        except ModelError:
            continue  # its description is not installed
        if names and set(names) <= set(known):
            return robot
    return None


def guess_sensor(urdf: str, names: Sequence[str], frame: str = "") -> str:
    """Return the fixed joint of a force/torque sensor that most of the joints `names` have to do with; "" without any.

    The one at the frame of the wrenches goes first. Raises ModelError: the URDF (path or XML text) cannot be read.
    """
    root = read_urdf(urdf)
    fixed = [joint for joint in root.findall("joint") if joint.get("type") == "fixed"]
    if frame and (leading := [joint for joint in fixed if link_at(joint, "child") == frame.lstrip("/")]):
        return leading[0].get("name", "")
    sensors = [joint for joint in fixed if any(word in joint.get("name", "").lower() for word in SENSOR_WORDS)]
    related = {joint.get("name", ""): _related(root, joint, set(names)) for joint in sensors}
    best = max(related, key=lambda name: related[name], default="")
    return best if best and related[best] else ""


def _related(root: ElementTree.Element, sensor: ElementTree.Element, names: set[str]) -> int:
    """How many of the named joints come before or after a sensor in the tree."""
    joints = root.findall("joint")
    above, below = {link_at(sensor, "parent")}, {link_at(sensor, "child")}
    count = 0
    for _ in joints:  # at most as many steps as there are joints
        for joint in joints:
            name, parent, child = joint.get("name", ""), link_at(joint, "parent"), link_at(joint, "child")
            if child in above and parent not in above:
                above.add(parent)
                count += name in names
            elif parent in below and child not in below:
                below.add(child)
                count += name in names
    return count
