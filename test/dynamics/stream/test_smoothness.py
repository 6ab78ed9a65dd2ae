"""Predictions that jump more than measurements: limited as little as suffices, and not at all where they do not."""

import numpy as np
import pytest
from scipy.signal import lfilter

from icub_learning.dynamics.estimators.prediction import Prediction
from icub_learning.dynamics.stream.smoothness import KNOWN_AFTER, LONGEST_STEP, ROUGHEST, SmoothnessFilter

PERIOD = 0.008  # [s]


def prediction(total):
    return Prediction(total, 0.25 * total, 0.75 * total, np.ones_like(total))


def friction(n, seed=0):
    """A smooth effort (n,), and friction that changes its sign at once now and then."""
    rng = np.random.default_rng(seed)
    time = PERIOD * np.arange(n)
    return np.sin(1.3 * time), 2.0 * np.sign(np.sin(2.0 * np.pi * time * rng.uniform(0.3, 0.5)))


def published(filters, stamps, predicted, measured):
    """What comes out of a filter, with what went in: (n, m)."""
    found = []
    for stamp, total, value in zip(np.round(1e9 * stamps).astype(int).tolist(), predicted, measured, strict=True):
        made = prediction(total)
        found.append(filters.filtered(stamp, made))
        filters.follow(stamp, made, value)
    totals, parametric, residual, variance = (
        np.array([getattr(one, name) for one in found]) for name in ("total", "parametric", "residual", "variance")
    )
    np.testing.assert_allclose(parametric + residual, totals, atol=1e-12)
    assert (variance == 1.0).all()
    return totals


def roughness(values):
    return np.sqrt(np.mean(np.diff(values, axis=0) ** 2, axis=0))


@pytest.mark.parametrize("width", [0.01, 0.03, 0.06])
def test_an_output_that_jumps_more_than_its_measurement_is_limited_as_little_as_suffices(width):
    n = 15_000  # two minutes
    smooth, jumps = friction(n)
    rough = smooth + jumps
    gain = -np.expm1(-PERIOD / width)
    measured = np.stack([smooth + lfilter([gain], [1.0, gain - 1.0], jumps), rough], axis=1)
    predicted = np.stack([rough, rough], axis=1)
    filters = SmoothnessFilter(2)
    found = published(filters, PERIOD * np.arange(n), predicted, measured)
    late = slice(n // 2, None)
    ratio = roughness(found[late]) / roughness(measured[late])
    # Neighbouring limits differ by the square root of 2, and the last minute is not all that is remembered.
    assert ROUGHEST / 1.6 < ratio[0] < 1.1 * ROUGHEST
    assert np.mean(found[late, 0] == rough[late]) > 0.8  # outside jumps nothing is changed
    assert filters.limits[1] == np.inf  # the other output is as rough as its measurement, and passes
    np.testing.assert_array_equal(found[:, 1], predicted[:, 1])


def test_a_limit_begins_without_a_jump_and_ends_when_it_is_needed_no_more():
    rng = np.random.default_rng(2)
    n, more = 2000, 50_000
    smooth, _ = friction(more)
    noise = rng.normal(size=more)
    noise[n:] = 0.0  # what made predictions rough has ended
    predicted = (smooth + noise)[:, None]
    measured = (smooth + 0.02 * rng.normal(size=more))[:, None]
    filters, stamps = SmoothnessFilter(1), PERIOD * np.arange(more)
    found = published(filters, stamps[:n], predicted[:n], measured[:n])
    begin = round(KNOWN_AFTER / PERIOD)
    assert roughness(found[begin + 10 :]) < 0.2 * roughness(predicted[begin + 10 : n])
    assert np.abs(np.diff(found[begin - 1 : begin + 3, 0])).max() < 6.0
    published(filters, stamps[n:], predicted[n:], measured[n:])
    assert filters.limits[0] == np.inf


def test_a_limit_follows_a_motion_that_becomes_faster_and_is_off_while_nothing_is_measured():
    n = 6000
    smooth, jumps = friction(n)
    rough = 0.01 * (smooth + jumps)[:, None]
    filters = SmoothnessFilter(1)
    published(filters, PERIOD * np.arange(n), rough, 0.01 * smooth[:, None])
    assert filters.limits[0] < np.inf
    fast = 10.0 * np.sin(6.0 * PERIOD * np.arange(200))[:, None]
    found = published(filters, PERIOD * (n + np.arange(200)), fast, fast)
    assert np.abs(found - fast)[13:].max() < 0.1 * np.abs(fast).max()  # after a tenth of a second
    alone = prediction(np.array([1e3]))
    assert filters.filtered(round(1e9 * (PERIOD * (n + 200) + 1.1 * LONGEST_STEP)), alone) is alone


def test_the_jitter_of_a_robot_at_rest_is_no_roughness_and_a_motion_after_long_rest_is_followed():
    rng = np.random.default_rng(3)
    smooth, _ = friction(1000)
    rest = np.full(40_000, smooth[-1])  # more than five minutes of the same measurement
    measured = np.concatenate([smooth, rest, smooth])[:, None]
    predicted = measured + 1e-5 * rng.normal(size=measured.shape)
    filters = SmoothnessFilter(1)
    found = published(filters, PERIOD * np.arange(len(measured)), predicted, measured)
    np.testing.assert_array_equal(found, predicted)


def test_one_prediction_that_is_far_off_does_not_count_for_long():
    rough = np.add(*friction(6000))[:, None]
    predicted = rough.copy()
    predicted[1000] = 1e40
    filters = SmoothnessFilter(1)
    found = published(filters, PERIOD * np.arange(6000), predicted, rough)
    assert np.mean(found[1001:] != rough[1001:]) < 0.005  # a jump of friction now and then
    np.testing.assert_array_equal(found[2500:], rough[2500:])  # twelve seconds later


def test_whatever_comes_leaves_a_filter_that_works():
    rng = np.random.default_rng(4)
    for _ in range(20):
        filters, stamp = SmoothnessFilter(1), 0
        for value in rng.choice([0.0, 1.0, -1.0, 1e6, -1e300, np.nan, np.inf, -np.inf], 60):
            stamp += int(rng.choice([-10, 0, 1, 10**6, 10**9]))
            with np.errstate(all="ignore"):
                made = filters.filtered(stamp, prediction(np.array([value])))
            filters.follow(stamp, made, rng.normal(size=1))
        filters.reset()
        rough = np.add(*friction(100))[:, None]
        found = published(filters, 1e-9 * stamp + 1.0 + PERIOD * np.arange(100), rough, rough)
        assert found.min() >= rough.min()
        assert found.max() <= rough.max()
