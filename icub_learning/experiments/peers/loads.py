"""Loads that a simulated arm grasps: the estimator of this package beside batch least squares."""

from typing import Any

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics.regressors.link_effects import LinkEffects
from icub_learning.dynamics.stream.records import External
from icub_learning.experiments.change.live_arm import LiveArm
from icub_learning.experiments.figures import gathered
from icub_learning.reporting.tables import number

LEARNED = 30.0  # time of learning before the load [s]
HORIZONS = (1.0, 3.0, 10.0)  # times after the grasp at which errors are taken [s]
MASSES = (0.2, 0.5)  # masses of the loads [kg]
FARTHEST = 0.03  # largest offset of the load's centre from the hand's frame along each axis [m]
OURS, BATCH, BATCH_SP = "load, this package", "batch least squares beside P", "batch least squares beside SP"


def measure(seed: int, draws: int) -> dict[str, Any]:
    """Return errors of mass and centre after each horizon, as tables for the page."""
    tables = []
    for mass in MASSES:
        found = gathered([_grasp(one, mass) for one in range(seed, seed + draws)])
        rows = [[name, *map(number, np.median(errors, axis=0).ravel())] for name, errors in found.items()]
        head = ["", *(f"{t:g} s: {what}" for t in HORIZONS for what in ("mass [g]", "centre [mm]"))]
        text = (
            f"Simulated iCub arm, circles; median of the errors over {draws} grasps after {LEARNED:g} s of learning. "
            "Batch least squares are told when the load was grasped; a load that was not found yet is all error."
        )
        tables.append([f"Load of {mass:g} kg", text, head, rows])
    return {"tables": tables}


def _grasp(seed: int, mass: float) -> dict[str, list[tuple[float, float]]]:
    """Return errors of mass [g] and centre [mm] at each horizon, by estimator."""
    rng, arm = np.random.default_rng([seed, 34]), LiveArm(seed)
    arm.run(LEARNED)
    estimator: Any = arm.estimators["shipped"]
    body, regressor = estimator.parametric.parameters, estimator.regressor
    effects = LinkEffects(regressor, arm.simulation.arm.hand)
    centre = rng.uniform(-FARTHEST, FARTHEST, 3)
    rows: list[Array] = []
    left: dict[str, list[Array]] = {BATCH: [], BATCH_SP: []}

    def note(pairs: list[External]) -> None:
        for pair in pairs:
            motion = pair.known.position, pair.known.velocity, pair.known.acceleration
            rows.append(effects.load(*motion))
            left[BATCH].append(pair.measured - regressor(*motion) @ body)
            left[BATCH_SP].append(pair.unexpected)

    arm.on_pairs = note
    arm.simulation.attach_payload(mass, centre)
    found: dict[str, list[tuple[float, float]]] = {OURS: [], BATCH: [], BATCH_SP: []}
    for before, horizon in zip((0.0, *HORIZONS), HORIZONS, strict=False):
        arm.run(horizon - before)
        load = arm.monitor.load
        found[OURS].append(_errors(None if load is None else load.parameters, mass, centre))
        for name, values in left.items():
            found[name].append(_errors(batch(rows, values), mass, centre))
    return found


def batch(rows: list[Array], values: list[Array]) -> Array:
    """Return the ten parameters of a load by least squares on samples of `rows` (n_outputs, 10), `values` (n_outputs,).

    Outputs are weighted by the inverse deviation of their residuals in a first pass (Atkeson, An and Hollerbach 1986).
    """
    design, target = np.array(rows), np.array(values)
    weights = np.ones(target.shape[1])
    for _ in range(2):
        flat = (design * weights[:, None]).reshape(-1, design.shape[2])
        found = np.linalg.lstsq(flat, (target * weights).ravel(), rcond=None)[0]
        weights = 1.0 / np.maximum((target - design @ found).std(axis=0), 1e-9)
    return np.asarray(found)


def _errors(parameters: Array | None, mass: float, centre: Array) -> tuple[float, float]:
    if parameters is None:
        return 1e3 * mass, 1e3 * float(np.linalg.norm(centre))
    error = parameters[1:4] / max(float(parameters[0]), 1e-3) - centre
    return 1e3 * abs(float(parameters[0]) - mass), 1e3 * float(np.linalg.norm(error))
