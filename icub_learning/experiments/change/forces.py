"""External forces published for 2, 5 and 10 N on the hand and at the sensor, while the simulated arm draws circles."""

from collections.abc import Sequence

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics.regressors.link_effects import N_WRENCH
from icub_learning.dynamics.stream.records import External
from icub_learning.experiments.change.live_arm import LiveArm
from icub_learning.experiments.change.loads_and_pushes import LEARNING, PUSH_SECONDS

FORCES = (2.0, 5.0, 10.0)  # forces [N]: just noticed, a nudge, and a shove
PAUSE = 4.0  # time between two forces [s]
RISEN = 0.05  # time after which the external wrench must show the force [s]
PLACES = ("hand", "sensor")
DRAWS = 3  # random directions of each force at each place
NEAR, DEVIATIONS = 0.1, 2.0  # allowed error: share of the force, or number of predicted standard deviations


def run_seed(seed: int) -> dict[str, dict[str, dict[str, float]]]:
    """Return how well each force at each place was published, for the worst of DRAWS directions. A force on the hand is
    constant in the axes of the root; one at the sensor adds a constant to what it measures."""
    rng, arm = np.random.default_rng([seed, 78]), LiveArm(seed)
    arm.run(LEARNING)
    return {
        place: {f"{force:g} N": worst([told(arm, rng, place, force) for _ in range(DRAWS)]) for force in FORCES}
        for place in PLACES
    }


def told(arm: LiveArm, rng: np.random.Generator, place: str, force: float) -> tuple[float, float]:
    """Push at random; return mean external over true force, along the latter, and the share of samples near enough."""
    direction = rng.standard_normal(3)
    wrench = np.concatenate([force * direction / np.linalg.norm(direction), np.zeros(3)])
    pairs: list[External] = []
    arm.on_pairs = pairs.extend
    if place == "hand":
        arm.simulation.push(wrench[:3], PUSH_SECONDS)
    else:
        arm.added = wrench
    arm.run(PUSH_SECONDS)
    arm.added, arm.on_pairs = np.zeros(N_WRENCH), None
    during = [pair for pair in pairs if pair.stamp >= pairs[0].stamp + RISEN * 1e9]
    # Effects of a wrench on the hand on what the sensor measures.
    effects = (arm.monitor.effects(*pair.known[1:4])[1] if place == "hand" else np.eye(N_WRENCH) for pair in during)
    found, allowed = zip(*map(_along, during, [(effect @ wrench)[:3] for effect in effects]), strict=True)
    arm.run(PAUSE)
    return float(np.mean(found)) / force, float(np.mean(np.abs(np.array(found) - force) <= allowed))


def _along(pair: External, force: Array) -> tuple[float, float]:
    """Return the external force along the true one [N], and by how much it may be off [N]."""
    size = float(np.linalg.norm(force))
    deviation = float(np.sqrt(pair.deviation[:3] ** 2 @ (force / size) ** 2))
    return float(pair.external[:3] @ force) / size, max(NEAR * size, DEVIATIONS * deviation)


def worst(draws: Sequence[tuple[float, float]]) -> dict[str, float]:
    """Return the mean that is furthest from 1, and the smallest share of samples that are near enough."""
    furthest, _ = max(draws, key=lambda draw: abs(draw[0] - 1.0))
    return {"told": furthest, "samples near enough": min(share for _, share in draws)}
