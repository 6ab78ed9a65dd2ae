"""The motion filter where accelerations jump and are constant in between: against parabolas fitted with known jumps."""

import numpy as np
import pytest
from helpers.local_polynomials import newest_by_window
from helpers.motions import each, quintic, record, rms, rmse, sines, trapezoids

from icub_learning.dynamics.motion.motion_filter import MotionFilter


def follow(filter, stamps, position, velocity=None):
    """Return velocity and acceleration at each newest sample, (n, 2, joints), and whether jumps were found, (n,)."""
    found = [(filter.newest()[2:], filter.jumping) for _ in each(filter, stamps, position, velocity)]
    newest, believed = zip(*found, strict=True)
    return np.array(newest), np.array(believed)


def common_jumps(rate, seconds, step, seed=0):
    """Return stamps, positions, truth (n, 2, 2) and samples since the last jump, of two joints that jump together.
    Accelerations are constant between jumps; every third piece of the motion is a rest."""
    rng, t = np.random.default_rng(seed), np.arange(int(seconds * rate)) / rate
    spans = rng.uniform(0.25, 0.7, (4 * int(seconds) // 3 * 3, 1))
    knots, a = np.r_[0.0, np.cumsum(spans)[:-1]], rng.uniform(-3.0, 3.0, (len(spans), 2))
    a[1::3], a[2::3] = -a[::3] * spans[::3] / spans[1::3], 0.0
    start = np.zeros((1, 2))
    v = np.r_[start, np.cumsum(a * spans, axis=0)[:-1]]
    q = np.r_[start, np.cumsum(v * spans + a * spans**2 / 2, axis=0)[:-1]]
    piece = np.searchsorted(knots, t, side="right") - 1
    since = (t - knots[piece])[:, None]
    truth = np.stack([v[piece] + a[piece] * since, a[piece]], axis=1)
    position = q[piece] + v[piece] * since + a[piece] * since**2 / 2
    age = np.arange(len(t)) - np.searchsorted(t, knots[piece])
    return np.round(t * 1e9).astype(np.int64) + 1, np.round(position / step) * step, truth, age


@pytest.mark.parametrize("rate", [100, 200])
def test_velocities_are_nearly_those_of_parabolas_that_are_told_when_accelerations_jumped(rate):
    stamps, position, truth, age = common_jumps(rate, 20.0, 1e-4)
    found, believed = follow(MotionFilter(2), stamps, position)
    chosen = np.flatnonzero((age >= int(0.08 * rate)) & (np.arange(len(age)) > len(age) // 3))
    assert believed[chosen].mean() > 0.9
    fitted = np.empty((len(chosen), 2))
    for row, k in enumerate(chosen):
        fitted[row] = np.polyfit((stamps[k - age[k] : k + 1] - stamps[k]) * 1e-9, position[k - age[k] : k + 1], 2)[1]
    assert rms(found[chosen, 0] - truth[chosen, 0]) < 1.4 * rms(fitted - truth[chosen, 0])


@pytest.mark.parametrize(
    "rate, given", [(50, {}), (100, {"step": 1.5e-3}), (200, {}), (500, {"step": 1e-3}), (1000, {"seconds": 8.0})]
)
def test_trapezoids_of_velocity_are_followed_better_than_by_any_window(rate, given):
    stamps, position, _, _, v, a = record(trapezoids, rate, **given)
    found, believed = follow(MotionFilter(3), stamps, position)
    late = slice(len(stamps) // 3, None)
    assert believed[late].mean() > 0.7
    spans = (max(round(span * rate), 4) for span in (0.03, 0.05, 0.08, 0.12, 0.2))
    rivals = [newest_by_window(stamps, position, None, span, 2)[late] for span in spans]
    best = np.min([rmse(rival, v[late], a[late]) for rival in rivals], axis=0)
    assert (rmse(found[late], v[late], a[late]) < 0.9 * best).all()


@pytest.mark.parametrize("motion", [sines, quintic])
@pytest.mark.parametrize("rate, given", [(50, {}), (100, {"step": 1.5e-3}), (200, {}), (500, {"step": 1e-3})])
def test_jumps_are_not_believed_in_where_accelerations_are_continuous(motion, rate, given):
    stamps, position, *_ = record(motion, rate, **given)
    _, believed = follow(MotionFilter(3), stamps, position)
    assert believed[len(stamps) // 4 :].mean() < 0.02


def test_jumps_are_not_believed_in_for_likely_positions_alone():
    """Position errors that are correlated in neighbouring samples look like jumps of accelerations, but are none."""
    rng = np.random.default_rng(0)
    stamps, position, *_ = record(sines, 100, step=1e-6, seconds=30.0)
    wobble = np.repeat(rng.standard_normal((len(stamps) // 4 + 1, 3)), 4, axis=0)[: len(stamps)]
    _, believed = follow(MotionFilter(3), stamps, position + 5e-4 * wobble)
    assert believed[len(stamps) // 3 :].mean() < 0.1


@pytest.mark.parametrize("motion, late, most", [(trapezoids, 0.0, 1.05), (trapezoids, 0.03, 1.05), (quintic, 0.0, 0.8)])
def test_measured_velocities_help_or_do_no_harm(motion, late, most):
    stamps, position, velocity, *_, a = record(motion, 200, velocity_noise=1e-3 if late == 0.0 else 1e-2, late=late)
    stopped, dead = velocity[np.arange(len(a)).clip(0, len(a) // 4)], np.where(np.abs(velocity) > 0.05, velocity, 0.0)
    given = velocity, None, stopped, dead, 0.0 * velocity, 0.0 * velocity + 1e-3, velocity * [1.0, 57.3, 0.0]  # degrees
    newest = (follow(MotionFilter(3), stamps, position, one)[0][len(stamps) // 3 :] for one in given)
    measured, none, *some = (np.sqrt(((one[:, 1] - a[-len(one) :]) ** 2).mean(axis=0)) for one in newest)
    assert rms(measured) < most * rms(none) and (np.array(some) < 1.3 * none).all()


def test_a_gap_ends_the_belief():
    stamps, position, *_ = common_jumps(200, 10.0, 1e-4)
    _, believed = follow(filter := MotionFilter(2), stamps[:1800], position[:1800])
    filter.add(int(stamps[1800]) + 2 * 10**9, position[1800] + 1.0, None)
    assert believed[-1] and not filter.jumping and (filter.newest().position == position[1800] + 1.0).all()


def test_a_rest_of_a_day_is_followed_by_motion_as_before():
    filter = MotionFilter(2)
    stamps, position, truth, _ = common_jumps(100, 20.0, 1e-4)
    before, _ = follow(filter, stamps, position)
    for k in range(100_000):
        filter.add(int(stamps[-1]) + (k + 1) * 900_000_000, position[-1], None)
    assert np.isfinite(np.array(filter.newest()[1:])).all() and np.abs(filter.newest().velocity).max() < 1e-4
    after, _ = follow(filter, stamps + stamps[-1] + 100_001 * 900_000_000, position + position[-1] - position[0])
    errors = [rmse(one[500:], *truth[500:].swapaxes(0, 1)) for one in (after, before)]
    assert (errors[0] < 1.2 * errors[1]).all()
