"""Clocks, encoders and sensors of the zoo: they show the errors that they are specified to have."""

import numpy as np
import pytest

from icub_learning.simulation.zoo.sensing import Clock, JointSensors, OutputSensor, low_pass


def rng():
    return np.random.default_rng(0)


def test_a_clock_is_regular_or_jitters_stalls_and_repeats_as_it_is_said_to_stamps_rise_and_arrivals_keep_order():
    clock = Clock(100.0)
    instants = clock.instants(2.0, rng())
    np.testing.assert_allclose(instants, np.arange(201) * 0.01, atol=1e-12)
    stamps = clock.stamps(instants, rng())
    assert np.abs(stamps - instants * 1e9).max() < 1000
    np.testing.assert_array_equal(clock.arrivals(stamps, rng()), stamps)
    np.testing.assert_array_equal(clock.sources(5, rng()), np.arange(5))
    clock = Clock(1000.0, irregularity=0.05, shortest=0.7, stall_share=0.01, longest_stall=0.0088)
    intervals = np.diff(clock.instants(60.0, rng()))
    assert intervals.min() >= 0.0007 - 1e-12 and 0.0080 < intervals.max() <= 0.0088
    assert np.median(intervals) == pytest.approx(0.001, rel=0.01)
    assert np.mean(intervals > 0.0015) == pytest.approx(0.01, rel=0.2)
    assert intervals[intervals < 0.0015].std() == pytest.approx(5e-5, rel=0.05)
    sources = Clock(100.0, repeated=0.1).sources(20_000, rng())  # a share of messages repeats the one before
    assert np.mean(sources != np.arange(20_000)) == pytest.approx(0.1, rel=0.1)
    assert (np.diff(sources) >= 0).all() and sources[0] == 0
    clock = Clock(1000.0, stamp_error=2e-3, late=0.005)
    stamps = clock.stamps(clock.instants(20.0, rng()), rng())
    assert (np.diff(stamps) >= 1000).all(), "a stamp comes after the one before, however large its error"
    arrivals = clock.arrivals(stamps, rng())
    assert (np.diff(arrivals) >= 0).all() and (arrivals >= stamps).all()
    assert np.mean(arrivals - stamps) * 1e-9 > 0.005, "bursts: late messages hold up those behind them"


def test_positions_velocities_and_outputs_have_their_steps_noise_gain_offset_and_drift():
    sensors = JointSensors(position_step=1e-3, position_noise=1e-4, velocity_noise=0.02, velocity_step=0.005)
    true = rng().uniform(-1, 1, (20_000, 2))
    shown = sensors.positions(true, np.random.default_rng(1))
    np.testing.assert_allclose(shown / 1e-3, np.round(shown / 1e-3), atol=1e-9)
    assert np.std(shown - true) == pytest.approx(np.sqrt(1e-8 + 1e-6 / 12), rel=0.03)
    speeds = sensors.velocities(true, np.random.default_rng(1))
    assert np.std(speeds - true) == pytest.approx(np.sqrt(4e-4 + 25e-6 / 12), rel=0.03)
    gain = np.array([[1.1, 0.2], [0.0, 0.5]])
    sensor, true = OutputSensor((0.1, 0.2), offset=(-70.0, 3.0), gain=gain), rng().normal(size=(50_000, 2))
    shown = sensor.measure(true, np.arange(50_000) * 0.01, np.random.default_rng(1))
    np.testing.assert_allclose((shown - (true @ gain.T + [-70.0, 3.0])).std(axis=0), [0.1, 0.2], rtol=0.03)
    np.testing.assert_allclose(sensor.variance, [0.01, 0.04])
    drifting = OutputSensor(np.zeros(400), drift=np.full(400, 2.0))
    still, times = np.zeros((3000, 400)), np.arange(3000.0)
    wander = drifting.measure(still, times, np.random.default_rng(1))
    np.testing.assert_allclose(wander.std(axis=1), 2.0, rtol=0.15)  # four standard deviations; from the first moment on
    assert wander.std() == pytest.approx(2.0, rel=0.06)
    lag = (wander[:-300] * wander[300:]).mean() / (wander**2).mean()
    assert lag == pytest.approx(np.exp(-1), abs=0.06), "forgets over 300 s"


def test_a_low_pass_halves_the_power_at_its_bandwidth_and_starts_settled():
    wave = 5.0 + np.sin(2 * np.pi * 10.0 * np.arange(0.0, 20.0, 1e-3))[:, None]
    passed = low_pass(wave, 10.0, 1e-3)
    assert passed[5000:].std() == pytest.approx(wave.std() / np.sqrt(2), rel=0.05) and passed[0] == wave[0]
    np.testing.assert_array_equal(low_pass(wave, 0.0, 1e-3), wave)
