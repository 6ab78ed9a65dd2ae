"""Messages whose numbers are written into their bytes, beside what the middleware makes of them."""

import array

import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import deserialize_message as deserialize
from sensor_msgs.msg import JointState

from icub_learning.nodes.common.conversions import doubles, set_wrench, stamp_to_ns, wrench_to_array
from icub_learning.nodes.inverse_dynamics.message_template import MessageTemplate
from icub_learning_msgs.msg import DynamicsPrediction

STAMPS = (0, 1, 1_700_000_000_999_999_999, -1, -(2**31) * 10**9, (2**31 - 1) * 10**9 + 5)


@pytest.mark.parametrize("frame", ["", "a", "r_upper_arm"])
def test_wrenches(frame):
    message = WrenchStamped()
    message.header.frame_id = frame
    template = MessageTemplate(message, (6,), lambda made, values: set_wrench(made.wrench, values))
    for stamp in STAMPS:
        values = np.random.default_rng(abs(stamp) % 1000).normal(size=6)
        read = deserialize(template.bytes_of(stamp, values), WrenchStamped)
        assert stamp_to_ns(read.header.stamp) == stamp
        assert read.header.frame_id == frame
        np.testing.assert_array_equal(wrench_to_array(read.wrench), values)


@pytest.mark.parametrize("count", [1, 2, 7])
def test_predictions_of_several_groups(count):
    names = [f"joint_{index}" for index in range(count)]

    def fill(message, *parts):
        message.total, message.parametric, message.residual, message.variance = map(doubles, parts)

    template = MessageTemplate(DynamicsPrediction(names=names), (count,) * 4, fill)
    first, second = np.random.default_rng(0).normal(size=(2, 4, count))
    second[3] = np.inf
    kept = template.bytes_of(5, *first)
    for data, parts in ((template.bytes_of(6, *second), second), (kept, first)):
        read = deserialize(data, DynamicsPrediction)
        assert read.names == names
        for field, values in zip(("total", "parametric", "residual", "variance"), parts, strict=True):
            np.testing.assert_array_equal(np.array(getattr(read, field)), values)


def test_numbers_that_do_not_lie_side_by_side_are_refused():
    def apart(message, values):
        message.position, message.effort = array.array("d", values[:1]), array.array("d", values[1:])

    with pytest.raises(ValueError, match="not found"):
        MessageTemplate(JointState(), (2,), apart)


def test_the_number_of_values_is_fixed():
    template = MessageTemplate(JointState(name=["a", "b"]), (2,), lambda made, x: setattr(made, "effort", doubles(x)))
    for groups in ((np.zeros(3),), ()):
        with pytest.raises(ValueError):
            template.bytes_of(1, *groups)
