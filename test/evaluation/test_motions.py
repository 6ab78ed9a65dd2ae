"""Signals at equal steps, and filtered, of recordings in which everything changes at a constant rate."""

from dataclasses import replace

import numpy as np
import pytest

from icub_learning.dynamics.settings import Settings
from icub_learning.errors import RecordingError
from icub_learning.evaluation.motions import resample, zero_phase
from icub_learning.recording import Recording

SETTINGS = Settings(joints=("b", "a"), velocity_source="message")


def lines(states, measured):
    """Return a recording of two joints and a wrench at these times [s]."""
    q, velocity = states[:, None] * [1.0, -2.0], np.tile([1.0, -2.0], (len(states), 1))
    stamps = [np.round(1e9 * times).astype(np.int64) for times in (states, measured)]
    wrench = measured[:, None] * np.arange(6.0)
    return Recording(("a", "b"), stamps[0], q, velocity, wrench_stamps=stamps[1], wrench=wrench)


@pytest.mark.parametrize(("begin", "end"), [(0.97, 2.57), (1.03, 2.63)])
def test_rows_lie_where_both_topics_have_samples_and_are_trusted_near_them(begin, end):
    rng = np.random.default_rng(0)
    states, measured = (np.arange(*span, 0.02) for span in ((1.0, 2.6), (begin, end)))
    states, measured = (times + rng.uniform(-0.004, 0.004, len(times)) for times in (states, measured))
    states, measured = np.delete(states, [*range(1, 9), *range(50, 60)]), np.delete(measured, range(40, 50))
    made = lines(np.insert(states, [20, 30], [1.1, states[29]]), measured)  # one goes back, and one repeats a stamp
    made.position[[20, 31]] = 99.0
    made.position[25], states = np.nan, np.delete(states, 24)
    found = resample(made, SETTINGS)
    first, last = max(states[0], measured[0]), min(states[-1], measured[-1])
    step, times = np.median(np.diff(states)), first + found.times
    np.testing.assert_allclose(found.times, step * np.arange(len(times)), atol=1e-8)
    assert abs(times[-1] - last) <= 0.5 * step + 1e-8
    inside = np.minimum(times, last)[:, None]
    np.testing.assert_allclose(found.position, inside * [-2.0, 1.0], rtol=1e-6)
    np.testing.assert_allclose(found.outputs, inside * np.arange(6.0), rtol=1e-6)
    assert (found.velocity == [-2.0, 1.0]).all()
    assert resample(made, replace(SETTINGS, velocity_source="estimated")).velocity is None
    far = [np.abs(times[:, None] - own).min(axis=1) for own in (states, measured)]
    np.testing.assert_array_equal(found.trusted, np.max(far, axis=0) < 3.0 * step)
    own = measured[(measured >= first) & (measured <= last)]
    np.testing.assert_allclose(found.measured_times, own - first, atol=1e-8)
    np.testing.assert_allclose(found.measured, own[:, None] * np.arange(6.0), rtol=1e-6)


@pytest.mark.parametrize(("n", "most"), [(50, 0.3), (800, 0.004)])
def test_filtering_leaves_lines_nearly_as_they_are(n, most):
    """The filter remembers 1.5 s: half a second tells its beginning and end less well than eight seconds."""
    signals = resample(lines(*2 * [0.01 * np.arange(1, n + 1)]), SETTINGS)
    found = zero_phase(signals, 2.0, False)
    expected = signals.position, np.tile([-2.0, 1.0], (n, 1)), np.zeros((n, 2)), signals.outputs
    for own, line, share in zip((*found.motion, found.outputs), expected, (1, 1, 6, 1), strict=True):
        np.testing.assert_allclose(own, line, rtol=0.0, atol=share * most)


def test_what_is_too_short_or_lacks_joints_is_refused():
    times = 0.01 * np.arange(1, 61)
    assert len(resample(lines(times, times[:50]), SETTINGS).times) == 50
    for states, measured in ((times, times[:49]), (times[:49], times), (times, times + 0.11), (times[:0], times)):
        with pytest.raises(RecordingError, match="too few to filter"):
            resample(lines(states, measured), SETTINGS)
    glitch = np.append(times, times[-1] + 1e9)
    with pytest.raises(RecordingError, match=r"1e\+11 rows would fill gaps of up to 1e\+09 s"):
        resample(lines(glitch, glitch), SETTINGS)
    with pytest.raises(RecordingError, match="no joint x, y") as caught:
        resample(lines(times, times), Settings(joints=("x", "b", "y")))
    assert caught.value.name == "x"
