"""Sound recordings of several robots: a check should find no fault in them."""

from collections import namedtuple
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from icub_learning.recording import Recording
from icub_learning.simulation.zoo import ZOO

ARRAYS = {
    "joint": ("joint_stamps", "joint_arrivals", "position", "velocity", "effort", "acceleration"),
    "wrench": ("wrench_stamps", "wrench_arrivals", "wrench"),
}

SoundRobot = namedtuple("SoundRobot", "recording urdf sensor")  # sensor: "" where efforts are measured


def zoo_robot(name: str, seed: int = 7, duration: float = 10.0) -> SoundRobot:
    """Return a robot of the zoo with stamps of today, and wrenches that name their frame."""
    recording = (robot := ZOO[name]).record(duration, seed).recording
    frame = {"l_arm_ft_sensor": "l_upper_arm", "r_arm_ft_sensor": "r_upper_arm"}.get(robot.sensor, "")
    return SoundRobot(moved(replace(recording, wrench_frame=frame), 1_790_000_000 * 10**9), robot.urdf, robot.sensor)


def moved(recording: Recording, by: int) -> Recording:
    """Return a recording with all its times later by `by` [ns]."""
    names = ("joint_stamps", "joint_arrivals", "wrench_stamps", "wrench_arrivals")
    events = tuple(e._replace(stamp=e.stamp + by, arrival=e.arrival + by) for e in recording.irregular)
    return replace(recording, irregular=events, **{name: getattr(recording, name) + by for name in names})


def rows(recording: Recording, kind: str, kept: Any) -> dict[str, Any]:
    """Return some rows of the arrays of joint states or of wrenches."""
    return {name: values[kept] for name in ARRAYS[kind] if (values := getattr(recording, name)) is not None}


def during(recording: Recording, chosen: Callable[[np.ndarray], np.ndarray]) -> dict[str, Any]:
    """Return the rows of messages that arrived at chosen times, in seconds from the first joint state on."""
    arrivals = {kind: getattr(recording, f"{kind}_arrivals") for kind in ARRAYS}
    kept = {kind: chosen((at - recording.joint_arrivals[0]) * 1e-9) for kind, at in arrivals.items()}
    return rows(recording, "joint", kept["joint"]) | rows(recording, "wrench", kept["wrench"])


def cut(recording: Recording, begin: float, end: float) -> Recording:
    """Return the part that arrived from `begin` to `end`, in seconds from the first joint state on."""
    return replace(recording, **during(recording, lambda seconds: (seconds >= begin) & (seconds < end)))
