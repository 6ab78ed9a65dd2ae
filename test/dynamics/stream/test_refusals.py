"""Any joint state or measurement is either taken in, or refused with a reason and without any change."""

from collections import Counter
from contextlib import suppress
from functools import lru_cache
from unittest.mock import Mock

import numpy as np
import pytest
from helpers.recorded_stream import JOINTS, PERIOD, START, recorded_stream
from hypothesis import given, settings
from hypothesis import strategies as st

from icub_learning.dynamics.motion.motion_filter import MotionFilter
from icub_learning.errors import SampleError

N_GOOD = 130  # joint states of one run, at the end of which those of the first tenths of a second have been learned

names = st.lists(st.sampled_from([*JOINTS, "wrist", "tail", "", "ä"]), max_size=4)
numbers = st.lists(st.floats(width=64) | st.sampled_from([0.0, 1e4, 1e5, 1e300]), max_size=4)
stamps = st.integers(-(2**31) * 10**9, 2**31 * 10**9) | st.integers(47, 53).map(lambda k: START + k * PERIOD)


def make(motions=None, **reader):
    return recorded_stream("xyz", motions or MotionFilter(2), **reader)


def good(stream, k):
    """Give sample k, and return its prediction."""
    t = k * PERIOD * 1e-9
    q, v = np.array([np.sin(3 * t), np.cos(2 * t)]), np.array([3 * np.cos(3 * t), -2 * np.sin(2 * t)])
    record = stream.joint_state(START + k * PERIOD, JOINTS, q, v)
    stream.measurement(START + k * PERIOD, [t, -t, 1.0])
    stream.pair()
    stream.learn()
    return np.array(record.prediction.total)


@lru_cache
def undisturbed(any_order):
    """Return what an undisturbed stream predicts, and what it learns."""
    stream = make(any_order=any_order)
    return [good(stream, k) for k in range(N_GOOD)], stream.estimator.taught()


@settings(max_examples=40, deadline=None)
@given(
    place=st.integers(0, N_GOOD - 1), is_state=st.booleans(), stamp=stamps, name=names,
    fields=st.tuples(numbers, numbers, numbers), any_order=st.booleans(),
)  # fmt: skip
def test_a_refused_message_changes_nothing_to_the_bit(place, is_state, stamp, name, fields, any_order):
    disturbed, (predicted, learned) = make(any_order=any_order), undisturbed(any_order)
    for k in range(N_GOOD):
        if k == place:
            try:
                if is_state:
                    disturbed.joint_state(stamp, name, *fields)
                else:
                    disturbed.measurement(stamp, fields[0])
            except SampleError as error:
                assert disturbed.counts.refused == {error.reason: 1} and error.reason in disturbed.counts.last_refusal
            else:
                return  # the message was a good one
        assert (good(disturbed, k) == predicted[k]).all()
    assert len(learned) > 20 and np.array_equal(disturbed.estimator.taught(), learned)


def test_a_joint_state_without_names_before_the_first_good_one_is_refused():
    """Some drivers send one at start-up; its stamp must not be taken, or the first good one would be too old."""
    for fields in ((), ([], [], []), ([],)):
        stream = make()
        with pytest.raises(SampleError) as caught:
            stream.joint_state(START + 10**9, [], *(fields or ([],)))
        assert caught.value.reason == "joint_names_missing" and np.isfinite(good(stream, 0)).all()


def test_velocities_that_are_ignored_may_be_anything():
    """Drivers without velocities send NaN for them; angles of continuous joints go on."""
    stream = make(MotionFilter(2, circular=[1]), velocity_source="estimated", circular=[1])
    record = stream.joint_state(START, JOINTS, [0.1, 4e7], [np.nan, np.inf])
    assert record.prediction is not None and not stream.counts.refused
    for far, words in (([2e4, 4e7], "shoulder is 20000.0, .*most 10000"), ([9e3, 6e7], "elbow is 6.*most 5e.07")):
        with pytest.raises(SampleError, match=words):
            stream.joint_state(START + PERIOD, JOINTS, far)


def test_what_no_filter_takes_in_has_not_taken_its_stamp(monkeypatch):
    stream = make(motions := MotionFilter(2))
    good(stream, 0)
    with monkeypatch.context() as patch:
        patch.setattr(motions, "add", Mock(side_effect=FloatingPointError("never foreseen")))
        with pytest.raises(FloatingPointError):
            good(stream, 1)
    good(stream, 1)  # the same stamp is taken now


@pytest.mark.parametrize("times", [1, 2])
def test_a_clock_that_jumps_forth_and_back_does_not_stop_the_stream(times):
    """A stamp far ahead is believed; after fifty behind it, sent once or twice, time is taken to have been set back."""
    stream = make()
    for k in (*range(20), 10**6, *np.repeat(range(20, 120), times).tolist()):
        with suppress(SampleError):
            good(stream, k)
    # Joint states are refused, each time, and then measurements, whose stamps are a sequence of their own.
    expected = Counter(stamp_backwards=(times + 1) * 49, stamp_repeated=(times - 1) * 51)
    assert stream.counts.refused == expected and stream.counts.predicted == 20 + 1 + 51


def test_a_clock_set_back_by_a_fifth_of_a_second_is_no_jump_of_the_joints():
    """When stamps have come up to the last one, the joints have moved on for 20 periods, not for one."""
    stream = make()
    for k in range(140):
        with suppress(SampleError):
            stamp = START + (k if k < 100 else k - 20) * PERIOD
            record = stream.joint_state(stamp, JOINTS, np.full(2, 3e-9 * k * PERIOD), None)
            assert np.abs(record.known.velocity).max() < 4.0  # [rad/s] it is 3
    assert stream.counts.refused == {"stamp_backwards": 19, "stamp_repeated": 1}


def test_a_hundred_joints():
    joints = tuple(f"joint_{k}" for k in range(100))
    stream = recorded_stream("xyz", MotionFilter(100), joints=joints)
    for k in range(200):
        angles = 0.01 * k + np.arange(100)
        record = stream.joint_state(START + k * PERIOD, joints, np.sin(angles), np.cos(angles))
        stream.measurement(START + k * PERIOD, np.ones(3))
        stream.pair()
        stream.learn()
        assert np.isfinite(record.prediction.total).all()
    assert len(stream.estimator.learned) > 50
