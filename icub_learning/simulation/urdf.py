"""Edits of URDFs that the simulators have in common."""

from collections.abc import Collection
from xml.etree import ElementTree


def joint_link(joint: ElementTree.Element, end: str) -> str:
    """Return the name of the link at the "parent" or "child" end of a joint."""
    found = joint.find(end)
    return found.get("link", "") if found is not None else ""


def links_to_root(robot: ElementTree.Element, link: str) -> list[str]:
    """Return the names of the links from `link` up to the root of the robot."""
    parents = {joint_link(joint, "child"): joint_link(joint, "parent") for joint in robot.findall("joint")}
    chain = [link]
    while chain[-1] in parents:
        chain.append(parents[chain[-1]])
    return chain


def reduce_robot(robot: ElementTree.Element, links: Collection[str], moving: Collection[str]) -> None:
    """Remove all links but `links`, with their joints, and fix all joints but `moving`."""
    for link in robot.findall("link"):
        if link.get("name") not in links:
            robot.remove(link)
    for joint in robot.findall("joint"):
        if joint_link(joint, "child") not in links:
            robot.remove(joint)
        elif joint.get("name") not in moving:
            joint.set("type", "fixed")


def add_mujoco_options(robot: ElementTree.Element, **options: str) -> None:
    """Add options for MuJoCo's compiler, in which fixed joints do not merge their links."""
    mujoco = ElementTree.SubElement(robot, "mujoco")
    ElementTree.SubElement(mujoco, "compiler", {"fusestatic": "false", **options})
