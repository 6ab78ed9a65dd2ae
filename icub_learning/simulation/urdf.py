"""Edits of URDFs that the simulators have in common."""

from collections.abc import Collection
from xml.etree import ElementTree

from icub_learning.robots import link_at


def reduced_robot(
    robot: ElementTree.Element, links: Collection[str], moving: Collection[str], visible: Collection[str] = (),
    **options: str,
) -> str:  # fmt: skip
    """Return the XML text of a robot, changed in place, with these links only; the visible ones keep their visuals.

    All joints but `moving` are fixed; MuJoCo's compiler gets the options, and does not merge links at fixed joints.
    """
    for link in robot.findall("link"):
        if link.get("name") not in links:
            robot.remove(link)
        hidden = ("collision",) if link.get("name") in visible else ("collision", "visual")
        link[:] = [element for element in link if element.tag not in hidden]
    for joint in robot.findall("joint"):
        if link_at(joint, "child") not in links:
            robot.remove(joint)
        elif joint.get("name") not in moving:
            joint.set("type", "fixed")
    ElementTree.SubElement(ElementTree.SubElement(robot, "mujoco"), "compiler", {"fusestatic": "false", **options})
    return ElementTree.tostring(robot, encoding="unicode")
