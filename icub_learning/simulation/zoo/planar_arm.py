"""The URDF of an arm whose links swing in one vertical plane: its dynamics can be written down by hand."""

from collections.abc import Sequence
from xml.etree import ElementTree


def planar_arm_urdf(lengths: Sequence[float], masses: Sequence[float]) -> str:
    """Return the URDF of uniform rods [m, kg] hinged to each other about the horizontal y axis, as XML text.

    Link k is "link_k" on the joint "joint_k", k from 1 on; at 0 every rod points along the x axis of the one before.
    """
    robot = ElementTree.Element("robot", name="planar_arm")
    ElementTree.SubElement(robot, "link", name="base")
    parent, start = "base", 0.0
    for number, (length, mass) in enumerate(zip(lengths, masses, strict=True), 1):
        link = ElementTree.SubElement(robot, "link", name=f"link_{number}")
        inertial = ElementTree.SubElement(link, "inertial")
        ElementTree.SubElement(inertial, "origin", xyz=f"{length / 2} 0 0")
        ElementTree.SubElement(inertial, "mass", value=str(mass))
        across, along = mass * length**2 / 12, mass * length**2 / 1200
        moments = {"ixx": along, "iyy": across, "izz": across, "ixy": 0.0, "ixz": 0.0, "iyz": 0.0}
        ElementTree.SubElement(inertial, "inertia", {name: str(value) for name, value in moments.items()})
        joint = ElementTree.SubElement(robot, "joint", name=f"joint_{number}", type="revolute")
        ElementTree.SubElement(joint, "origin", xyz=f"{start} 0 0")
        ElementTree.SubElement(joint, "parent", link=parent)
        ElementTree.SubElement(joint, "child", link=f"link_{number}")
        ElementTree.SubElement(joint, "axis", xyz="0 1 0")
        ElementTree.SubElement(joint, "limit", lower="-3", upper="3", effort="200", velocity="10")
        parent, start = f"link_{number}", length
    return ElementTree.tostring(robot, encoding="unicode")
