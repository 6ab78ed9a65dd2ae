"""Positions against the limits of the URDF: degrees instead of radians, and zeros that lie elsewhere."""

from dataclasses import replace

import numpy as np

from icub_learning.arrays import Array
from icub_learning.evaluation.robot_check.observation import OPEN, RIGHT, WRONG, Finding, Observation

MARGIN = 0.5  # [rad] beyond a limit that calibration explains
SHARE = 0.2  # of the time beyond a limit


def check_positions(seen: Observation) -> list[Finding]:
    """Compare positions with the URDF's limits."""
    low, high = joint_limits(seen)
    limited = np.isfinite(low) & np.isfinite(high)
    columns = [seen.recording.joint_names.index(name) for name in seen.joints]
    position = seen.recording.position[:, columns][:, limited]
    if not position.size:
        return [Finding("positions", OPEN, "the URDF gives no limits of positions to compare with")]
    low, high = low[limited], high[limited]
    outside = _outside(position, low, high)
    names = [name for name, has_limits in zip(seen.joints, limited, strict=True) if has_limits]
    beyond = [name for name, share in zip(names, outside, strict=True) if share > SHARE]
    if not beyond:
        return [Finding("positions", RIGHT, "positions are radians within the URDF's limits")]
    if _outside(np.radians(position), low, high).max() < SHARE:
        text = (
            f"positions look like degrees: {beyond[0]} reaches {np.abs(position[:, names.index(beyond[0])]).max():.3g}"
        )
        corrected = replace(seen.recording, position=np.radians(seen.recording.position))
        return [Finding("degrees", WRONG, text, "publish radians (REP-103): multiply by pi / 180", corrected=corrected)]
    text = f"{', '.join(beyond)} lie more than {MARGIN:g} rad beyond the URDF's limits"
    return [Finding("limits", WRONG, text, "compare the zero positions of the robot and of its URDF, and the names")]


def joint_limits(seen: Observation) -> tuple[Array, Array]:
    """Return the lowest and highest positions of `seen.joints` in the URDF [rad], infinite where it has none."""
    elements = {joint.get("name", ""): joint for joint in seen.root.findall("joint")}
    limits = []
    for name in seen.joints:
        limit = elements[name].find("limit") if elements[name].get("type") == "revolute" else None
        low, high = (None, None) if limit is None else (limit.get("lower"), limit.get("upper"))
        limits.append((float(low), float(high)) if low and high else (-np.inf, np.inf))
    table = np.array(limits).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def _outside(position: Array, low: Array, high: Array) -> Array:
    """Share of the samples (n, k) in which each joint lies beyond its limits (k,)."""
    share: Array = ((position < low - MARGIN) | (position > high + MARGIN)).mean(axis=0)
    return share
