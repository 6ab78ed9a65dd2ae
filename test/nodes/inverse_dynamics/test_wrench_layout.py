"""Wrenches read from their bytes beside the middleware's own deserialization."""

import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped
from hypothesis import given, settings
from hypothesis import strategies as st
from rclpy.serialization import serialize_message

from icub_learning.errors import SampleError
from icub_learning.nodes.common.conversions import set_stamp, set_wrench
from icub_learning.nodes.inverse_dynamics import wrench_layout
from icub_learning.nodes.inverse_dynamics.wrench_layout import WrenchDecoder


def message(frame, stamp, values):
    made = WrenchStamped()
    made.header.frame_id = frame
    set_stamp(made.header.stamp, stamp)
    set_wrench(made.wrench, np.array(values))
    return serialize_message(made)


FRAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
WRENCHES = st.tuples(FRAMES, st.integers(-(2**60), 2**60), st.lists(st.floats(), min_size=6, max_size=6))


@settings(deadline=None, max_examples=150)
@given(st.lists(WRENCHES, min_size=1, max_size=4))
def test_any_message_after_any_other(told):
    decoder = WrenchDecoder()
    for frame, stamp, values in told:
        for at in (stamp, stamp + 999_999_999):
            found = decoder.decode(message(frame, at, values))
            assert found[0] == at
            np.testing.assert_array_equal(found[1], values)


def test_messages_of_one_frame_are_not_deserialized_and_all_others_are(monkeypatch):
    decoder, values = WrenchDecoder(), np.arange(6.0)
    for frame in ("sensor", "", "sensor"):
        decoder.decode(message(frame, 5, values))
    monkeypatch.setattr(wrench_layout, "message_of", None)
    stamp, found = decoder.decode(message("sensor", 7, values + 1))
    assert stamp == 7
    np.testing.assert_array_equal(found, values + 1)
    found[0] = 0.0  # may be written to
    for other in (message("hand", 7, values), b"\0\0" + message("sensor", 7, values)[2:]):
        with pytest.raises(TypeError):
            decoder.decode(other)


@pytest.mark.parametrize("length", range(0, 76, 7))
def test_bytes_that_are_no_wrench_are_refused_also_after_good_ones(length):
    decoder, data = WrenchDecoder(), message("sensor", 5, np.arange(6.0))
    decoder.decode(data)
    assert length < len(data)
    with pytest.raises(SampleError):
        decoder.decode(data[:length])
    assert decoder.decode(data)[0] == 5
