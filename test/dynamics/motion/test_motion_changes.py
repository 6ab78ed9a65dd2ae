"""The motion filter where samples are repeated, motions are slow, and brisk motions follow slow ones."""

import numpy as np
import pytest
from helpers.local_polynomials import newest_by_window
from helpers.motions import newest_of, quintic, record, rms, rmse, sines, with_fixed_levels

from icub_learning.dynamics.motion.first_noise import first_noise
from icub_learning.dynamics.motion.motion_filter import MotionFilter


@pytest.mark.parametrize("noise", [None, 0.005])
def test_slow_motion_is_found_to_be_slow(noise):
    given = {"velocity_noise": noise, "step": 3e-4, "seconds": 30.0}
    stamps, position, velocity, _, v, a = record(lambda t, rng: sines(t, rng, highest=0.12), 100, **given)
    found, late = newest_of(MotionFilter(3), stamps, position, velocity), slice(len(stamps) // 2, None)
    for window in (31, 61):
        fitted = newest_by_window(stamps, position, None, window, 2)
        assert (rmse(found[late], v[late], a[late]) < 1.1 * rmse(fitted[late], v[late], a[late])).all()


@pytest.mark.parametrize("noise", [None, 0.003])
def test_repeated_rows_harm_little_more_than_rows_that_are_missing(noise):
    stamps, position, velocity, _, v, a = record(sines, 125, velocity_noise=noise, repeated=0.12, seconds=20.0)
    fresh = np.r_[True, (np.diff(position, axis=0) != 0).any(axis=1)]
    repeated, missing = MotionFilter(3), MotionFilter(3)
    late, third = slice(len(stamps) // 3, None), slice(fresh.sum() // 3, None)
    with_all = newest_of(repeated, stamps, position, velocity)[late]
    rows = newest_of(missing, stamps[fresh], position[fresh], None if noise is None else velocity[fresh])
    assert (rmse(with_all, v[late], a[late]) < 1.4 * rmse(rows[third], v[fresh][third], a[fresh][third])).all()
    np.testing.assert_allclose(repeated.report()["position_noise"], 1e-4 / np.sqrt(12), rtol=0.5)


def test_all_joints_that_stop_at_once_have_stopped_and_the_smallest_step_of_one_that_moves_fast_is_found():
    t = np.arange(0, 6, 0.01)
    q = np.interp(t % 2.0, [0.0, 1.0, 2.0], [0.0, 0.5, 0.5])[:, None] * [1.0, -0.7]  # moves and rests, 1 s each
    found = newest_of(MotionFilter(2), np.round(t * 1e9).astype(np.int64) + 1, np.round(q / 1e-4) * 1e-4)
    assert np.abs(found[(t % 2.0 > 1.3) & (t > 2.0), 0]).max() < 0.05
    t = np.arange(12) * 0.008
    white, step, counted = first_noise(np.round(np.column_stack([2.0 * t + 3.0 * t**2, 1e-9 * t, 0 * t]) / 1e-4) * 1e-4)
    assert step[0] == pytest.approx(1e-4) and not np.isfinite(step[1:]).any() and counted.all() and (white < 1e-7).all()
    noisy = 2.0 * t[:, None] + 1e-5 * np.random.default_rng(0).standard_normal((12, 50))
    held = first_noise(noisy[[0, 1, 2, 2, 4, 5, 6, 7, 7, 7, 10, 11]])[0]  # a driver repeats rows
    np.testing.assert_allclose([first_noise(noisy)[0].mean(), held.mean()], 1e-10, rtol=0.5)


def plain(position, ratio, surprise):
    """Return the velocities (n, 1) of a filter with fixed levels."""
    filter = with_fixed_levels(1, (ratio * 1e-9, 1e-9, 1.0, 0.0, 3.0), (0.2, 0.2, 0.01), surprise=surprise)
    state, found = np.empty((3, 1)), []
    for k, row in enumerate(position):
        filter.add(k * 5_000_000 + 1, row, None, 1)
        filter.read(state, None, 0, 1)
        found.append(state[1].copy())
    return np.array(found)


def test_a_brisk_move_surprises_and_its_own_noise_does_not():
    rng, t = np.random.default_rng(3), np.arange(0, 8, 0.005)
    still = 3e-5 * rng.standard_normal((len(t), 1))
    as_expected = [plain(still, 1e10, surprise) for surprise in (4.0, np.inf)]
    changed = np.any(as_expected[0] != as_expected[1], axis=1)
    assert changed.mean() < 0.1  # four standard deviations are rare, and their effect fades
    q, v, _ = quintic(t, np.random.default_rng(0))
    forgetting, stubborn = (plain(q[:, None] + still, 1e7, surprise) - v[:, None] for surprise in (4.0, np.inf))
    assert rms(forgetting) < 0.5 * rms(stubborn)


def test_a_driver_that_repeats_rows_is_found_among_moves_with_rests():
    rng, (stamps, position, _, _, v, a) = np.random.default_rng(1), record(quintic, 125, joints=1, step=1e-7)
    position += 3e-5 * rng.standard_normal(position.shape)
    held = position[np.maximum.accumulate(np.arange(len(v)) * (rng.random(len(v)) > 0.15))]
    alone, found = (newest_of(MotionFilter(1), stamps, rows)[1000:] for rows in (position, held))
    assert (rmse(found, v[1000:], a[1000:]) < 2.0 * rmse(alone, v[1000:], a[1000:])).all()
