"""A stream that is taken as bytes: stamps, thinning, and how many messages are missing."""

import pytest
from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import serialize_message

from icub_learning.nodes.common.conversions import set_stamp
from icub_learning.nodes.common.qos import DEEP, DEEP_BEST_EFFORT
from icub_learning.nodes.common.serialized import stamp_in
from icub_learning.view.live.topics import RawTopic, sampled

START = 1_700_000_000 * 10**9  # [ns]
PERIOD = 5_000_000  # [ns]


def wrench(stamp: int, force: float = 0.0) -> WrenchStamped:
    message = WrenchStamped()
    set_stamp(message.header.stamp, stamp)
    message.wrench.force.x = force
    return message


@pytest.mark.parametrize("stamp", [0, 1, 999_999_999, START + 123_456_789])
def test_the_stamp_in_bytes_is_that_of_the_message(stamp):
    assert stamp_in(bytes(serialize_message(wrench(stamp)))) == stamp


def test_one_message_of_each_period_is_shown():
    messages = [(stamp, b"") for stamp in (0, 20, 40, 60, 99, 100, 110, 250)]
    assert [stamp for stamp, _ in sampled(messages, last=-1, period=50)] == [0, 60, 100, 250]
    assert [stamp for stamp, _ in sampled(messages, last=10, period=50)] == [60, 100, 250]
    back = [(500, b""), (20, b"")]  # a clock that was set back
    assert [stamp for stamp, _ in sampled(back, last=480, period=50)] == [500, 20]


def test_missing_messages_are_counted_and_the_nearest_one_is_found(beside):
    topic = RawTopic(beside.polled, WrenchStamped, "wrench", DEEP_BEST_EFFORT)
    publisher = beside.robot.create_publisher(WrenchStamped, "wrench", DEEP)
    beside.connected(publisher)
    gone = {230, 240, 241}
    pause = 20 * 10**9  # [ns]; longer than what counts as a loss
    stamps = [START + n * PERIOD + pause * (n >= 260) for n in range(270) if n not in gone]
    came: list[int] = []
    for first in range(0, len(stamps), 50):
        for stamp in stamps[first : first + 50]:
            publisher.publish(wrench(stamp, float(stamp - START)))
        end = min(first + 50, len(stamps))
        beside.until(
            lambda end=end: len(came) == end, "wrenches", lambda: came.extend(stamp for stamp, _ in topic.take())
        )
        assert (topic.lost is None) == (end <= 200)  # its period is not known yet
    assert came == stamps
    assert topic.lost == len(gone)
    data = topic.nearest(stamps[100] + PERIOD // 3, PERIOD)
    assert topic.decode(data).wrench.force.x == stamps[100] - START
    assert topic.nearest(START - 10 * PERIOD, PERIOD) is None
    topic.close()
