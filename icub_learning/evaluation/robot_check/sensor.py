"""Measurements of a sensor: axes that never change, torques that no lever explains, the frame that messages name."""

import numpy as np

from icub_learning.dynamics.stream.sensor_faults import LONGEST_LEVER
from icub_learning.evaluation.robot_check.observation import OPEN, RIGHT, WRONG, Finding, Observation
from icub_learning.recording.recording import AXES

MOVED = 0.05  # [rad] that some joint must have moved
LEAST_CHANGE = 1e-12  # smaller ones are remains in memory that nobody wrote


def check_frozen(seen: Observation) -> list[Finding]:
    """Look for axes of the wrench, or efforts, that stay at one number while the robot moves."""
    moved = np.ptp(seen.recording.position, axis=0) if len(seen.recording.position) else np.zeros(1)
    if moved.max() < MOVED:
        return [Finding("frozen", OPEN, "the robot hardly moved: whether sensors answer cannot be judged")]
    values, names = seen.recording.effort, seen.recording.joint_names
    if seen.has_wrench:
        values, names = seen.recording.wrench, AXES
    if values is None:
        return []
    still = np.ptp(values, axis=0) < LEAST_CHANGE
    if not seen.has_wrench:
        still &= moved >= MOVED  # the effort of a joint at rest may stay as it is
    frozen = [name for name, one in zip(names, still, strict=True) if one]
    if not frozen:
        return [Finding("frozen", RIGHT, "all measured outputs change while the robot moves")]
    text = f"{', '.join(frozen)} never changed while joints moved by up to {moved.max():.2g} rad"
    return [Finding("frozen", WRONG, text, "look for a wrong index in the driver, or a sensor that is not connected")]


def check_lever(seen: Observation) -> list[Finding]:
    """Look for torques larger than the forces could make them with any lever of an arm."""
    if not seen.has_wrench or seen.recording.wrench is None:
        return []
    force, torque = np.abs(seen.recording.wrench[:, :3]), np.abs(seen.recording.wrench[:, 3:])
    limit = LONGEST_LEVER * max(float(np.linalg.norm(force.max(axis=0))), 1.0)
    beyond = [name for name, largest in zip(AXES[3:], torque.max(axis=0), strict=True) if largest > limit]
    if not beyond:
        return [Finding("lever", RIGHT, "torques are of a size that the forces explain")]
    text = f"{', '.join(beyond)} up to {torque.max():.3g}, more than {LONGEST_LEVER:g} m times the forces"
    return [Finding("lever", WRONG, text, "publish N m, not N mm; look for numbers that nobody wrote")]


def check_frame(seen: Observation) -> list[Finding]:
    """Compare the frame of the wrenches with the links of the URDF."""
    if not seen.has_wrench or seen.wrench_frame is None:
        return []
    link = _sensor_link(seen)
    settings: dict[str, object] = {"frame_id": link} if link else {}
    if not seen.wrench_frame:
        return [Finding("frame", WRONG, "wrenches name no frame", "set frame_id of the node, as below", settings)]
    links = {element.get("name") for element in seen.root.findall("link")}
    if seen.wrench_frame.lstrip("/") not in links:
        text = f"the frame of the wrenches, {seen.wrench_frame!r}, is no link of the URDF"
        return [Finding("frame", WRONG, text, "set frame_id of the node to the sensor's link, as below", settings)]
    return [Finding("frame", RIGHT, f"wrenches are given in the frame {seen.wrench_frame}")]


def _sensor_link(seen: Observation) -> str:
    for joint in seen.root.findall("joint"):
        child = joint.find("child")
        if joint.get("name") == seen.sensor and child is not None:
            return child.get("link", "")
    return ""
