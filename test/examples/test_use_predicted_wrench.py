"""The example node subtracts predicted from measured wrenches, and reports a push only while it lasts."""

import sys

import pytest
from geometry_msgs.msg import WrenchStamped
from helpers.ros_probe import RosProbe
from std_msgs.msg import Bool


def message(stamp: int, force: float) -> WrenchStamped:
    wrench = WrenchStamped()
    wrench.header.stamp.sec, wrench.header.stamp.nanosec = 1, stamp * 5_000_000
    wrench.header.frame_id = "sensor"
    wrench.wrench.force.x, wrench.wrench.torque.z = force, 0.5 * force
    return wrench


def test_a_push_is_told_from_motion_and_offset(ros_domain, start_process, checkout) -> None:
    options = ("--ros-args", "-p", "threshold:=5.0", "-p", "patience:=3")
    process = start_process(sys.executable, str(checkout / "examples" / "use_predicted_wrench.py"), *options)
    with RosProbe() as probe:
        compensated, pushes = probe.hear(WrenchStamped, "compensated_wrench"), probe.hear(Bool, "push")
        measured = probe.node.create_publisher(WrenchStamped, "wrench", 100)
        predicted = probe.node.create_publisher(WrenchStamped, "/inverse_dynamics/predicted_wrench", 100)

        def wrenches(stamps, external) -> None:
            """Publish 20 N of motion, predicted before or after it, plus 2 N of offset and the `external` force [N]."""
            for stamp in stamps:
                pair = [(predicted, message(stamp, 20.0)), (measured, message(stamp, 22.0 + external))]
                count = len(pushes) + 1
                for publisher, wrench in pair if stamp % 2 else reversed(pair):
                    publisher.publish(wrench)
                probe.until(lambda count=count: len(pushes) == len(compensated) == count, f"{count} answers")

        probe.matched(measured, predicted, topics=("push", "compensated_wrench"))
        wrenches(range(10), 0.0)
        assert not any(push.data for push in pushes)
        measured.publish(message(150, 99.0))  # without a prediction: no comparison
        wrenches(range(10, 16), 8.0)
        assert [push.data for push in pushes[10:]] == [False, False, True, True, True, True]
        wrenches(range(16, 18), 0.0)
        assert [push.data for push in pushes[16:]] == [False, False]
        process.wait_for("the push has ended")
    assert len(compensated) == 18
    first, pushed = compensated[0].wrench, compensated[15].wrench
    assert [first.force.x, pushed.force.x, pushed.torque.z] == pytest.approx([0.0, 8.0, 4.0])
    assert compensated[15].header == message(15, 0.0).header and "push of 8.0 N" in process.output
