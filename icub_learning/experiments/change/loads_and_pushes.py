"""Loads that are grasped and dropped, and pushes, while the simulated arm draws circles."""

from typing import Any

import numpy as np

from icub_learning.arrays import Array
from icub_learning.experiments.change.live_arm import LiveArm

LEARNING = 60.0  # time of learning before the first load [s]
BASE = 10.0  # last part of that time, in which the level of errors before loads is measured [s]
HEAVY, LIGHT = 0.5, 0.1  # masses of the loads [kg]
HELD, PAUSE = 15.0, 10.0  # time for which a load is held, and time after it [s]
PUSH, PUSH_SECONDS = 5.0, 1.0  # force of a push [N], and its duration [s]
RANDOM_MASSES, RANDOM_FORCES, RANDOM_SECONDS = (0.1, 1.0), (3.0, 10.0), (0.3, 2.0)  # ranges [kg], [N], [s]
RANDOM_HELD, RANDOM_PAUSE = 3.0, 3.0  # time for which a random load is held, and time after it [s]
FARTHEST = 0.03  # largest offset of the load's centre from the hand's frame along each axis [m]


def carry(arm: LiveArm, mass: float, centre: Array, judged_after: float, base: float) -> dict[str, float]:
    """Hold a load for HELD, drop it, go on for PAUSE; return how it was seen [s, kg, m], and errors over `base`."""
    grasped = arm.simulation.time
    arm.simulation.attach_payload(mass, centre)
    arm.run(judged_after)
    load = arm.monitor.load
    arm.run(HELD - judged_after)
    dropped = arm.simulation.time
    arm.simulation.attach_payload(0.0)
    arm.run(PAUSE)
    return {
        "mass": mass, "seen_after": arm.first("load", grasped), "found_mass": 0.0 if load is None else load.mass,
        "mass_deviation": 0.0 if load is None else load.mass_deviation,
        "centre_error": np.inf if load is None else float(np.linalg.norm(load.centre - centre)),
        "error_after_grasp": arm.force_error(grasped + 3.0, dropped) / base,
        "error_after_drop": arm.force_error(dropped + 1.0, dropped + 4.0) / base,
    }  # fmt: skip


def push(arm: LiveArm, direction: Array) -> dict[str, float]:
    """Push the hand, and return when it was seen and gone, and how far parameters moved in standard deviations."""
    estimator: Any = arm.estimators["shipped"]
    parametric = estimator.parametric
    before = parametric.base_parameters
    deviation = parametric.base_deviations
    began = arm.simulation.time
    arm.simulation.push(PUSH * direction, PUSH_SECONDS)
    arm.run(PUSH_SECONDS)
    ended = arm.simulation.time
    arm.run(0.5)
    moved = np.abs(parametric.base_parameters - before) / deviation
    arm.run(2.5)
    return {
        "seen after": arm.first("contact", began), "gone after": arm.first("nothing", ended),
        "parameters moved by": float(moved.max())
    }  # fmt: skip


def tell_apart(arm: LiveArm, rng: np.random.Generator, n_each: int) -> tuple[int, int]:
    """Apply random loads and pushes in random order; return how many of each were recognized as what they were."""
    loads = pushes = 0
    for kind in rng.permutation([0, 1] * n_each):
        began = arm.simulation.time
        if kind:
            arm.simulation.attach_payload(rng.uniform(*RANDOM_MASSES), rng.uniform(-FARTHEST, FARTHEST, 3))
            arm.run(RANDOM_HELD)
            loads += arm.monitor.phase == "load"
            arm.simulation.attach_payload(0.0)
        else:
            direction = rng.standard_normal(3)
            seconds = rng.uniform(*RANDOM_SECONDS)
            arm.simulation.push(rng.uniform(*RANDOM_FORCES) * direction / np.linalg.norm(direction), seconds)
            arm.run(seconds + 0.5)
            pushes += arm.phases(began, arm.simulation.time) == {"nothing", "contact"}
        arm.run(RANDOM_PAUSE)
    return loads, pushes


def run_seed(seed: int, n_each: int) -> dict[str, Any]:
    rng, arm = np.random.default_rng([seed, 77]), LiveArm(seed)
    arm.run(LEARNING)
    base = arm.force_error(LEARNING - BASE, LEARNING)
    heavy = carry(arm, HEAVY, rng.uniform(-FARTHEST, FARTHEST, 3), 5.0, base)
    light = carry(arm, LIGHT, rng.uniform(-FARTHEST, FARTHEST, 3), 10.0, base)
    direction = rng.standard_normal(3)
    pushed = push(arm, direction / np.linalg.norm(direction))
    loads, pushes = tell_apart(arm, rng, n_each)
    return {
        "force error before [N]": base, "heavy": heavy, "light": light, "push": pushed,
        "loads told": loads, "pushes told": pushes, "of each": n_each,
    }  # fmt: skip
