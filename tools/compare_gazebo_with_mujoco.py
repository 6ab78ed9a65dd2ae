"""Learn one motion of the iCub's arm from Gazebo and from MuJoCo, and compare the remaining errors of force and torque.

usage: python tools/compare_gazebo_with_mujoco.py RECORDING [--plot FILE] [--json FILE]

RECORDING comes from `tools/gazebo_check --record RECORDING`. MuJoCo moves the same arm through the positions of that
recording, once as a rigid body with exact sensors, as Gazebo does, and once with the cables, cross-talk, noise and
encoders of the simulation's defaults. P, NP and SP predict each sample before they learn it, with the settings of
config/gazebo.yaml; the table shows RMS errors over the last 20 s.
"""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
import yaml

from icub_learning.dynamics.settings import Settings
from icub_learning.evaluation.metrics import group_rmse
from icub_learning.evaluation.predict_then_learn import Evaluation, compare
from icub_learning.recording.files import read
from icub_learning.recording.recording import Recording
from icub_learning.reporting.tables import add_json_option, number, save_figures, table
from icub_learning.robots import find_urdf
from icub_learning.settings import pick
from icub_learning.simulation.arm.arm_simulation import MIN_BLEND, ArmSimulation
from icub_learning.simulation.arm.settings import TIME_STEP_NS, SimulationSettings

CONFIG = Path(__file__).resolve().parents[1] / "config" / "gazebo.yaml"
EVERY = 5  # steps of the physics between two readings, and samples between two points of the trajectory
JUDGED = 20.0  # [s] at the end, over which errors are judged
STOP = 0.2  # [s] in which the arm comes to rest after the recording
SIMULATORS = ("Gazebo", "MuJoCo, rigid", "MuJoCo, with its effects")


def main() -> None:
    """Learn from each simulator, print the table and draw the picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recording", type=Path, help="of tools/gazebo_check --record")
    parser.add_argument("--plot", type=Path, help="picture of the errors over time")
    add_json_option(parser)
    args = parser.parse_args()
    recording = read(args.recording)
    chosen = yaml.safe_load(CONFIG.read_text())["inverse_dynamics"]["ros__parameters"]
    settings = pick(Settings, chosen, urdf=find_urdf(chosen["urdf"]))
    at_once = replace(settings, wrench_direction=Settings.wrench_direction, tolerance=Settings.tolerance)
    found: dict[str, dict[str, Evaluation]] = {}
    for name, (made, used) in zip(
        SIMULATORS,
        [
            (recording, settings),
            (in_mujoco(recording, SimulationSettings.without_effects(task="hold"), settings.joints), at_once),
            (in_mujoco(recording, SimulationSettings(task="hold"), settings.joints), at_once),
        ],
        strict=True,
    ):
        print(f"{name}: learning", flush=True)
        found[name] = compare(made, used)
    figures = {name: {short: errors(one) for short, one in parts.items()} for name, parts in found.items()}
    rows = [
        [name, short, number(one["force"]), number(one["torque"]), number(one["force measured"])]
        for name, parts in figures.items()
        for short, one in parts.items()
    ]
    print(table(["simulated by", "", "force error [N]", "torque error [N m]", "force measured [N]"], rows))
    save_figures(args.json, {"judged": JUDGED, "simulated": True, "figures": figures})
    if args.plot:
        draw(found, args.plot)


def in_mujoco(recording: Recording, settings: SimulationSettings, joints: tuple[str, ...]) -> Recording:
    """Return what MuJoCo's arm shows while it follows the positions of a recording, once all are within limits."""
    simulation = ArmSimulation(settings)
    order = [recording.joint_names.index(name) for name in joints]
    position, velocity = recording.position[:, order], recording.velocity[:, order]
    low, high = simulation.arm.limits
    beyond = np.flatnonzero(((position < low) | (position > high)).any(axis=1))
    begin = int(beyond[-1]) + 1 if len(beyond) else 0  # Gazebo starts all joints at 0, outside the elbow's limits
    seconds = (recording.joint_stamps[begin:] - recording.joint_stamps[begin]) * 1e-9
    points = slice(EVERY, None, EVERY)
    times, through, speeds = MIN_BLEND + seconds[points], position[begin:][points], velocity[begin:][points]
    # The recording ends in motion: the arm gets STOP seconds more to come to rest.
    simulation.command_trajectory(
        joints,
        np.append(times, times[-1] + STOP),
        np.vstack([through, np.clip(through[-1] + 0.5 * STOP * speeds[-1], low, high)]),
        np.vstack([speeds, np.zeros(len(joints))]),
    )
    shown = []
    for step in range(round((seconds[-1] + MIN_BLEND) / (TIME_STEP_NS * 1e-9))):
        simulation.step()
        if step % EVERY == EVERY - 1:
            shown.append(simulation.sensors())
    stamps = np.array([one.stamp for one in shown], dtype=np.int64)
    return Recording(
        simulation.arm.joint_names,
        stamps,
        np.array([one.position for one in shown]),
        np.array([one.velocity for one in shown]),
        wrench_stamps=stamps,
        wrench=np.array([one.wrench for one in shown]),
        wrench_frame=simulation.arm.sensor_frame,
    )


def errors(one: Evaluation) -> dict[str, float]:
    """Return RMS errors of force and torque over the end, and the RMS of the force itself."""
    late = one.stamps >= one.stamps[-1] - round(JUDGED * 1e9)
    wrong = one.errors[late]
    return {
        "force": group_rmse(wrong[:, :3]),
        "torque": group_rmse(wrong[:, 3:]),
        "force measured": group_rmse(one.measured[late, :3]),
    }


def draw(found: dict[str, dict[str, Evaluation]], path: Path) -> None:
    """Draw the force error of P, NP and SP over time, one panel for each simulator."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(found), figsize=(11, 3.6), sharey=True, layout="constrained")
    for panel, (name, parts) in zip(panels, found.items(), strict=True):
        for short, one in parts.items():
            seconds = (one.stamps - one.stamps[0]) * 1e-9
            whole = np.arange(int(seconds[-1]))
            level = [group_rmse(one.errors[(seconds >= s) & (seconds < s + 1), :3]) for s in whole]
            panel.semilogy(whole + 0.5, level, label=short)
        panel.set_title(name, fontsize=10)
        panel.set_xlabel("time [s]")
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("force error, RMS of each second [N]")
    panels[0].legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
