"""Simulated recordings, computed faster than real time."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from icub_learning import arrays
from icub_learning.errors import ParameterError
from icub_learning.recording.recording import Recording
from icub_learning.simulation.arm.arm_simulation import ArmSimulation
from icub_learning.simulation.arm.settings import SimulationSettings, steps_per_sample

MAX_DURATION = 1e6  # [s] longest duration of a task


def simulate(
    schedule: Sequence[tuple[str, float]], rate: float = 200.0, settings: SimulationSettings | None = None,
    progress: Callable[[int], None] | None = None,
) -> Recording:  # fmt: skip
    """Return the readings of the sensors while the arm performs one task after the other.

    Args:
        schedule: tasks (see TASKS) and their durations [s]; the arm starts within the first one, in motion, and
            changes smoothly to the next.
        rate: samples per second, a divisor of 1000 [Hz].
        settings: settings of the simulation; `task` is replaced by the first one of the schedule.
        progress: called after each sample with the number of samples so far.

    Raises:
        ParameterError: a duration or the rate is outside its range, or the schedule is empty.
        SimulationError: a task is unknown.
    """
    every = steps_per_sample(rate)
    counts = [round(arrays.real("duration", seconds, 0.0, MAX_DURATION) * rate) for _, seconds in schedule]
    if not sum(counts):
        raise ParameterError("schedule", schedule, f"at least one task, of one sample or more at {rate:g} Hz")
    simulation = ArmSimulation(replace(settings or SimulationSettings(), task=schedule[0][0]))
    total = sum(counts)
    stamps, made = np.empty(total, dtype=np.int64), 0
    n_joints = len(simulation.arm.joint_names)
    sizes = {"position": n_joints, "velocity": n_joints, "effort": n_joints, "wrench": 6}
    values: dict[str, Any] = {name: np.empty((total, size)) for name, size in sizes.items()}
    for (task, _), count in zip(schedule, counts, strict=True):
        simulation.set_task(task)
        for _ in range(count):
            for _ in range(every):
                simulation.step()
            shown = simulation.sensors()
            stamps[made] = shown.stamp
            for name, rows in values.items():
                rows[made] = getattr(shown, name)
            made += 1
            if progress:
                progress(made)
    arm = simulation.arm
    return Recording(arm.joint_names, stamps, wrench_stamps=stamps, wrench_frame=arm.sensor_frame, **values)
