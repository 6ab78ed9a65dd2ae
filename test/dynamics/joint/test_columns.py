"""Entries of real robots' regressors that a joint process learns; test_process.py checks what it learns from them."""

import numpy as np
import pytest
from helpers.robots import ICUB, PANDA, PANDA_JOINTS, RIGHT_ARM, UR10, UR10_JOINTS, random_state

from icub_learning.dynamics import TorqueRegressor, WrenchRegressor
from icub_learning.dynamics.joint.columns import BaseColumns

ROBOTS = {
    "icub": WrenchRegressor.from_urdf(ICUB, RIGHT_ARM, "r_arm_ft_sensor"),
    "icub with gain": WrenchRegressor.from_urdf(ICUB, RIGHT_ARM, "r_arm_ft_sensor", gain=True),
    "ur10": TorqueRegressor.from_urdf(UR10, UR10_JOINTS), "panda": TorqueRegressor.from_urdf(PANDA, PANDA_JOINTS),
}  # fmt: skip


def test_a_single_joint_is_slow_enough_in_some_motion_for_its_stribeck_friction_to_show():
    regressor = TorqueRegressor.from_urdf(UR10, UR10_JOINTS[3:4])
    columns = BaseColumns(regressor, np.ones(regressor.n_parameters), np.zeros(regressor.n_parameters))
    assert set(columns.places) == set(range(len(columns.kept)))


@pytest.mark.parametrize("robot", ROBOTS)
def test_all_entries_follow_from_those_that_are_learned_and_none_of_these_from_others(robot):
    regressor = ROBOTS[robot]
    columns = BaseColumns(regressor, np.ones(regressor.n_parameters), np.zeros(regressor.n_parameters))
    motions = [random_state(regressor.n_joints, seed) for seed in range(100, 100 + 3 * len(columns.entries))]
    every = np.array([columns.of(regressor(*motion)) for motion in motions])
    learned, found = every.reshape(len(motions), -1)[:, columns.entries], np.zeros_like(every)
    of_columns = zip(columns.outputs, columns.places, columns.sources, columns.scales, strict=True)
    for output, place, source, scale in of_columns:
        found[:, output, place] += scale * learned[:, source]
    np.testing.assert_allclose(found, every, rtol=0.0, atol=1e-8 * np.abs(every).max())
    assert np.linalg.svd(learned / np.linalg.norm(learned, axis=0), compute_uv=False).min() > 1e-6
    assert (np.diff(columns.sources) >= 0).all()  # the order that joint processes need
    most = 0.8 if robot == "icub" else 1.0  # of the iCub's arm some entries of moments repeat those of forces
    assert len(columns.entries) < most * np.count_nonzero(every[0])
