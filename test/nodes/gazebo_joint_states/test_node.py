"""The node that samples Gazebo's joint states: which of them it passes on, and its report of those lost."""

from helpers.ros_probe import MANY, RosProbe
from sensor_msgs.msg import JointState

from icub_learning.nodes.common.conversions import set_stamp, stamp_to_ns

STEP = 1_000_000  # [ns]


def test_states_one_step_before_each_wrench_are_passed_on(node_here) -> None:
    node = node_here("gazebo_joint_states", remap=["joint_states:=passed"])
    with RosProbe("/gazebo_joint_states", "joint states") as probe:
        passed = probe.hear(JointState, "/passed")
        states = probe.node.create_publisher(JointState, "/gazebo/joint_states", MANY)
        probe.matched(states, topics=("/passed",))
        sent = [10**9 + k * STEP for k in range(200) if not 100 <= k < 110]  # ten steps are lost on their way
        for stamp in sent:
            message = JointState(name=["a"], position=[stamp * 1e-9], velocity=[1.0])
            set_stamp(message.header.stamp, stamp)
            states.publish(message)
        wanted = [stamp for stamp in sent if (stamp + STEP) % (5 * STEP) == 0]
        report = probe.report(lambda values: values["messages received"] == str(len(sent)), "of all messages")
        assert report["passed on"] == str(len(wanted)) and "2 joint states did not arrive" in probe.message
        probe.until(lambda: len(passed) >= len(wanted), "all that is passed on")
        assert [stamp_to_ns(message.header.stamp) for message in passed] == wanted
        assert [message.position[0] for message in passed] == [stamp * 1e-9 for stamp in wanted]
    assert node.running
