"""Merge what two robots learned, exactly: the model is that of one robot that had seen the data of both.

    python examples/merge_two_robots.py

Two simulated iCubs move in different planes. Each learns the rigid-body parameters of its arm from its own data only;
then one takes in the model of the other, a file of some kilobytes, and predicts both motions.
"""

import tempfile
from pathlib import Path

import numpy as np

from icub_learning.dynamics import ParametricEstimator, WrenchRegressor
from icub_learning.models import load_state, save_state
from icub_learning.models.ledger import accounted
from icub_learning.robots import find_urdf
from icub_learning.simulation import ArmSimulation, SimulationSettings

SAMPLES, TEST = 1500, 500


def record(task: str, seed: int) -> list[tuple[np.ndarray, ...]]:
    """Return (q, v, a, wrench) of a simulated arm at 200 Hz; the acceleration is the simulation's, for simplicity."""
    robot = ArmSimulation(SimulationSettings(task=task, seed=seed))
    samples = []
    for _ in range(SAMPLES + TEST):
        for _ in range(5):
            robot.step()
        truth = robot.truth()
        samples.append((truth.position, truth.velocity, truth.acceleration, robot.sensors().wrench))
    return samples


def rmse(estimator: ParametricEstimator, samples: list[tuple[np.ndarray, ...]]) -> float:
    """Return the RMSE of the force [N] over the samples that were kept for the test."""
    errors = [(estimator.predict(q, v, a).total - wrench)[:3] for q, v, a, wrench in samples[SAMPLES:]]
    return float(np.sqrt(np.mean(np.square(errors))))


joints = ArmSimulation().arm.joint_names
regressor = WrenchRegressor.from_urdf(find_urdf("icub"), joints=joints, sensor="r_arm_ft_sensor")
motions = {"XY circles": record("circle_xy", seed=1), "XZ circles": record("circle_xz", seed=2)}

learned = {}
for name, samples in motions.items():
    # All samples and outputs have the same weight: with weights by noise, each robot would use its own noise estimate;
    # and with automatic forgetting, a robot that changes from one motion to the other would forget part of the first.
    learned[name] = ParametricEstimator(regressor, forgetting=1.0, output_weights="equal")
    for sample in samples[:SAMPLES]:
        learned[name].update(*sample)
first, second = learned.values()

with tempfile.TemporaryDirectory() as folder:  # the model travels from robot to robot as a file
    # What is `accounted` records its samples: merged once more, also by way of other robots, they still count once.
    received = ParametricEstimator.from_state(load_state(save_state(Path(folder, "second.npz"), accounted(second))))
merged = ParametricEstimator.from_state(accounted(first))
merged.merge(received)

# For comparison: one robot that learns from all data.
both = ParametricEstimator(regressor, forgetting=1.0, output_weights="equal")
for samples in motions.values():
    for sample in samples[:SAMPLES]:
        both.update(*sample)

print(f"{'RMSE of the force [N] on':<28}" + "".join(f"{name:>12}" for name in motions))
for name, estimator in {"robot 1": first, "robot 2": second, "merged": merged, "one robot, all data": both}.items():
    print(f"{name:<28}" + "".join(f"{rmse(estimator, samples):>12.3f}" for samples in motions.values()))
difference = np.abs(merged.parameters - both.parameters).max() / np.abs(both.parameters).max()
print(f"parameters of the merged model and of one robot with all data differ by {difference:.1e} of the largest")
