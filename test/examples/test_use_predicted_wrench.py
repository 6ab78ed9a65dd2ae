"""The example node, fed with wrenches and predictions: it subtracts, and a push is one only while it lasts."""

import sys
from pathlib import Path

import pytest

rclpy = pytest.importorskip("rclpy")

from geometry_msgs.msg import WrenchStamped
from rclpy.executors import SingleThreadedExecutor
from std_msgs.msg import Bool

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "use_predicted_wrench.py"


def message(stamp: int, force: float) -> WrenchStamped:
    wrench = WrenchStamped()
    wrench.header.stamp.sec, wrench.header.stamp.nanosec = 1, stamp * 5_000_000
    wrench.header.frame_id = "sensor"
    wrench.wrench.force.x, wrench.wrench.torque.z = force, 0.5 * force
    return wrench


def test_a_push_is_told_from_motion_and_offset(ros_domain, start_process) -> None:
    process = start_process(sys.executable, str(EXAMPLE), "--ros-args", "-p", "threshold:=5.0", "-p", "patience:=3")
    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node("probe", context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    compensated, pushes = [], []
    node.create_subscription(WrenchStamped, "compensated_wrench", compensated.append, 100)
    node.create_subscription(Bool, "push", lambda told: pushes.append(told.data), 100)
    measured = node.create_publisher(WrenchStamped, "wrench", 100)
    predicted = node.create_publisher(WrenchStamped, "/inverse_dynamics/predicted_wrench", 100)

    def spin_until(condition) -> None:
        for _ in range(1500):
            if condition():
                return
            executor.spin_once(timeout_sec=0.02)
        pytest.fail(f"{len(pushes)} answers; {process.output}")

    def wrenches(stamps, external) -> None:
        """Motion of 20 N that is predicted, an offset of 2 N, and `external` on top; some predictions come first."""
        for stamp in stamps:
            pair = [(predicted, message(stamp, 20.0)), (measured, message(stamp, 22.0 + external))]
            for publisher, wrench in pair if stamp % 2 else reversed(pair):
                publisher.publish(wrench)
            count = len(pushes)
            spin_until(lambda count=count: len(pushes) > count and len(compensated) == len(pushes))

    try:
        spin_until(lambda: measured.get_subscription_count() and predicted.get_subscription_count())
        spin_until(lambda: node.count_publishers("push") and node.count_publishers("compensated_wrench"))
        for _ in range(25):
            executor.spin_once(timeout_sec=0.02)
        wrenches(range(10), 0.0)
        assert not any(pushes)
        measured.publish(message(150, 99.0))  # without a prediction: no comparison
        wrenches(range(10, 16), 8.0)
        assert pushes[10:] == [False, False, True, True, True, True]
        wrenches(range(16, 18), 0.0)
        assert pushes[16:] == [False, False]
    finally:
        executor.remove_node(node)
        node.destroy_node()
        rclpy.shutdown(context=context)
    assert len(compensated) == 18
    first, pushed = compensated[0], compensated[15]
    assert first.wrench.force.x == pytest.approx(0.0)
    assert pushed.wrench.force.x == pytest.approx(8.0)
    assert pushed.wrench.torque.z == pytest.approx(4.0)
    assert pushed.header == message(15, 0.0).header
    assert "push of 8.0 N" in process.output
    assert "the push has ended" in process.output
