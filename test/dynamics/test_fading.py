"""Compiled means that fade, and the compiled search for sensors in trouble, against their formulas in NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icub_learning.dynamics import _checks, _fading
from icub_learning.dynamics.estimators.noise import prediction_errors as errors_of
from icub_learning.dynamics.estimators.prediction import Prediction
from icub_learning.dynamics.stream import sensor_faults as faults
from icub_learning.dynamics.stream import smoothness as smooth

SEEDS = st.integers(0, 2**32 - 1)
SIZES = st.integers(1, 8)


def steps(rng, n):
    """Times between samples [s], and the fading weight of all samples after each, for a half-life of 10 s at most."""
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
            share = np.divide(mean, mean + added)
            step = min(errors_of.GAIN * elapsed, 1.0)
            moved = np.log(factor) + step * ((square > 4.0 * told) - errors_of.MISSES)
            factor = np.exp(np.clip(moved, *np.log(errors_of.RANGE)))
            square = square * share
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
    kept = np.exp(-elapsed / errors_of.SMOOTHING)
    places = range(40)
    impulses = np.array([[(j <= i) * (1.0 - kept[j]) * kept[j + 1 : i + 1].prod() for j in places] for i in places])
    lasting, white = (impulses @ errors) ** 2, (impulses**2).sum(axis=1)
    long_run = variance = np.zeros(m)
    for k, weight in enumerate(weights):
        long_run = long_run + (lasting[k] / white[k] - long_run) / weight
        variance = variance + (errors[k] ** 2 - variance) / weight
    np.testing.assert_allclose(found.value, np.maximum(long_run / variance, 1.0), rtol=1e-9)


class Followed:
    """The limits of SmoothnessFilter by their definition, each sum anew from all samples since the beginning."""

    def __init__(self, predicted, measured, elapsed):
        self.jumps, self.changes = np.abs(np.diff(predicted, axis=0)), np.abs(np.diff(measured, axis=0))
        self.predicted, self.elapsed, self.tracked = predicted, elapsed, None

    def faded(self, values, half_life, n):
        ages = self.elapsed[:n].sum() - np.cumsum(self.elapsed[:n])
        return np.tensordot(0.5 ** (ages / half_life), values[:n], axes=1)

    def limits(self, n):
        """Those after n differences, called for each n in turn."""
        largest = np.maximum.accumulate(self.changes[:n])
        guessed = self.faded(np.minimum(self.jumps[:n], smooth.JUMP * largest) ** 2, smooth.HALF_LIFE, n)
        count, time = (self.faded(own, smooth.HALF_LIFE, n) for own in (np.ones(n), self.elapsed[:n] ** 2))
        usual, recent = (self.faded(self.changes**2, one, n) for one in (smooth.HALF_LIFE, smooth.RECENT))
        step, most = self.elapsed[n - 1], largest[-1]
        allowed = smooth.ROUGHEST**2 * (usual + count * (smooth.REST * most) ** 2)
        needs = guessed > allowed * (1.0 if self.tracked is None else smooth.CLEARLY)
        if self.elapsed[:n].sum() < smooth.KNOWN_AFTER or not needs.any():
            self.tracked = None
            return np.full_like(most, np.inf), None
        if self.tracked is None:
            shape = len(smooth.LIMITS), 1
            self.tracked = np.tile(self.predicted[n - 1], shape), np.tile(np.minimum(guessed, allowed), shape)
        of_recent = recent / self.faded(self.elapsed[:n] ** 2, smooth.RECENT, n)
        rate = np.maximum(np.sqrt(np.maximum(usual / time, of_recent)), smooth.REST * most / step)
        wanted = np.clip(self.predicted[n] - self.tracked[0], -smooth.JUMP * most, smooth.JUMP * most)
        bound = np.maximum(smooth.LIMITS[:, None] * rate * step, np.abs(wanted) * (1.0 - np.exp(-step / smooth.LATEST)))
        made = np.clip(wanted, -bound, bound)
        self.tracked = self.tracked[0] + made, 0.5 ** (step / smooth.HALF_LIFE) * self.tracked[1] + made**2
        suffices = self.tracked[1] <= allowed
        suffices[-1] = True
        chosen = smooth.LIMITS[suffices.argmax(axis=0)]
        return np.where(needs, chosen, np.inf), np.where(needs, chosen * rate, np.inf)


@settings(max_examples=5, deadline=None)
@given(SEEDS, SIZES)
def test_smoothness(seed, m):
    rng, n, found = np.random.default_rng(seed), 400, smooth.SmoothnessFilter(m)
    stamps = np.cumsum(rng.choice([4_000_000, 8_000_000, 30_000_000], n)) + 10**9
    measured = rng.standard_normal((n, m)).cumsum(axis=0)
    jumps = np.sign(np.sin(np.arange(n) / rng.uniform(3.0, 30.0))) * (np.arange(n) < 300) * rng.random(n) ** 4
    predicted = measured + rng.uniform(0.0, 20.0, m) * jumps[:, None]
    expected, rates, published = Followed(predicted, measured, np.diff(stamps) * 1e-9), None, None
    for k, (stamp, total, value) in enumerate(zip(stamps.tolist(), predicted, measured, strict=True)):
        made = Prediction(total, 0.5 * total, 0.5 * total, np.ones(m))
        out = found.filtered(stamp, made)
        if rates is None:
            assert out is made
            published = None
        else:
            change, step = 0.0 if published is None else total - published, (stamp - stamps[k - 1]) * 1e-9
            most = np.maximum(rates * step, np.abs(change) * (1.0 - np.exp(-step / smooth.LATEST)))
            published = total if published is None else published + np.clip(change, -most, most)
            np.testing.assert_allclose(out.total, published, rtol=1e-9, atol=1e-9)
        found.follow(stamp, made, value)
        if k:
            limits, rates = expected.limits(k)
            np.testing.assert_array_equal(found.limits, limits)


def in_trouble(stamps, measured, positions):
    """What is wrong with each measurement, from the definition: whole histories, and how lively outputs are."""
    lively, found = np.zeros(measured.shape[1]), [None]
    largest = np.zeros_like(measured[0])
    for k in range(1, len(measured)):
        now, before = measured[k], measured[:k]
        since = [stamps[max([0, *np.flatnonzero(np.diff(one) != 0.0) + 1])] for one in measured[: k + 1].T]
        lasted, still = (stamps[k] - np.array(since)) * 1e-9, now == before[-1]
        largest = np.maximum(largest, np.abs(now))
        moves = np.flatnonzero((np.diff(before, axis=0) != 0.0).any(axis=1))
        moved = np.abs(positions[k] - positions[moves[-1] + 1 if len(moves) else 0]).max() > faults.MOVED
        at_end = still & (np.abs(now) == largest)
        if still.all() and lasted.min() >= faults.FROZEN_SECONDS and moved:
            found.append(faults.FROZEN)
        elif not still.all() and (at_end & (lasted >= faults.SATURATED_SECONDS) & (lively > faults.LIVELY)).any():
            found.append(faults.SATURATED)
        else:
            found.append(None)
            told = ~(at_end & (lasted < 2.0 * faults.SATURATED_SECONDS))
            lively += faults.SHARE * told * (~still - lively)
    return found


@settings(max_examples=5, deadline=None)
@given(SEEDS, st.integers(1, 3))
def test_sensors_in_trouble(seed, m):
    rng, n, found = np.random.default_rng(seed), 900, faults.SensorFaults(m)
    stamps = np.cumsum(rng.choice([4_000_000, 8_000_000], n)) + 10**18
    measured, positions = rng.standard_normal((n, m)), (rng.random((n, 2)) < 0.1).cumsum(axis=0) * 0.004
    for first in (320, 480, 640, 800):
        length, held = rng.integers(20, 140), rng.permutation(m) < rng.integers(1, m + 1)
        measured[first : first + length, held] = rng.choice([9.0, 9.0, 1.0])
    checked = [found.check(*one) for one in zip(stamps.tolist(), measured, positions, strict=True)]
    assert checked == in_trouble(stamps, measured, positions)


CALLS = {  # numbers that each array of the function needs, and the arguments after them
    "calibrate": (_fading, [3, 3, 3, 3], (3, True, 2.0, 0.9, 1.1, 1e-4, 1e4)),
    "correlate": (_fading, [3, 3, 3, 3], (3, 0.9, 0.1, 2.0)),
    "limit": (_fading, [6, 6, 3], (3, 0.01, 0.2)),
    "smoothen": (_fading, [12, 3, 24, 3, 3, 3, 3, 3, 3, 4, 7], (3, 4, 0.01, True, True)),
    "sensor": (_checks, [12, 2, 3, 2], (3, 2, 1e9, 0.5, 0.01, 0.2, 0.9, 0.01)),
}


@pytest.mark.parametrize("name", CALLS)
def test_arrays_that_are_too_short_or_not_float64_are_refused(name):
    module, needed, rest = CALLS[name]
    for place, size in enumerate(needed):
        for wrong, text in ((np.ones(size - 1), f"needs {size}"), (np.ones(size, dtype=np.float32), "float64")):
            arrays = [np.ones(other) for other in needed]
            arrays[place] = wrong
            with pytest.raises(ValueError, match=text):
                getattr(module, name)(*arrays, *rest)
