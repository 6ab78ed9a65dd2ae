"""The motion filter: against a dense solution, against the truth and the best window, and on odd input."""

from itertools import product

import numpy as np
import pytest
from helpers.local_polynomials import newest_by_window
from helpers.motions import each, newest_of, quintic, record, rms, rmse, sines, with_fixed_levels
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import block_diag, toeplitz

from icub_learning.dynamics.motion.motion_filter import PRIOR, STATES, UNUSUAL, USUAL_SAMPLES, Filter, MotionFilter
from icub_learning.errors import ParameterError


def passage(d, leak):
    """Return F and unit Q of (position, velocity, acceleration, jerk) over d seconds, as in the motion filter."""
    u, f = leak * d, toeplitz([1.0, 0.0, 0.0, 0.0], [1.0, d, d**2 / 2, d**3 / 6])
    f[:, 3] /= [1 + u / 4, 1 + u / 3, 1 + u / 2, 1 + u + u**2 / 2]
    powers, factorials = 7 - np.add.outer(range(4), range(4)), [6.0, 2.0, 1.0, 1.0]
    return f, d**powers / (powers * np.outer(factorials, factorials))


def estimates(times, position, velocity, levels, prior, upto):
    """Return the mean (4,) and covariance (4, 4) of the state at each sample, given the samples with index <= upto(k).
    All samples are one Gaussian vector here, solved densely, without a filter or smoother. levels: snap density,
    variances of positions and of velocities, delay of velocities, leak."""
    snap, r_q, r_v, delay, leak = levels
    n = len(times)
    # States are linear in the stacked first state and disturbances: their covariance is built from F and Q alone.
    maps, noises = np.zeros((n, 4, 4 * n)), [np.diag([r_q, *np.square(prior)])]
    maps[0, :, :4] = np.eye(4)
    for k in range(1, n):
        f, q = passage(times[k] - times[k - 1], leak)
        maps[k] = f @ maps[k - 1]
        maps[k, :, 4 * k : 4 * k + 4] = np.eye(4)
        noises.append(snap * q)
    stacked = maps.reshape(4 * n, 4 * n)
    covariance = stacked @ block_diag(*noises) @ stacked.T
    mean = stacked[:, :4] @ np.array([position[0], 0.0, 0.0, 0.0])
    observed = [(k, [1.0, 0.0, 0.0, 0.0], position[k], r_q) for k in range(1, n)]
    if velocity is not None:
        observed += [(k, [0.0, 1.0, -delay, delay**2 / 2], velocity[k], r_v) for k in range(n)]
    of, coefficients, measured, variances = map(np.array, zip(*observed, strict=True))
    rows, out = np.einsum("oi,ok->oki", coefficients, of[:, None] == np.arange(n)).reshape(len(of), 4 * n), []
    for k in range(n):
        use = of <= upto(k)
        h = rows[use]
        here, seen = slice(4 * k, 4 * k + 4), measured[use] - h @ mean
        gain = np.linalg.solve(h @ covariance @ h.T + np.diag(variances[use]), h @ covariance[:, here]).T
        out.append((mean[here] + gain @ seen, covariance[here, here] - gain @ h @ covariance[:, here]))
    return out


# Over long times the dense solution itself is ill-conditioned: long steps take fewer samples and a narrower prior.
@pytest.mark.parametrize(
    "step, snap, prior, n", [(1e-4, 1e5, PRIOR, 25), (1e-3, 1e4, PRIOR, 25), (1e-1, 1.0, (1.0, 1.0, 1.0), 8)]
)
@pytest.mark.parametrize("with_velocity, leak, delay", [(True, 0.0, 0.0), (True, 20.0, 0.004), (False, 3.0, 0.0)])
def test_filter_and_smoother_are_those_of_the_dense_solution(step, snap, prior, n, with_velocity, leak, delay):
    rng = np.random.default_rng(0)
    stamps = np.cumsum(rng.integers(int(0.5e9 * step), int(2e9 * step), n))
    position, velocity = 0.01 * rng.standard_normal((n, 2)), rng.standard_normal((n, 2))
    r_q, r_v = 1e-7, 1e-4
    filter = with_fixed_levels(2, (snap, r_q, r_v, delay, leak), (0.5, 0.5, 0.1), prior=prior)
    states, deviations = [], []
    for k in range(n):
        filter.add(int(stamps[k]), position[k], velocity[k] if with_velocity else None, 2)
        state, deviation = np.empty((2, 3, 2))
        filter.read(state, deviation, 0, 2)
        states.append(state)
        deviations.append(deviation)
    smoothed = np.empty((filter.waiting, 3, 2))
    filter.smooth(smoothed)
    for joint in range(2):
        arguments = ((stamps - stamps[0]) * 1e-9, position[:, joint], velocity[:, joint] if with_velocity else None)
        levels = (snap, r_q, r_v, delay, leak)
        causal = estimates(*arguments, levels, prior, upto=lambda k: k)
        whole = estimates(*arguments, levels, prior, upto=lambda k: n)
        scale = np.array([1.0, 1.0 / step, 1.0 / step**2])  # sizes of rounding errors, relative to each other
        for k in range(n):
            mean, covariance = causal[k]
            assert np.all(np.abs(states[k][:, joint] - mean[:3]) <= 1e-6 * np.abs(mean[:3]) + 1e-9 * scale)
            np.testing.assert_allclose(deviations[k][:, joint], np.sqrt(np.diag(covariance))[:3], rtol=1e-5)
            mean = whole[k][0]
            assert np.all(np.abs(smoothed[k][:, joint] - mean[:3]) <= 1e-5 * np.abs(mean[:3]) + 1e-8 * scale)


@pytest.mark.parametrize("step, leak", [(1e-4, 0.0), (1e-4, 100.0), (0.1, 0.3)])
def test_deviations_stay_positive_over_many_samples(step, leak):
    filter = with_fixed_levels(1, (1e-4, 1e-14, 1e-12, 0.0, leak), (0.5, 0.5, 0.1))
    deviation, stamps, known = np.empty((3, 1)), [k * round(1e9 * step) + 1 for k in range(20_000)], []
    for stamp in stamps:
        if (ready := filter.add(stamp, np.zeros(1), np.zeros(1), 1)) >= 100:
            known += filter.smooth(np.empty((ready, 3, 1)))
    filter.read(None, deviation, 0, 1)
    assert np.isfinite(deviation).all() and (deviation > 0).all()
    # At 10 kHz, too, where fewer records are held than come within the lag.
    assert known == stamps[: len(known)] and len(known) > 19_000


ROBOTS = [
    pytest.param((sines, 20), {}, (4, 5, 7, 9), id="20 Hz"), pytest.param((sines, 50), {}, (5, 7, 9, 15), id="50 Hz"),
    pytest.param((quintic, 100), {"step": 1.5e-3}, (11, 15, 21, 31), id="iCub's leg, encoder counts"),
    pytest.param((sines, 125), {"velocity_noise": 0.003}, (7, 9, 11, 15), id="UR10"),
    pytest.param((sines, 200), {"velocity_noise": 0.003, "late": 0.004}, (11, 15, 21, 31), id="late velocities"),
    pytest.param((sines, 100), {"velocity_noise": 0.003, "repeated": 0.1}, (9, 15, 21), id="repeated samples"),
    pytest.param((sines, 200), {"velocity_noise": 0.01, "standing": 1}, (11, 15, 21), id="a joint stands still"),
]  # fmt: skip
FAST = [
    pytest.param((motion, rate), given, windows, marks=pytest.mark.slow)
    for motion in (sines, quintic)
    for rate, given, windows in (
        (1000, {"velocity_noise": 0.01, "jitter": 0.5, "seconds": 8.0}, (41, 61, 101, 141)),
        (500, {"step": 1e-3}, (41, 61, 101)), (2000, {"step": 3e-4, "seconds": 8.0, "joints": 2}, (101, 141, 201, 281)),
    )
]  # fmt: skip


@pytest.mark.parametrize(("motion", "given", "windows"), [*ROBOTS, *FAST])
def test_no_worse_than_the_best_window_without_a_setting(motion, given, windows):
    """The best one is of orders 2 and 3 and, where velocities are measured, of windows with and without them."""
    stamps, position, velocity, _, v, a = record(*motion, **given)
    late = slice(len(stamps) // 4, None)
    causal = newest_of(MotionFilter(position.shape[1]), stamps, position, velocity)
    tried = product(windows, (2, 3), (0.0,) if velocity is None else (0.0, 0.05))
    chosen = [newest_by_window(stamps, position, velocity, *one) for one in tried]
    best = np.min([rmse(found[late], v[late], a[late]) for found in chosen], axis=0)
    assert (rmse(causal[late], v[late], a[late]) <= 1.1 * best).all()


def test_smoothed_motions_are_far_better_and_come_once_in_order():
    stamps, position, velocity, _, v, a = record(sines, 200, velocity_noise=0.01)
    filter, causal, smoothed, known = MotionFilter(3), [], [], []
    for _ in each(filter, stamps, position, velocity):
        causal.append(filter.newest()[2:])
        for motion in filter.smoothed():
            smoothed.append(motion[2:])
            known.append(motion.stamp)
    assert known == list(stamps[: len(known)]) and (stamps[-1] - known[-1]) * 1e-9 < 1.5 * filter.report()["lag"] + 0.02
    late = slice(len(stamps) // 4, len(known))
    of_smoothed, of_causal = (rmse(np.array(found)[late], v[late], a[late]) for found in (smoothed, causal))
    assert (of_smoothed < 0.5 * of_causal).all()


@pytest.mark.parametrize(("given", "late", "noise", "error"), [
    (None, 0.006, 0.01, 3e-4), (None, 0.0, 1e-3, 1e-5), (None, 0.02, 1e-3, 3e-4), (0.006, 0.006, 0.01, 0.0),
])  # fmt: skip
def test_levels_are_found_and_a_known_delay_is_kept(given, late, noise, error):
    stamps, position, velocity, *_ = record(sines, 200, velocity_noise=noise, late=late, step=0.03 * noise)
    position[700, 1] += 1.0  # one wrong position is passed over, and a leap that lasts is believed
    position[-50:, 2] += 1.0
    newest_of(filter := MotionFilter(3, velocity_delay=given), stamps, position, velocity)
    report = filter.report()
    np.testing.assert_allclose(filter.newest().position, position[-1], atol=3e-3)
    np.testing.assert_allclose(report["position_noise"], 0.03 * noise / np.sqrt(12), rtol=0.4)
    np.testing.assert_allclose(report["velocity_noise"], noise, rtol=0.4)
    assert report["velocity_delay"] == pytest.approx(late, abs=error, rel=0.0)
    assert report["rate"] == pytest.approx(200.0, rel=0.01)


def test_deviation_tells_the_error():
    stamps, position, velocity, _, v, _ = record(sines, 200, velocity_noise=0.01)
    filter, inside = MotionFilter(3), []
    for k in each(filter, stamps, position, velocity):
        if k > len(stamps) // 4:
            inside.append(np.abs(filter.newest().velocity - v[k]) < 2.0 * filter.deviation()[1])
    assert 0.85 < np.mean(inside) <= 1.0


@pytest.mark.parametrize(("noise", "digits", "with_velocity", "largest"), [
    (3e-5, 5, False, 5.0), (0.0, 20, True, 1e-3), (1e-17, 20, True, 1e-3), (1e-12, 20, True, 1e-3),
])  # fmt: skip
def test_a_rest_teaches_nothing_wrong(noise, digits, with_velocity, largest):
    """It has the noise of an encoder, or none but the last bits: a simulated arm at rest repeats its positions."""
    rng, still = np.random.default_rng(0), 1600
    _, _, _, q, v, a = record(quintic, 200)
    before_and_after = (np.concatenate([np.repeat(each[:1], still, axis=0), each]) for each in (q, v))
    position, velocity = (np.round(each + noise * rng.standard_normal(each.shape), digits) for each in before_and_after)
    velocity, stamps = velocity if with_velocity else None, 10**9 + 5_000_000 * np.arange(len(position))
    found = newest_of(MotionFilter(3), stamps, position, velocity)
    alone = newest_of(MotionFilter(3), stamps[still:], position[still:], velocity[still:] if with_velocity else None)
    assert rms(found[:still, 0]) < 0.02 and np.abs(found[:still]).max() < largest
    after, without_rest = (rms(each[-len(a) + 800 :, 1] - a[800:]) for each in (found, alone))
    assert after < max(1.2 * without_rest, 0.05)  # [rad/s^2], where accelerations reach 15


def test_a_gap_starts_anew_and_ends_the_smoothing_before_it():
    stamps, position, velocity, *_ = record(sines, 100, velocity_noise=0.01, seconds=4.0)
    filter, known = MotionFilter(3, max_gap=0.5), []
    for _ in each(filter, stamps, position, velocity):
        known += [motion.stamp for motion in filter.smoothed()]
    filter.add(int(stamps[-1]) + 600_000_000, position[-1] + 1.0, None)
    known += [motion.stamp for motion in filter.smoothed()]
    assert known == list(stamps)
    np.testing.assert_array_equal(filter.newest().position, position[-1] + 1.0)


def test_reset_keeps_what_was_found_about_the_noise():
    stamps, position, velocity, *_ = record(sines, 100, velocity_noise=0.01, seconds=6.0)
    filter = MotionFilter(3)
    newest_of(filter, stamps, position, velocity)
    before = filter.report()
    filter.reset()
    for unknown in (filter.newest, filter.known):
        with pytest.raises(ValueError, match="no sample"):
            unknown()
    filter.add(1, position[0], velocity[0])
    np.testing.assert_array_equal(filter.report()["velocity_noise"], before["velocity_noise"])


def test_noise_at_rest_is_not_smoothed_as_if_it_were_motion():
    for rate, measured in ((500, False), (1000, False), (200, True), (500, True)):
        filter, found = MotionFilter(1), []
        for k, noise in enumerate(1e-4 * np.random.default_rng(0).standard_normal((10 * rate, 2, 1))):
            filter.add(1 + round(k * 1e9 / rate), noise[0], 10.0 * noise[1] if measured else None)
            found += [motion.acceleration for motion in filter.smoothed()]
        assert np.std(found[5 * rate :]) < 0.25 and filter.report()["velocity_delay"] < 0.003  # rad/s^2, s


@settings(deadline=None, max_examples=40)
@given(
    steps=st.lists(st.integers(1, 2_000_000_000), min_size=1, max_size=120), digits=st.integers(0, 8),
    scale=st.sampled_from([1e-12, 1e-6, 1.0, 1e3]), velocities=st.lists(st.booleans(), min_size=120, max_size=120),
    seed=st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_odd_but_legal_input_gives_finite_motions_and_each_stamp_once(steps, scale, digits, velocities, seed):
    rng = np.random.default_rng(seed)
    filter, known, stamp, stamps = MotionFilter(2), [], 10**18, []
    for k, step in enumerate(steps):
        stamps.append(stamp := stamp + step)
        position = np.round(scale * rng.standard_normal(2), digits)
        filter.add(stamp, position, scale * rng.standard_normal(2) if velocities[k] else None)
        assert all(np.isfinite(part).all() for part in filter.newest()[1:]) and np.isfinite(filter.deviation()).all()
        for motion in filter.smoothed():
            assert all(np.isfinite(part).all() for part in motion[1:])
            known.append(motion.stamp)
    stretches = np.split(stamps, np.flatnonzero(np.diff(stamps) > 10**9) + 1)  # short stretches are left out
    expected = [stamp for part in stretches if len(part) >= STATES or part is stretches[-1] for stamp in part]
    assert known == expected[: len(known)]


@pytest.mark.parametrize("stamp, position, velocity, message", [
    (5, [0.0, 0.0], None, "not later"), (11, [0.0], None, "holds 1 numbers, needs 2"),
    (11, [0.0, 0.0], [0.0] * 3, "holds 3 numbers, needs 2"), (11, [0.0, np.nan], None, "not finite"),
    (11, [0.0, 0.0], [np.inf, 0.0], "not finite"),
])  # fmt: skip
def test_illegal_input_is_refused_and_changes_nothing(stamp, position, velocity, message):
    filter = MotionFilter(2)
    filter.add(10, [0.1, 0.2], [0.3, 0.4])
    with pytest.raises(ValueError, match=message):
        filter.add(stamp, position, velocity)
    assert filter.newest().stamp == 10
    np.testing.assert_array_equal(filter.newest().position, [0.1, 0.2])


def test_angles_go_on_where_a_driver_begins_again_at_the_other_end_and_a_refused_one_changes_nothing():
    angles = 2.0 + np.cumsum(np.random.default_rng(0).uniform(-0.2, 0.9, 80))
    wrapped, whole = MotionFilter(2, circular=[1]), MotionFilter(2)
    for k, angle in enumerate(angles):
        stamp, shown = (k + 1) * 10_000_000, (angle + np.pi) % (2 * np.pi) - np.pi
        wrapped.add(stamp, np.array([shown, shown]), None)
        whole.add(stamp, np.array([shown, angle]), None)
        for found, expected in zip(wrapped.newest()[1:], whole.newest()[1:], strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)
        for bad in (np.array([0.0, shown + 3.0]), np.array([0.0, np.nan]), np.zeros(3)):
            with pytest.raises(ValueError):
                wrapped.add(stamp, bad, None)
    assert np.ptp(angles) > 20.0


@pytest.mark.parametrize("setting", [{"n_joints": 0}, {"max_gap": 0.0}, {"velocity_delay": -1.0}])
def test_settings_out_of_range_are_named(setting):
    with pytest.raises(ParameterError, match=next(iter(setting))):
        MotionFilter(**{"n_joints": 1, **setting})


@pytest.mark.parametrize("rate, highest", [(50, 1.0), (200, 3.0), (1000, 3.0)])
def test_motion_is_known_less_well_for_a_while_after_lost_samples(rate, highest):
    """The filter says where errors of accelerations exceed the usual ones by far; before the loss it never does."""
    rng = np.random.default_rng(rate)
    stamps = np.cumsum(rng.uniform(0.8e9, 1.2e9, 12 * rate) / rate).astype(np.int64)
    stamps = stamps[(stamps < 8e9) | (stamps > 8.6e9)]
    truth = np.stack([sines(stamps * 1e-9, rng, highest) for _ in range(2)], axis=-1)  # (3, n, 2)
    position = truth[0] + 3e-5 * rng.standard_normal(truth[0].shape)
    velocity = truth[1] + 7e-3 * rng.standard_normal(truth[0].shape)
    filter, known, error, usual = MotionFilter(2), [], [], None
    for stamp, q, v, a in zip(stamps, position, velocity, truth[2], strict=True):
        filter.add(int(stamp), q, v)
        known.append(filter.known())
        deviation = filter.deviation()[2]
        usual = deviation if usual is None else usual
        assert known[-1] == (deviation <= UNUSUAL * usual).all()
        usual = usual + (np.minimum(deviation, UNUSUAL * usual) - usual) / USUAL_SAMPLES
        error.append(np.abs(filter.newest().acceleration - a).max())
    known, error = np.array(known), np.array(error)
    lost = int(np.argmax(stamps > 8e9))
    assert known[2 * rate : lost].all() and not known[lost] and known[lost:].mean() > 0.75
    usual = error[2 * rate : lost]
    assert rms(error[lost:][~known[lost:]]) > 2.0 * rms(usual) and rms(error[lost:][known[lost:]]) < 1.5 * rms(usual)


def test_what_is_usual_must_fit_the_joints():
    filter = with_fixed_levels(2, (1.0, 1.0, 1.0, 1.0, 0.0), (0.5, 0.5, 0.1))
    filter.add(1, np.zeros(2), None, 2)
    for usual, group in ((np.zeros(1), 0), (np.zeros(2, np.float32), 0), (np.zeros(2), 1), (np.zeros(2), -1)):
        with pytest.raises(ValueError, match=r"usual|group"):
            filter.follow_usual(usual, 0.1, 2.0, group, 2)
    usual = np.zeros(2)
    with pytest.raises(ValueError, match="joints"):
        filter.follow_usual(np.zeros(3), 0.1, 2.0, 0, 3)
    assert filter.follow_usual(usual, 0.1, 2.0, 0, 2)
    np.testing.assert_array_equal(usual, np.full(2, 30.0))  # standard deviation before the first sample


@pytest.mark.parametrize("arrays, sizes", [
    (((4, 1, 8), (4, 1, 8), (7, 8), (2, 8)), (1, 8, 2, 0)), (((5, 1, 8), (4, 1, 7), (7, 8), (2, 8)), (1, 8, 2, 0)),
    (((5, 1, 8), (4, 1, 8), (6, 8), (2, 8)), (1, 8, 2, 0)), (((5, 1, 8), (4, 1, 8), (7, 8), (1, 8)), (1, 8, 2, 0)),
    (((5, 1, 8), (4, 1, 8), (7, 8), (2, 8)), (1, 8, 9, 0)), (((5, 1, 8), (4, 1, 8), (7, 8), (2, 8)), (1, 8, 0, 0)),
    (((5, 1, 8), (4, 1, 8), (7, 8), (2, 8)), (1, 8, 2, 1)), (((5, 1, 9), (4, 1, 9), (7, 9), (2, 9)), (1, 9, 2, 0)),
])  # fmt: skip
def test_arrays_of_lanes_must_fit(arrays, sizes):
    with pytest.raises(ValueError, match=r"needs|do not fit"):
        Filter(*map(np.ones, arrays), *sizes, 1.0, *PRIOR)
