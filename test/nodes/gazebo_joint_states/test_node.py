"""The node that samples Gazebo's joint states: which it passes on, and that it says what did not arrive."""

import pytest

pytest.importorskip("rclpy")
from diagnostic_msgs.msg import DiagnosticArray
from helpers.node_probe import MANY, NodeProbe
from sensor_msgs.msg import JointState

from icub_learning.nodes.common.conversions import set_stamp, stamp_to_ns

STEP = 1_000_000  # [ns]


def test_states_one_step_before_each_wrench_are_passed_on(start_node) -> None:
    node = start_node("gazebo_joint_states", remap=["gazebo/joint_states:=joint_states", "joint_states:=passed"])
    with NodeProbe(("a",)) as probe:
        passed, reports = [], []
        probe._node.create_subscription(JointState, "/passed", passed.append, MANY)
        probe._node.create_subscription(DiagnosticArray, "/diagnostics", reports.append, MANY)
        assert probe.spin_until(
            lambda: probe._states.get_subscription_count() and probe._node.count_publishers("/passed")
        )
        probe.spin(0.5)
        sent = [10**9 + k * STEP for k in range(200) if not 100 <= k < 110]  # ten steps are lost on their way
        for stamp in sent:
            message = JointState(name=["a"], position=[stamp * 1e-9], velocity=[1.0])
            set_stamp(message.header.stamp, stamp)
            probe._states.publish(message)
        wanted = [stamp for stamp in sent if (stamp + STEP) % (5 * STEP) == 0]
        assert probe.spin_until(lambda: len(passed) >= len(wanted), 10.0)
        probe.spin(0.3)
        assert [stamp_to_ns(message.header.stamp) for message in passed] == wanted
        assert [message.position[0] for message in passed] == [stamp * 1e-9 for stamp in wanted]
        assert probe.spin_until(
            lambda: any("2 joint states did not arrive" in s.message for r in reports for s in r.status)
        )
    assert node.running


def test_a_rate_that_no_steps_make_is_refused(start_node) -> None:
    node = start_node("gazebo_joint_states", rate=300.0)
    assert node.wait(20.0) == 1
    assert "1000 divided by a whole number" in node.output
