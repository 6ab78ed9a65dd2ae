"""The recordings: available real arms, simulated robots reserved for evaluation, and a change of task."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from icub_learning.dynamics.settings import Settings
from icub_learning.recording import Recording, read
from icub_learning.robots import find_urdf
from icub_learning.simulation import SimulationSettings, simulate
from icub_learning.simulation.zoo import JUDGING, ZOO

ARMS = {  # joints by recording; None for all
    "ur10e_14harm50sec": None,
    "ur10e_14harm50secLoad": None,
    "lbr_med7_exciting": None,
    "tiago": tuple(f"arm_{number}_joint" for number in range(1, 5)),
}
UR10 = Path("ur10", "ur10_exciting_trajectory.db3")
REAL = (*ARMS, "ur10")  # names of the real recordings
PLANES, RATE = ("circle_xy", "circle_xz"), 200  # planes of the change of task, and sampling rate [Hz]
_ARM = ("shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow", "wrist_prosup", "wrist_pitch", "wrist_yaw")
JOINTS = tuple(f"r_{joint}" for joint in _ARM)
# A recording, settings that only say which robot it is, and which outputs are mere noise.
Loaded = tuple[Recording, Settings, tuple[bool, ...]]


@dataclass(frozen=True)
class Case:
    """One recording to compare learners on."""

    name: str
    kind: str  # "real", "simulated" or "change"
    load: Callable[[], Loaded]  # reads or simulates it
    changes_at: float | None = None  # time at which the task changes [s]; None: it does not


def real_recording(name: str) -> tuple[Recording, Settings] | None:
    """Return a real recording and settings that only say which robot it is; None if it is missing."""
    folder = os.environ.get("ICUB_LEARNING_DATA")
    path = Path(folder or ".", UR10) if name == "ur10" else Path(folder or ".", "arms", f"{name}.npz")
    if not folder or not path.exists():
        return None
    recording = read(path)
    urdf = find_urdf("ur10") if name == "ur10" else str(path.with_suffix(".urdf"))
    joints = ARMS.get(name) or recording.joint_names
    return recording, Settings(urdf=urdf, joints=joints, output="joint_torque", joint_order="any")


def all_cases(seconds: float, planes: tuple[float, float], seed: int) -> list[Case]:
    """Return the available real recordings, the simulated robots for evaluation, and both directions of task change.
    `seconds` is the duration for each simulated robot, `planes` are those before and after the change of task [s]."""
    real = {name: found for name in REAL if (found := real_recording(name)) is not None}
    cases = [Case(name, "real", partial(lambda found: (*found, ()), found)) for name, found in real.items()]
    cases += [Case(name, "simulated", partial(_simulated, name, seconds, seed)) for name in JUDGING]
    for name, order in (("XY to XZ", PLANES), ("XZ to XY", PLANES[::-1])):
        cases.append(Case(f"change {name}", "change", partial(_change, order, planes, seed), planes[0]))
    return cases


def _simulated(name: str, seconds: float, seed: int) -> Loaded:
    found = ZOO[name].record(seconds, seed)
    return found.recording, Settings(**found.settings), found.mere_noise


def _change(order: tuple[str, str], seconds: tuple[float, float], seed: int) -> Loaded:
    recording = simulate(list(zip(order, seconds, strict=True)), RATE, SimulationSettings(seed=seed))
    others = tuple(name for name in recording.joint_names if name not in JOINTS)
    return recording, Settings(urdf=find_urdf("icub"), joints=JOINTS, extra_joints=others), ()
