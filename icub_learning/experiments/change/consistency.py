"""Parameters learned from random motions, and the physically possible bodies nearest to them."""

import time
from typing import Any

import numpy as np

from icub_learning.dynamics import ParametricEstimator, WrenchRegressor
from icub_learning.dynamics.changes.consistency import ConsistentParameters, bodies_of, is_consistent
from icub_learning.robots import find_urdf
from icub_learning.simulation.arm.arm_model import ArmModel

MOST_SAMPLES = 30  # an excitation has fewer samples than this; most bodies hardly show in it
PUBLISHED = 1.0  # rate at which a node looks for physically possible bodies [Hz]
NOISE = 0.6  # standard deviation of the noise of forces [N]; in proportion for torques


def random_excitations(seed: int, count: int) -> dict[str, Any]:
    """Learn random bodies from random motions; count where every link is possible, as learned and as published."""
    rng, arm = np.random.default_rng([seed, 5]), ArmModel("right")
    regressor = WrenchRegressor.from_urdf(find_urdf("icub"), arm.joint_names, arm.sensor)
    bodies, n = bodies_of(regressor.parameter_names), regressor.n_joints
    finder = ConsistentParameters(regressor.nominal_parameters, bodies)
    learned, found, seconds = 0, 0, 0.0
    for _ in range(count):
        estimator = ParametricEstimator(regressor)
        truth = regressor.nominal_parameters * rng.uniform(0.3, 2.0, regressor.n_parameters)
        speed = rng.uniform(0.0, 3.0)
        for _ in range(rng.integers(1, MOST_SAMPLES)):
            motion = rng.uniform(-2.0, 2.0, n), speed * rng.standard_normal(n), 4.0 * speed * rng.standard_normal(n)
            noise = rng.standard_normal(6) * NOISE * np.array([1.0, 1.0, 1.0, 0.024, 0.024, 0.024])
            estimator.learn(regressor(*motion), regressor(*motion) @ truth + noise)
        began = time.thread_time()
        parameters = finder.nearest(estimator.parameters, estimator.information)
        seconds += time.thread_time() - began
        learned += all(is_consistent(estimator.parameters[body]) for body in bodies)
        found += all(is_consistent(parameters[body]) for body in bodies)
    return {
        "excitations": count, "consistent as learned": learned, "consistent as published": found,
        "share of a core": seconds / count * PUBLISHED
    }  # fmt: skip
