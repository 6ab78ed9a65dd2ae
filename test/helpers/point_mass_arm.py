"""An arm of point masses, as URDF text and, without any robotics library, by Newton's law on every point."""

from xml.etree import ElementTree

import numpy as np
from scipy.spatial.transform import Rotation

JOINTS = ("turn", "spin", "slide")
SENSOR = "sensor"
# name, type, axis, xyz, rpy; each joint carries the link of the same name + "_link"; `tip` is rigidly part of `slide`
_CHAIN = (
    ("turn", "revolute", (0.6, 0.0, 0.8), (0.1, -0.2, 0.3), (0.3, -0.5, 0.8)),
    ("sensor", "fixed", None, (0.05, 0.1, 0.2), (-0.7, 0.2, 1.1)),
    ("spin", "continuous", (0.0, 1.0, 0.0), (0.2, 0.0, -0.1), (0.1, 0.9, -0.4)),
    ("slide", "prismatic", (1.0, 0.0, 0.0), (-0.1, 0.15, 0.1), (1.2, 0.1, 0.6)),
    ("tip", "fixed", None, (0.1, 0.1, 0.05), (0.4, -1.0, 0.2)),
)

_random = np.random.default_rng(3)
# link name: masses (5,) [kg] and positions (5, 3) in the link's frame [m]
POINTS = {name: (_random.uniform(0.2, 1.0, 5), _random.uniform(-0.2, 0.2, (5, 3))) for name, *_ in _CHAIN}


def urdf():
    """Return the arm's URDF as text."""
    robot, parent = ElementTree.Element("robot", name="point_mass_arm"), "base"
    ElementTree.SubElement(robot, "link", name=parent)
    for name, kind, axis, xyz, rpy in _CHAIN:
        masses, points = POINTS[name]
        centre = masses @ points / masses.sum()
        arms = points - centre
        inertia = np.sum(masses * np.sum(arms**2, axis=1)) * np.eye(3) - (masses * arms.T) @ arms
        link = ElementTree.SubElement(robot, "link", name=f"{name}_link")
        inertial = ElementTree.SubElement(link, "inertial")
        ElementTree.SubElement(inertial, "origin", xyz=_text(centre))
        ElementTree.SubElement(inertial, "mass", value=repr(float(masses.sum())))
        entries = {f"i{'xyz'[i]}{'xyz'[j]}": repr(float(inertia[i, j])) for i in range(3) for j in range(i, 3)}
        ElementTree.SubElement(inertial, "inertia", entries)
        joint = ElementTree.SubElement(robot, "joint", name=name, type=kind)
        ElementTree.SubElement(joint, "origin", xyz=_text(xyz), rpy=_text(rpy))
        ElementTree.SubElement(joint, "parent", link=parent)
        ElementTree.SubElement(joint, "child", link=f"{name}_link")
        if axis:
            ElementTree.SubElement(joint, "axis", xyz=_text(axis))
            ElementTree.SubElement(joint, "limit", lower="-3", upper="3", effort="100", velocity="10")
        parent = f"{name}_link"
    return ElementTree.tostring(robot, encoding="unicode")


def wrench_and_torques(q, v, a):
    """Return the sensor's wrench (6,) and the joints' torques (3,), by differentiating every point's path twice."""
    h = 1e-3  # [s] step of the numerical differentiation
    paths = np.stack([_points(q + v * t + a * t * t / 2) for t in (-2 * h, -h, 0.0, h, 2 * h)])
    acceleration = np.tensordot([-1, 16, -30, 16, -1], paths, axes=1) / (12 * h * h)
    forces = np.concatenate([POINTS[name][0] for name, *_ in _CHAIN])[:, None] * (acceleration + np.array([0, 0, 9.81]))
    points, wrench, torques = paths[2], np.zeros(6), []
    for index, ((_, kind, axis, *_), (rotation, origin)) in enumerate(zip(_CHAIN, _frames(q), strict=True)):
        beyond = slice(5 * index, None)
        force, moment = forces[beyond].sum(axis=0), np.cross(points[beyond] - origin, forces[beyond]).sum(axis=0)
        if index == 1:
            wrench = np.concatenate([rotation.T @ force, rotation.T @ moment])
        if axis:
            torques.append((rotation @ axis) @ (force if kind == "prismatic" else moment))
    return wrench, np.array(torques)


def _text(numbers):
    return " ".join(repr(float(number)) for number in numbers)


def _frames(q):
    """Return rotation and origin of every link in the world."""
    rotation, origin, found = np.eye(3), np.zeros(3), []
    for name, kind, axis, xyz, rpy in _CHAIN:
        origin, rotation = origin + rotation @ xyz, rotation @ Rotation.from_euler("xyz", rpy).as_matrix()
        if axis:
            moved = np.multiply(axis, q[JOINTS.index(name)])
            if kind == "prismatic":
                origin = origin + rotation @ moved
            else:
                rotation = rotation @ Rotation.from_rotvec(moved).as_matrix()
        found.append((rotation, origin))
    return found


def _points(q):
    links = zip(_CHAIN, _frames(q), strict=True)
    return np.concatenate([origin + POINTS[name][1] @ rotation.T for (name, *_), (rotation, origin) in links])
