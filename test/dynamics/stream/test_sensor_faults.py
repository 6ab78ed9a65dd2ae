"""Sensors in trouble: frozen and saturated ones, faults that drivers have, and what only looks like them."""

import numpy as np
import pytest

from icub_learning.dynamics.regressors.wrench_regressor import WRENCH_AXES
from icub_learning.dynamics.stream.sensor_faults import CHECKED_SAMPLES, FROZEN, SATURATED, SensorCheck, SensorFaults

PERIOD = 5_000_000  # ns


def checks(measured, moving=True):
    faults = SensorFaults(measured.shape[1])
    positions = np.outer(np.arange(len(measured)) * 1e-3 * moving, np.ones(2))
    return [
        faults.check(k * PERIOD, row, position)
        for k, (row, position) in enumerate(zip(measured, positions, strict=True))
    ]


@pytest.fixture
def noise():
    return np.random.default_rng(0).standard_normal((1000, 3))


def test_healthy_sensor(noise):
    assert set(checks(noise)) == {None}


def test_frozen_while_the_robot_moves(noise):
    noise[600:900] = noise[599]
    found = checks(noise)
    assert set(found[:690]) == {None} and set(found[705:900]) == {FROZEN} and set(found[900:]) == {None}


def test_constant_while_the_robot_rests(noise):
    noise[600:] = noise[599]
    assert set(checks(noise, moving=False)) == {None}


def test_saturated_axis(noise):
    noise[600:900, 1] = 5.0
    found = checks(noise)
    assert set(found[:640]) == {None} and set(found[645:900]) == {SATURATED} and set(found[900:]) == {None}


def test_coarse_steps_are_no_saturation():
    slow = np.round(np.sin(np.arange(3000)[:, None] * 2e-3 * np.array([1.0, 1.3])) / 0.1) * 0.1
    assert SATURATED not in checks(slow)


def verdict(change, is_wrench=True):
    random = np.random.default_rng(0)
    check = SensorCheck(WRENCH_AXES, is_wrench)
    answers = []
    for k in range(CHECKED_SAMPLES + 10):
        measured = random.normal(size=6) * [5, 5, 5, 0.5, 0.5, 0.5]
        change(measured, k)
        answers.append(check.add(measured, np.array([0.0, 0.002 * k])))
    assert all(answer is None for k, answer in enumerate(answers) if k != CHECKED_SAMPLES - 1)
    return answers[CHECKED_SAMPLES - 1]


def test_a_real_sensor_passes():
    assert verdict(lambda measured, _: None) == ""


@pytest.mark.parametrize("value", [0.0, 4.9e-324, 7.25])
def test_an_axis_that_never_changes_is_named(value):
    assert "torque.z" in verdict(lambda measured, _: measured.__setitem__(5, value))


def test_garbage_that_changes_but_is_nearly_zero_is_named():
    assert "torque.z" in verdict(lambda measured, k: measured.__setitem__(5, k * 1e-310))


def test_a_torque_that_no_lever_explains_is_named():
    answer = verdict(lambda measured, k: measured.__setitem__(3, 900.0 + k))
    assert "torque.x" in answer
    assert "torque.y" not in answer
    assert verdict(lambda measured, k: measured.__setitem__(3, 900.0 + k), is_wrench=False) == ""


def test_a_dead_sensor_is_named():
    assert "connected" in verdict(lambda measured, _: measured.fill(0.0))


def test_only_a_moving_robot_is_judged():
    random = np.random.default_rng(0)
    check = SensorCheck(WRENCH_AXES, is_wrench=True)
    rest = random.normal(size=6)
    for _ in range(10 * CHECKED_SAMPLES):  # at rest in a simulation: nothing changes but the last bits
        assert check.add(rest, np.full(7, 0.3) + 1e-9 * random.normal(size=7)) is None
    answers = [check.add(random.normal(size=6), np.full(7, 0.3 + 0.01 * k)) for k in range(1, CHECKED_SAMPLES)]
    assert answers[-1] == ""
    assert answers[:-1] == [None] * (CHECKED_SAMPLES - 2)
