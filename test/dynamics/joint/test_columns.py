"""The columns that a joint process learns, on real robots: they say what all columns say."""

from functools import cache

import numpy as np
import pytest
from helpers.robots import ICUB, PANDA, PANDA_JOINTS, RIGHT_ARM, UR10, UR10_JOINTS, random_state

from icub_learning.dynamics import TorqueRegressor, WrenchRegressor
from icub_learning.dynamics.joint.columns import BaseColumns

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
    precision = rng.uniform(0.1, 10.0, regressor.n_parameters) * regressor.relative_regularization
    return regressor, BaseColumns(regressor, precision, rng.normal(size=regressor.n_parameters)), precision


@ROBOTS
def test_kept_columns_say_what_all_columns_say(robot):
    regressor, columns, _ = made(robot)
    assert 0 < len(columns.kept) < regressor.n_parameters
    parameters = np.random.default_rng(2).normal(size=regressor.n_parameters)
    for seed in range(20):
        rows = regressor(*random_state(regressor.n_joints, seed))
        expected = rows @ parameters
        found = columns.of(rows) @ (regressor.base_projection @ parameters)
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
    found, projection = columns.start + columns.back @ gamma, regressor.base_projection
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-7 * np.abs(expected).max())
    beta = projection @ columns.start + columns.root @ gamma
    np.testing.assert_allclose(beta, projection @ found, atol=1e-9)
    covariance = projection @ np.diag(1.0 / precision) @ projection.T
    np.testing.assert_allclose(columns.root @ columns.root.T, covariance, rtol=1e-9, atol=1e-12 * covariance.max())


@ROBOTS
def test_all_entries_follow_from_those_that_are_learned_and_none_of_these_from_others(robot):
    regressor, columns, _ = made(robot)
    motions = [random_state(regressor.n_joints, seed) for seed in range(100, 100 + 3 * len(columns.entries))]
    every = np.array([columns.of(regressor(*motion)) for motion in motions])
    learned = every.reshape(len(motions), -1)[:, columns.entries]
    found = np.zeros_like(every)
    for output, place, source, scale in zip(
        columns.outputs, columns.places, columns.sources, columns.scales, strict=True
    ):
        found[:, output, place] += scale * learned[:, source]
    np.testing.assert_allclose(found, every, rtol=0.0, atol=1e-8 * np.abs(every).max())
    lengths = np.linalg.norm(learned, axis=0)
    assert np.linalg.svd(learned / lengths, compute_uv=False).min() > 1e-6
    assert (np.diff(columns.sources) >= 0).all()  # as processes take them
    if robot != "icub":  # joints near the tip feel nothing of bodies before them, nor of other joints' friction
        assert len(columns.entries) < 0.7 * every[0].size
    else:  # moments repeat what forces say
        assert len(columns.entries) < 0.8 * np.count_nonzero(every[0])
