"""Frozen and saturated sensors are found, and what only looks like them is not."""

import numpy as np
import pytest

from icub_learning.dynamics.stream.sensor_faults import FROZEN, SATURATED, SensorFaults

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
