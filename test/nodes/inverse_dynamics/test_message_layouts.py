"""Messages read from their bytes, and numbers written into them, compared with what the middleware makes of them."""

import array
import struct

import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped
from hypothesis import given, settings
from hypothesis import strategies as st
from rclpy.serialization import deserialize_message as deserialize
from rclpy.serialization import serialize_message as serialize
from sensor_msgs.msg import JointState

from icub_learning.errors import SampleError
from icub_learning.nodes.common.conversions import doubles, set_stamp, set_wrench, stamp_to_ns, wrench_to_array
from icub_learning.nodes.inverse_dynamics import message_layouts
from icub_learning.nodes.inverse_dynamics.message_layouts import JointStateDecoder, MessageTemplate, WrenchDecoder
from icub_learning_msgs.msg import DynamicsPrediction

FIELDS = ("position", "velocity", "effort")
NUMBERS = (0.0, 1e300, np.nan, np.inf, -np.inf)


def message(names, counts, stamp=5, frame="", seed=0) -> JointState:
    made, made.header.frame_id = JointState(name=list(names)), frame
    set_stamp(made.header.stamp, stamp)
    random = np.random.default_rng(seed)
    for field, count in zip(FIELDS, counts, strict=True):
        setattr(made, field, array.array("d", random.choice(NUMBERS, count) + random.normal(size=count)))
    return made


def check(decoder: JointStateDecoder, data: bytes) -> None:
    found, expected = decoder.decode(data), deserialize(data, JointState)
    assert found.stamp == stamp_to_ns(expected.header.stamp) and list(found.name) == list(expected.name)
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(found, field), np.array(getattr(expected, field)))


texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
counts, seconds = st.tuples(*[st.integers(0, 6)] * 3), st.integers(-(2**31), 2**31 - 1)
shapes = st.tuples(texts, st.lists(texts, max_size=6), counts, seconds)


@settings(deadline=None, max_examples=150)
@given(st.lists(shapes, min_size=1, max_size=4))
def test_any_message_after_any_other(shapes):
    decoder = JointStateDecoder()
    for seed, (frame, names, counts, seconds) in enumerate(shapes):
        for stamp in (seconds * 10**9 + 7, seconds * 10**9 + 999_999_999):
            check(decoder, serialize(message(names, counts, stamp, frame, seed)))


def test_messages_alike_are_not_deserialized_and_nothing_is_assumed_of_others(monkeypatch):
    decoder = JointStateDecoder()
    check(decoder, serialize(message("abc", (3, 3, 0))))
    monkeypatch.setattr(message_layouts, "message_of", None)
    check(decoder, alike := serialize(message("abc", (3, 3, 0), 7, seed=1)))
    for other in (serialize(message("abd", (3, 3, 0))), serialize(message("abc", (3, 0, 3))), b"\0\0" + alike[2:]):
        with pytest.raises(TypeError):
            decoder.decode(other)
    check(decoder, serialize(message("abc", (3, 3, 0), 8, seed=2)))


def test_messages_of_a_big_endian_machine_are_read_too():
    decoder, whole = JointStateDecoder(), struct.pack(">4xiII4xII2dII", 5, 7, 1, 0, 2, 1.5, -2.0, 0, 0)
    for data in (whole, whole, serialize(message("abc", (3, 3, 0))), whole):
        check(decoder, data)
    assert (decoder.decode(whole).stamp, list(decoder.decode(whole).position)) == (5_000_000_007, [1.5, -2.0])


def test_a_lying_count_is_not_believed():
    whole = bytearray(serialize(message((), (2, 0, 0))))
    place = whole.index(struct.pack("<I", 2))
    whole[place : place + 4] = struct.pack("<I", 2_000_000)
    with pytest.raises(SampleError):
        JointStateDecoder().decode(bytes(whole))


def wrench(frame, stamp, values):
    made, made.header.frame_id = WrenchStamped(), frame
    set_stamp(made.header.stamp, stamp)
    set_wrench(made.wrench, np.array(values))
    return serialize(made)


WRENCHES = st.tuples(texts, st.integers(-(2**60), 2**60), st.lists(st.floats(), min_size=6, max_size=6))


@settings(deadline=None, max_examples=150)
@given(st.lists(WRENCHES, min_size=1, max_size=4))
def test_any_wrench_after_any_other(told):
    decoder = WrenchDecoder()
    for frame, stamp, values in told:
        for at in (stamp, stamp + 999_999_999):
            found = decoder.decode(wrench(frame, at, values))
            assert found[0] == at
            np.testing.assert_array_equal(found[1], values)


def test_messages_of_one_frame_are_not_deserialized_and_all_others_are(monkeypatch):
    decoder, values = WrenchDecoder(), np.arange(6.0)
    for frame in ("sensor", "", "sensor"):
        decoder.decode(wrench(frame, 5, values))
    monkeypatch.setattr(message_layouts, "message_of", None)
    stamp, found = decoder.decode(wrench("sensor", 7, values + 1))
    assert stamp == 7
    np.testing.assert_array_equal(found, values + 1)
    found[0] = 0.0  # the array is writable
    for other in (wrench("hand", 7, values), b"\0\0" + wrench("sensor", 7, values)[2:]):
        with pytest.raises(TypeError):
            decoder.decode(other)


@pytest.mark.parametrize("make, whole", [
    (JointStateDecoder, serialize(message("abc", (3, 3, 3)))), (WrenchDecoder, wrench("sensor", 5, np.arange(6.0))),
], ids=["joint state", "wrench"])  # fmt: skip
def test_cut_off_bytes_are_refused_and_the_next_message_is_read(make, whole):
    decoder = make()
    decoder.decode(whole)
    for size in range(len(whole)):
        with pytest.raises(SampleError):
            decoder.decode(whole[:size])
    assert decoder.decode(whole)[0] == 5


STAMPS = (0, 1, 1_700_000_000_999_999_999, -1, -(2**31) * 10**9, (2**31 - 1) * 10**9 + 5)


@pytest.mark.parametrize("frame", ["", "a", "r_upper_arm"])
def test_wrenches(frame):
    message, message.header.frame_id = WrenchStamped(), frame
    template = MessageTemplate(message, (6,), lambda made, values: set_wrench(made.wrench, values))
    for stamp in STAMPS:
        values = np.random.default_rng(abs(stamp) % 1000).normal(size=6)
        read = deserialize(template.bytes_of(stamp, values), WrenchStamped)
        assert stamp_to_ns(read.header.stamp) == stamp and read.header.frame_id == frame
        np.testing.assert_array_equal(wrench_to_array(read.wrench), values)


@pytest.mark.parametrize("count", [1, 2, 7])
def test_predictions_of_several_groups(count):
    names = [f"joint_{index}" for index in range(count)]

    def fill(message, *parts):
        message.total, message.parametric, message.residual, message.variance = map(doubles, parts)

    template = MessageTemplate(DynamicsPrediction(names=names), (count,) * 4, fill)
    first, second = np.random.default_rng(0).normal(size=(2, 4, count))
    second[3], kept = np.inf, template.bytes_of(5, *first)
    for data, parts in ((template.bytes_of(6, *second), second), (kept, first)):
        read = deserialize(data, DynamicsPrediction)
        assert read.names == names
        for field, values in zip(("total", "parametric", "residual", "variance"), parts, strict=True):
            np.testing.assert_array_equal(np.array(getattr(read, field)), values)


def test_numbers_that_do_not_lie_side_by_side_and_another_number_of_them_are_refused():
    def apart(message, values):
        message.position, message.effort = array.array("d", values[:1]), array.array("d", values[1:])

    with pytest.raises(ValueError, match="not found"):
        MessageTemplate(JointState(), (2,), apart)
    template = MessageTemplate(JointState(name=["a", "b"]), (2,), lambda made, x: setattr(made, "effort", doubles(x)))
    for groups in ((np.zeros(3),), ()):
        with pytest.raises(ValueError):
            template.bytes_of(1, *groups)
