"""Sound recordings of several robots, as a check should find nothing wrong with."""

from dataclasses import dataclass, replace

import numpy as np

from icub_learning.recording import Recording
from icub_learning.simulation.zoo import ZOO

TODAY = 1_790_000_000 * 10**9  # [ns] since 1970, as the stamps of real robots


@dataclass(frozen=True)
class SoundRobot:
    """A robot and some seconds of it; `sensor` is "" where efforts are measured."""

    recording: Recording
    urdf: str
    sensor: str


def zoo_robot(name: str, seed: int = 7, duration: float = 10.0) -> SoundRobot:
    """A robot of the zoo with stamps of today, and wrenches that name their frame."""
    robot = ZOO[name]
    recording = robot.record(duration, seed).recording
    frame = {"l_arm_ft_sensor": "l_upper_arm", "r_arm_ft_sensor": "r_upper_arm"}.get(robot.sensor, "")
    return SoundRobot(moved(replace(recording, wrench_frame=frame), TODAY), robot.urdf, robot.sensor)


def moved(recording: Recording, by: int) -> Recording:
    """Return a recording with all its times later [ns]."""
    names = ("joint_stamps", "joint_arrivals", "wrench_stamps", "wrench_arrivals")
    events = tuple(e._replace(stamp=e.stamp + by, arrival=e.arrival + by) for e in recording.irregular)
    return replace(recording, irregular=events, **{name: getattr(recording, name) + by for name in names})


def cut(recording: Recording, begin: float, end: float) -> Recording:
    """Return what arrived from `begin` to `end`, in seconds from the first joint state on."""
    start = recording.joint_arrivals[0]
    fields = {}
    for kind, names in (("joint", ("position", "velocity", "effort")), ("wrench", ("wrench",))):
        since = (getattr(recording, f"{kind}_arrivals") - start) * 1e-9
        kept = np.flatnonzero((since >= begin) & (since < end))
        for name in (f"{kind}_stamps", f"{kind}_arrivals", *names):
            if (values := getattr(recording, name)) is not None:
                fields[name] = values[kept]
    return replace(recording, acceleration=None, **fields)
