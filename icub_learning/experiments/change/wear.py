"""Ten minutes without any change, and ten in which friction slowly grows."""

from dataclasses import replace
from typing import Any

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics import assembly
from icub_learning.dynamics.settings import Settings
from icub_learning.evaluation.predict_then_learn import evaluate
from icub_learning.experiments.change.live_arm import LiveArm
from icub_learning.simulation.zoo import ZOO, ZooRecording, ZooRobot

BEGUN = 60.0  # time of learning before anything is judged [s]
LEVEL = 60.0  # time over which errors at the start and at the end are measured [s]
WORN = "ur10_currents_125hz"  # robot of the zoo whose friction grows
GROWTH = 0.5  # relative growth of friction over the whole time
FIXED: dict[str, Any] = {"forgetting": 1.0, "watch": "never"}  # a learner that never forgets and watches for nothing


def without_change(seed: int, minutes: float) -> dict[str, Any]:
    """Return the force error over that without automatic forgetting, and the false alarms."""
    arm = LiveArm(seed, fixed=FIXED)
    arm.run(60.0 * minutes)
    shipped, fixed = (arm.force_error(BEGUN, arm.simulation.time, name) for name in ("shipped", "fixed"))
    return {"ratio": shipped / fixed, "false alarms": sum(arm.monitor.counts.values())}


def grown_friction(seed: int, minutes: float) -> dict[str, Any]:
    """Return errors of the robot WORN, whose friction grows by GROWTH, relative to those of the first judged minute."""
    made = ZOO[WORN].record(60.0 * minutes, seed)
    worn = worn_recording(ZOO[WORN], made)
    found: dict[str, Any] = {"robot": WORN}
    for label, changed in (("automatic", {}), ("none forgotten", FIXED)):
        settings = replace(Settings(**made.settings, seed=seed), **changed)
        regressor = assembly.make_regressor(settings)
        stream = assembly.make_stream(settings, regressor, assembly.make_estimator(settings, regressor))
        result = evaluate(stream, worn.events())
        seconds = (result.stamps - result.stamps[0]) * 1e-9
        first, last = ((seconds >= begin) & (seconds < begin + LEVEL) for begin in (BEGUN, seconds[-1] - LEVEL))
        ratios = np.sqrt((result.errors[last] ** 2).mean(axis=0) / (result.errors[first] ** 2).mean(axis=0))
        found[label] = {"last minute over first": float(np.exp(np.log(ratios).mean()))}
    return found


def worn_recording(robot: ZooRobot, made: ZooRecording) -> Any:
    """Return the recording with friction that grows linearly by GROWTH."""
    drives, recording = robot.drives, made.recording
    assert drives is not None and recording.effort is not None
    share: Array = GROWTH * np.linspace(0.0, 1.0, len(made.velocity))[:, None]
    level = np.tanh(made.velocity / drives.breakaway) * np.asarray(drives.coulomb)
    more = share * (level + np.asarray(drives.viscous) * made.velocity)
    gain = np.asarray(drives.gain if len(drives.gain) else np.ones(more.shape[1]))
    return replace(recording, effort=recording.effort + more / gain)
