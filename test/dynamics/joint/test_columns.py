"""The columns that a joint process learns, on real robots: they say what all columns say."""

from functools import cache

import numpy as np
import pytest
from helpers.robots import ICUB, PANDA, PANDA_JOINTS, RIGHT_ARM, UR10, UR10_JOINTS, random_state

from icub_learning.dynamics import TorqueRegressor, WrenchRegressor
from icub_learning.dynamics.joint.columns import BaseColumns
from icub_learning.dynamics.regressors.regressor import relative_regularization

MAKERS = {
    "icub": lambda: WrenchRegressor.from_urdf(ICUB, RIGHT_ARM, "r_arm_ft_sensor"),
    "icub_gain": lambda: WrenchRegressor.from_urdf(ICUB, RIGHT_ARM, "r_arm_ft_sensor", gain=True),
    "ur10": lambda: TorqueRegressor.from_urdf(UR10, UR10_JOINTS),
    "panda": lambda: TorqueRegressor.from_urdf(PANDA, PANDA_JOINTS),
}
ROBOTS = pytest.mark.parametrize("robot", MAKERS)


@cache
def made(robot):
    """A regressor and its columns, with a prior of another precision and mean for each parameter."""
    regressor = MAKERS[robot]()
    rng = np.random.default_rng(1)
    precision = rng.uniform(0.1, 10.0, regressor.n_parameters) * relative_regularization(regressor)
    return regressor, BaseColumns(regressor, precision, rng.normal(size=regressor.n_parameters)), precision


@ROBOTS
def test_kept_columns_say_what_all_columns_say(robot):
    regressor, columns, _ = made(robot)
    assert 0 < len(columns.kept) < regressor.n_parameters
    parameters = np.random.default_rng(2).normal(size=regressor.n_parameters)
    for seed in range(20):
        rows = regressor(*random_state(regressor.n_joints, seed))
        expected = rows @ parameters
        found = columns.of(rows) @ (columns.projection @ parameters)
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-9 * np.abs(rows).max())


@ROBOTS
def test_the_prior_of_gamma_is_that_of_all_parameters(robot):
    """Few samples, so that the prior matters: ridge regressions in both coordinates find the same parameters."""
    regressor, columns, precision = made(robot)
    rng = np.random.default_rng(3)
    rows = np.concatenate([regressor(*random_state(regressor.n_joints, seed)) for seed in range(3)])
    y = rng.normal(size=len(rows))
    root = np.sqrt(precision)
    augmented = np.concatenate([rows, np.diag(root)])
    expected = np.linalg.lstsq(augmented, np.concatenate([y, root * columns.start]), rcond=None)[0]
    z = columns.of(rows) @ columns.root
    target = y - rows @ columns.start
    gamma = np.linalg.lstsq(
        np.concatenate([z, np.eye(z.shape[1])]), np.append(target, np.zeros(z.shape[1])), rcond=None
    )[0]
    np.testing.assert_allclose(columns.parameters(gamma), expected, rtol=0.0, atol=1e-7 * np.abs(expected).max())
    np.testing.assert_allclose(columns.coefficients(gamma), columns.projection @ columns.parameters(gamma), atol=1e-9)
    np.testing.assert_array_equal(columns.parameters(np.zeros(len(gamma))), columns.start)
    covariance = columns.projection @ np.diag(1.0 / precision) @ columns.projection.T
    np.testing.assert_allclose(columns.root @ columns.root.T, covariance, rtol=1e-9, atol=1e-12 * covariance.max())


@ROBOTS
def test_entries_left_out_are_zero_in_every_motion_and_the_others_are_not(robot):
    regressor, columns, _ = made(robot)
    largest = np.zeros((regressor.n_outputs, len(columns.kept)))
    for seed in range(100, 200):
        largest = np.maximum(largest, np.abs(columns.of(regressor(*random_state(regressor.n_joints, seed)))))
    learned = np.zeros(largest.shape, dtype=bool)
    learned[columns.outputs, columns.places] = True
    assert (largest[~learned] <= 1e-11 * largest.max()).all()
    assert (largest[learned] > 0.0).all()
    assert len(columns.outputs) == learned.sum()  # each once
    assert (np.diff(columns.outputs) >= 0).all()  # in the order of outputs, as processes take them
    if robot != "icub":  # joints near the tip feel nothing of bodies before them, nor of other joints' friction
        assert learned.mean() < 0.7
