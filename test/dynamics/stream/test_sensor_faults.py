"""Faulty sensors: frozen and saturated ones, faults of drivers, and signals that only look like them."""

from functools import partial

import numpy as np
import pytest

from icub_learning.dynamics.regressors.wrench_regressor import WRENCH_AXES
from icub_learning.dynamics.stream.sensor_faults import CHECKED_SAMPLES, FROZEN, SATURATED, SensorCheck, SensorFaults

PERIOD = 5_000_000  # ns
LIMITS = {"shoulder": (-np.inf, np.inf), "elbow": (-1.0, 2.0)}  # [rad]


def frozen(measured):
    measured[599:900] = 5.0  # the largest values as well, but not saturated ones


def saturated(measured, value=5.0):
    measured[600:900, 1] = value


def coarse(measured):
    """Overwrite with three sines in coarse steps, which last longest where the sines turn."""
    measured[:] = np.round(np.sin(np.outer(np.arange(1000), [2e-3, 3e-3, 4e-3])), 1)


@pytest.mark.parametrize(("change", "rests_from", "fault", "first", "end"), [
    pytest.param(lambda measured: None, 1000, None, 0, 1000, id="healthy"),
    pytest.param(frozen, 1000, FROZEN, 699, 900, id="constant while the robot moves"),
    pytest.param(frozen, 600, None, 0, 1000, id="constant while the robot rests"),
    pytest.param(saturated, 1000, SATURATED, 640, 900, id="saturated"),
    pytest.param(partial(saturated, value=0.5), 1000, None, 0, 1000, id="one constant within its range"),
    pytest.param(coarse, 1000, None, 0, 1000, id="coarse steps"),
])  # fmt: skip
def test_what_is_wrong_with_each_measurement(change, rests_from, fault, first, end):
    """Faults show 0.5 s after all axes stopped, and 0.2 s after one stopped at its largest value."""
    measured, faults = np.random.default_rng(0).standard_normal((1000, 3)), SensorFaults(3)
    change(measured)
    positions = 1e-3 * np.minimum(np.arange(1000), rests_from)[:, None] * np.ones(2)
    found = [faults.check(k * PERIOD, *rows) for k, rows in enumerate(zip(measured, positions, strict=True))]
    assert found == [fault if first <= k < end else None for k in range(1000)]


@pytest.mark.parametrize(("axes", "value", "is_wrench", "words"), [
    pytest.param([], lambda k: 0.0, True, "", id="real"),
    pytest.param(5, lambda k: 0.0, True, "torque.z never changed", id="zero"),
    pytest.param(5, lambda k: 4.9e-324, True, "torque.z never changed", id="constant and nearly zero"),
    pytest.param(5, lambda k: 7.25, True, "torque.z never changed", id="constant"),
    pytest.param(5, lambda k: k * 1e-310, True, "torque.z never changed", id="garbage that is nearly zero"),
    pytest.param(3, lambda k: 900.0 + k, True, "torque.x beyond", id="a torque that no lever explains"),
    pytest.param(3, lambda k: 900.0 + k, False, "", id="the same of a joint"),
    pytest.param(slice(None), lambda k: 0.0, True, "no axis ever changed: is the sensor connected", id="dead"),
])  # fmt: skip
def test_an_axis_that_is_not_measured_is_named_once(axes, value, is_wrench, words):
    random, check, answers = np.random.default_rng(0), SensorCheck(WRENCH_AXES, is_wrench, LIMITS), []
    for k in range(CHECKED_SAMPLES + 10):
        measured = random.normal(size=6) * [5, 5, 5, 0.5, 0.5, 0.5]
        measured[axes] = value(k)
        answers.append(check.add(measured, np.array([0.0, 0.002 * k])))
    answer = answers.pop(CHECKED_SAMPLES - 1)
    assert set(answers) == {None} and answer.startswith(words) and bool(answer) == bool(words)


def test_only_a_moving_robot_is_judged_and_joints_that_are_far_beyond_their_limits_are_named():
    """Of angles from 0.3 to 2.29, three quarters lie 0.5 beyond the limits of a, a seventh beyond those of b."""
    limits = {"endless": (-np.inf, np.inf), "a": (-1.0, 0.3), "b": (-1.0, 1.5), "c": (-1.0, 1.8), "d": (0.9, 3.0)}
    random, check = np.random.default_rng(0), SensorCheck(WRENCH_AXES, True, limits)
    rest = random.normal(size=6)
    for _ in range(10 * CHECKED_SAMPLES):  # a simulated robot at rest: only the last bits change
        assert check.add(rest, np.full(5, 0.3) + 1e-9 * random.normal(size=5)) is None
    *before, found = (check.add(random.normal(size=6), np.full(5, 0.3 + 0.01 * k)) for k in range(1, CHECKED_SAMPLES))
    assert found == "a more than 0.5 rad, or m, beyond the URDF's limits: degrees?"
    assert before == [None] * (CHECKED_SAMPLES - 2)
