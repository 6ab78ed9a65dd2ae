"""Columns of offsets, gains, friction and rotors: do they absorb their own effects, and leave the masses alone?"""

import re

import numpy as np
import pytest
from helpers.robots import ICUB, RIGHT_ARM, UR10, UR10_JOINTS, random_state
from scipy.special import erf

from icub_learning.dynamics import ParametricEstimator, TorqueRegressor, WrenchRegressor
from icub_learning.dynamics.estimators.saved_states import describe, rebuild_regressor
from icub_learning.dynamics.regressors.torque_regressor import NOISE_WIDTH, STANDSTILL
from icub_learning.errors import NotFiniteError, ParameterError, ShapeError, StateError
from icub_learning.simulation.zoo import ZOO


@pytest.mark.parametrize("name", ["icub_wrench_50hz", "icub_wrench_100hz", "icub_left_arm_wrench_100hz"])
def test_an_offset_of_seventy_newtons_is_learned_in_five_seconds_and_the_masses_stay_right(name):
    robot = ZOO[name]
    found = robot.record(7.0, 1)
    stamps, measured = found.recording.joint_stamps, found.recording.wrench
    moves = np.flatnonzero(np.abs(found.velocity).max(axis=1) > 0.05)[0]
    regressor = WrenchRegressor.from_urdf(robot.urdf, robot.joints, robot.sensor)
    estimator = ParametricEstimator(regressor)
    for k in np.flatnonzero(stamps < stamps[moves] + 5e9):
        estimator.update(found.position[k], found.velocity[k], found.acceleration[k], measured[k])
    offset = estimator.parameters[list(regressor.offset_indices)]
    np.testing.assert_allclose(offset[:3], (measured - found.outputs).mean(axis=0)[:3], atol=1.5)  # [N]
    # Compared are the weight that the sensor carries, its force at rest beyond the offset, and the sum of the masses.
    true = np.array([found.parameters.get(key, 0.0) for key in regressor.parameter_names])
    forces = regressor(*np.zeros((3, regressor.n_joints)))[:3, : regressor.offset_indices[0]]
    masses = [key.endswith(".m") for key in regressor.parameter_names]
    learned, expected = (
        (np.linalg.norm(forces @ each[: forces.shape[1]]), each[masses].sum()) for each in (estimator.parameters, true)
    )
    assert learned == pytest.approx(expected, rel=0.1)


def test_the_gain_matrix_is_linear_in_what_the_urdf_says():
    regressor = WrenchRegressor.from_urdf(ICUB, RIGHT_ARM, "r_arm_ft_sensor", gain=True)
    assert regressor.n_parameters == 50 + 6 + 36 and regressor.parameter_names[56:58] == ("gain.fx.fx", "gain.fx.fy")
    gain, offset = np.random.default_rng(0).normal(0, 0.1, (6, 6)), np.arange(6.0)
    parameters = np.concatenate([regressor.nominal_parameters[:50], offset, gain.reshape(-1)])
    for seed in range(10):
        state = random_state(7, seed)
        wrench = regressor(*state)[:, :50] @ regressor.nominal_parameters[:50]
        np.testing.assert_allclose(regressor(*state) @ parameters, wrench + gain @ wrench + offset, rtol=1e-10)
    reaction = WrenchRegressor.from_urdf(ICUB, RIGHT_ARM, "r_arm_ft_sensor", "child_to_parent", gain=True)
    np.testing.assert_allclose(reaction(*state) @ parameters, -(wrench + gain @ wrench) + offset, rtol=1e-10)
    for factor in (0.1, 1.0, 10.0):  # a sensor without such errors: masses of light and heavy arms stay right
        text = re.sub(r'(value|i[xyz]+)="(.+?)"', lambda m, by=factor: f'{m[1]}="{by * float(m[2])}"', ICUB.read_text())
        arm = WrenchRegressor.from_urdf(text, RIGHT_ARM, "r_arm_ft_sensor", gain=True)
        estimator = ParametricEstimator(arm)
        for state in (random_state(7, seed) for seed in range(300)):
            estimator.update(*state, arm(*state) @ arm.nominal_parameters)
        assert np.abs(estimator.parameters[56:]).max() < 0.02
        assert estimator.parameters[:50:10].sum() == pytest.approx(arm.nominal_parameters[:50:10].sum(), rel=0.02)


def test_the_direction_of_friction_is_as_sharp_as_velocities_are_known():
    """The smoothed sign is close to the expected sign of a Gaussian velocity."""
    v, s = np.linspace(-3, 3, 301), 0.7
    np.testing.assert_allclose(np.tanh(v / (NOISE_WIDTH * s)), erf(v / (np.sqrt(2) * s)), atol=0.025)
    regressor, deviation = TorqueRegressor.from_urdf(UR10, UR10_JOINTS), np.array([0.0, 1e-4, 0.01, 0.1, 1.0, 0.02])
    regressor.follow_velocity_noise(deviation)
    np.testing.assert_allclose(regressor.coulomb_velocity, np.maximum(1.2 * deviation, STANDSTILL))
    q, v, a = random_state(6, 0)
    direction = np.diag(regressor(q, v, a)[:, 60::6])
    np.testing.assert_allclose(direction, np.tanh(v / regressor.coulomb_velocity), rtol=1e-12)
    np.testing.assert_array_equal(rebuild_regressor(describe(regressor))(q, v, a), regressor(q, v, a))


def test_a_bad_noise_changes_nothing():
    before = (regressor := TorqueRegressor.from_urdf(UR10, UR10_JOINTS)).coulomb_velocity.copy()
    for bad, error in ((np.zeros(5), ShapeError), (np.full(6, np.nan), NotFiniteError), (-np.ones(6), ParameterError)):
        with pytest.raises(error):
            regressor.follow_velocity_noise(bad)
    np.testing.assert_array_equal(regressor.coulomb_velocity, before)
    for friction in (("coulomb", "stiction"), "coulomb", None):
        with pytest.raises(ParameterError, match="among coulomb"):
            TorqueRegressor.from_urdf(UR10, UR10_JOINTS, friction)
    for value, error in ((np.ones(3), ShapeError), *((bad, ParameterError) for bad in (0.0, -1.0, np.nan, "fast"))):
        with pytest.raises(error, match="coulomb_velocity"):
            TorqueRegressor.from_urdf(UR10, UR10_JOINTS, coulomb_velocity=value)


@pytest.mark.parametrize("kind", ["wrench", "torque"])
def test_a_model_goes_on_with_columns_that_it_lacked(kind):
    """What it learned is kept: it equals the batch over all samples, with new columns of zero before they came."""
    if kind == "wrench":
        old = WrenchRegressor.from_urdf(ICUB, RIGHT_ARM, "r_arm_ft_sensor", offset=False)
        new = WrenchRegressor.from_urdf(ICUB, RIGHT_ARM, "r_arm_ft_sensor")
    else:
        old = TorqueRegressor.from_urdf(UR10, UR10_JOINTS, ("coulomb", "viscous", "offset"), 0.05)
        new = TorqueRegressor.from_urdf(UR10, UR10_JOINTS, coulomb_velocity=0.05)
    random = np.random.default_rng(0)
    n, extra = old.n_joints, [k for k, name in enumerate(new.parameter_names) if name not in old.parameter_names]
    estimator = ParametricEstimator(old, 0.5, output_weights="equal")
    rows, targets = [], []
    for k in range(40):
        state = random_state(n, k)
        targets.append(random.normal(size=old.n_outputs))
        rows.append(new(*state))
        rows[-1][:, extra] = 0.0
        estimator.update(*state, targets[-1])
    state = estimator.state()
    alone = ParametricEstimator.from_state(state)
    np.testing.assert_allclose(alone.parameters, estimator.parameters, rtol=1e-12)
    assert alone.regressor.parameter_names == old.parameter_names
    grown = ParametricEstimator.from_state(state, new)
    assert grown.n_samples == 40
    for k in range(40, 60):
        motion = random_state(n, k)
        targets.append(random.normal(size=old.n_outputs))
        rows.append(new(*motion))
        grown.update(*motion, targets[-1])
    prior = np.full(new.n_parameters, 0.5)
    prior[extra] = 100.0  # tenfold what parameters of bodies have by default, and offsets have a thousandth
    prior[list(new.offset_indices)] = 0.01 if kind == "wrench" else 0.0005
    stacked = np.vstack([*rows, np.diag(np.sqrt(prior))])
    expected = np.linalg.lstsq(stacked, np.r_[np.concatenate(targets), np.zeros(len(prior))], rcond=None)[0]
    np.testing.assert_allclose(grown.parameters, expected, rtol=1e-6, atol=1e-9)


def test_a_model_with_columns_that_the_robot_lacks_is_refused(regressor):
    without = WrenchRegressor.from_urdf(ICUB, RIGHT_ARM, "r_arm_ft_sensor", offset=False)
    state = ParametricEstimator(regressor).state()
    with pytest.raises(StateError, match=r"fz, offset.tx, offset.ty, 1 more; here: no others; set sensor_offset"):
        ParametricEstimator.from_state(state, without)
    assert ParametricEstimator.from_state(ParametricEstimator(without).state(), regressor).parameters.shape == (56,)


def test_weights_follow_the_noise_of_each_output_and_make_the_estimate_better(regressor):
    """With forces a hundred times noisier than torques, weights bring the parameters closer to the truth."""
    noise, errors = np.array([1.0, 1.0, 1.0, 0.01, 0.01, 0.01]), {}
    for kind in ("equal", "noise"):
        random, estimator = np.random.default_rng(0), ParametricEstimator(regressor, 1e-3, output_weights=kind)
        for k in range(4000):  # enough samples to outweigh the errors of the first ones
            state = [0.3 * part for part in random_state(7, k)]
            estimator.update(*state, regressor(*state) @ regressor.nominal_parameters + noise * random.normal(size=6))
        error = estimator.base_parameters - regressor.base_projection @ regressor.nominal_parameters
        errors[kind], ratio = np.linalg.norm(error[:-6]), estimator.state()["weights"]
        np.testing.assert_allclose(ratio, np.ones(6) if kind == "equal" else 1.0 / noise, rtol=0.2)
    assert errors["noise"] < 0.5 * errors["equal"]
    with pytest.raises(ParameterError, match="output_weights"):
        ParametricEstimator(regressor, output_weights="some")


def test_a_drifting_offset_is_followed_and_the_masses_stay():
    """The offset lags behind by the memory, 1 / (1 - forgetting) samples, as that of an exponential average does."""
    regressor, random = WrenchRegressor.from_urdf(ICUB, RIGHT_ARM, "r_arm_ft_sensor"), np.random.default_rng(0)
    fixed, drifting = ParametricEstimator(regressor), ParametricEstimator(regressor, offset_forgetting=0.95)
    lags = {fixed: [], drifting: []}
    for k in range(3000):
        state, offset = [0.5 * part for part in random_state(7, k)], 10 * np.sin(2 * np.pi * k / 3000) * np.ones(6)
        y = regressor(*state) @ regressor.nominal_parameters + offset + 0.1 * random.normal(size=6)
        for estimator, errors in lags.items():
            if k > 500:
                errors.append(estimator.parameters[-6:] - offset)
            estimator.update(*state, y)
    lag = 10 * (2 * np.pi / 3000) * 20 / np.sqrt(2)  # [N] root mean square of the lag
    assert np.std(lags[drifting]) == pytest.approx(lag, rel=0.1) and np.std(lags[fixed]) > 10 * lag
    mass = [estimator.parameters[:50:10].sum() for estimator in (drifting, fixed)]
    assert mass[0] == pytest.approx(regressor.nominal_parameters[:50:10].sum(), rel=0.01)
