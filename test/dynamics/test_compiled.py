"""Compiled fading means and checks against their formulas in NumPy."""

import numpy as np
import pytest
from helpers.spoiled_arguments import assert_refused
from hypothesis import given, settings
from hypothesis import strategies as st

from icub_learning.dynamics import _checks, _fading
from icub_learning.dynamics.estimators.noise import prediction_errors as errors_of

SEEDS, SIZES = st.integers(0, 2**32 - 1), st.integers(1, 8)


def steps(rng, n):
    """Return times between samples [s] and the faded weight of all samples after each, for half-lives up to 10 s."""
    elapsed = rng.choice([1e-3, 5e-3, 1e-2, 0.3], n)
    ages, weights, weight = np.cumsum(elapsed), [], 0.0
    for step, age in zip(elapsed, ages, strict=True):
        weight = 0.5 ** (step / min(10.0, 0.25 * age)) * weight + 1.0
        weights.append(weight)
    return elapsed, weights


@settings(max_examples=30, deadline=None)
@given(SEEDS, SIZES)
def test_calibration(seed, m):
    rng, found = np.random.default_rng(seed), errors_of.CalibratedVariance(m)
    mean, factor = np.zeros(m), np.ones(m)
    for k, (elapsed, weight) in enumerate(zip(*steps(rng, 60), strict=True)):
        error, added = rng.standard_cauchy(m) * (rng.random(m) < 0.9), rng.random(m)
        found.update(error, added, elapsed)
        square = error**2
        if k:
            told = factor * (mean + added)
            share = np.where(mean > 0.0, mean / (mean + added), 1.0)  # from 0, all of an error is noise
            moved = np.log(factor) + min(errors_of.GAIN * elapsed, 1.0) * ((square > 4.0 * told) - errors_of.MISSES)
            factor, square = np.exp(np.clip(moved, *np.log(errors_of.RANGE))), square * share
        mean = mean + (square - mean) / weight
        np.testing.assert_allclose(found.value, mean * factor, rtol=1e-11, atol=1e-300)


@settings(max_examples=30, deadline=None)
@given(SEEDS, SIZES)
def test_correlation(seed, m):
    rng, found = np.random.default_rng(seed), errors_of.SerialCorrelation(m)
    elapsed, weights = steps(rng, 40)
    errors = rng.standard_normal((40, m)).cumsum(axis=0)
    for row, step in zip(errors, elapsed, strict=True):
        found.update(row, step)
    kept, places = np.exp(-elapsed / errors_of.SMOOTHING), range(40)
    impulses = np.array([[(j <= i) * (1.0 - kept[j]) * kept[j + 1 : i + 1].prod() for j in places] for i in places])
    lasting, white = (impulses @ errors) ** 2, (impulses**2).sum(axis=1)
    long_run = variance = np.zeros(m)
    for k, weight in enumerate(weights):
        long_run = long_run + (lasting[k] / white[k] - long_run) / weight
        variance = variance + (errors[k] ** 2 - variance) / weight
    np.testing.assert_allclose(found.value, np.maximum(long_run / variance, 1.0), rtol=1e-9)


@given(st.integers(1, 40), st.integers(1, 40), SEEDS, st.sampled_from([0, 4]))
@settings(deadline=None, max_examples=60)
def test_select_takes_what_indices_name(count, joints, seed, shift):
    random = np.random.default_rng(seed)
    values, indices = random.normal(size=count), random.integers(0, count, joints)
    memory = bytes(shift) + values.tobytes()  # aligned or not
    for buffer in (np.frombuffer(memory, np.float64, count, shift), memoryview(memory)[shift:].cast("d")):
        out = np.empty(joints)
        assert _checks.select(out, buffer, indices, 100.0)
        np.testing.assert_array_equal(out, values[indices])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 10.1, -10.1])
def test_select_tells_what_is_beyond_the_bound(bad):
    values, out = np.array([1.0, bad, 10.0, -10.0]), np.empty(2)
    assert not _checks.select(out, values, np.array([0, 1]), 10.0)
    np.testing.assert_array_equal(out, [1.0, bad])
    assert _checks.select(out, values, np.array([2, 3]), 10.0)


@pytest.mark.parametrize(("out", "values", "indices", "error", "message"), [
    (np.empty(2), np.zeros(3), np.array([0, 3]), IndexError, "index 3 of 3 values"),
    (np.empty(2), np.zeros(3), np.array([-1, 0]), IndexError, "index -1 of 3 values"),
    (np.empty(1), np.zeros(3), np.array([0, 1]), ValueError, "out and indices do not fit"),
    (np.empty(2), np.zeros(3, np.float32), np.array([0, 1]), ValueError, "values: expected float64"),
    (np.empty(2), np.zeros(3), np.array([0, 1], np.int32), ValueError, "indices: expected int64, got format 'i'"),
    (np.empty(2, np.float32), np.zeros(3), np.array([0, 1]), ValueError, "out: expected float64"),
])  # fmt: skip
def test_select_refuses_what_does_not_fit(out, values, indices, error, message):
    with pytest.raises(error, match=message):
        _checks.select(out, values, indices, 1.0)


def test_finite_vectors():
    good, most = np.arange(3.0), np.array([2.0, 5.0])
    assert _checks.finite_vectors((good, good - 7.0 + 2.0), 3, most) and _checks.finite_vectors((), 3, most)
    for bad in (np.zeros(2), np.zeros((3, 1)), np.zeros(3, np.float32), np.array([0.0, np.nan, 0.0]),
                np.array([np.inf, 0.0, 0.0]), [0.0, 0.0, 0.0], np.zeros(6)[::2], None, good - 7.1):  # fmt: skip
        assert not _checks.finite_vectors((good, bad), 3, most)


ones = np.ones
CALLS = [
    (_fading.calibrate, [ones(3), ones(3), ones(3), ones(3), 3, True, 2.0, 0.9, 1.1, 1e-4, 1e4]),
    (_fading.correlate, [ones(3), ones(3), ones(3), ones(3), 3, 0.9, 0.1, 2.0]),
    (_checks.sensor, [ones(12), ones(2), ones(3), ones(2), 3, 2, 1e9, 0.5, 0.01, 0.2, 0.9, 0.01]),
]


@pytest.mark.parametrize(("function", "arguments"), CALLS)
def test_what_does_not_fit_is_refused(function, arguments):
    assert_refused(function, arguments)
