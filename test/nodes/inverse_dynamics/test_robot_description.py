"""The node takes URDF and joints from other nodes: a latched topic, and a controller's parameters."""

import pytest
from helpers.ros_probe import LATCHED, RosProbe
from std_msgs.msg import String

from icub_learning.nodes.inverse_dynamics.robot_description import movable_joints
from icub_learning.simulation.zoo.bodies import planar_arm_urdf

pytestmark = pytest.mark.check
ARM = planar_arm_urdf((0.4, 0.3, 0.2), (2.0, 1.0, 0.5))
SETTINGS = {"output": "joint_torque", "estimator": "parametric", "urdf": "topic", "description_timeout": 200.0}
TOO_SHORT = 0.2  # [s] for what never comes


@pytest.fixture
def robot(ros_domain):
    """What robot_state_publisher and a controller are, as far as the node asks them: a topic, and parameters."""
    with RosProbe() as probe:
        probe.urdf = probe.node.create_publisher(String, "/robot_description", LATCHED)
        probe.urdf.publish(String(data=ARM))
        yield probe


@pytest.mark.parametrize(
    ("parameters", "n_joints"),
    [({}, 3), ({"controller": "/probe"}, 2), ({"joints": ["joint_3"], "controller": "/probe"}, 1)],
)
def test_the_node_learns_about_its_robot(robot, start_node, parameters, n_joints):
    robot.node.declare_parameter("joints", ["joint_1", "joint_2"])
    node = start_node("inverse_dynamics", **SETTINGS, **parameters)
    text = f"of {n_joints} outputs from {n_joints} joints"
    robot.until(lambda: text in node.output or not node.running, text)
    assert text in node.output


@pytest.mark.parametrize(
    ("told", "change", "text"),
    [
        (ARM, {"remap": ["robot_description:=/other"], "description_timeout": TOO_SHORT}, "no URDF came on /other"),
        (ARM, {"controller": "/probe"}, "names joints"),
        (
            ARM,
            {"urdf": ARM, "controller": "nobody", "description_timeout": TOO_SHORT},
            "answers /nobody/get_parameters",
        ),
        ("no XML", {}, "URDF"),
    ],
    ids=["no URDF", "no joints", "no controller", "nonsense"],
)
def test_who_tells_nothing_or_nonsense_is_named(robot, start_node, told, change, text):
    robot.urdf.publish(String(data=told))
    node = start_node("inverse_dynamics", **(SETTINGS | change))
    robot.until(lambda: not node.running, "the end of the node")
    assert node.wait() == 1
    assert text in node.output


def test_joints_that_follow_others_are_left_out():
    mimic = '<mimic joint="joint_1"/><limit '
    text = ARM.replace("<limit ", mimic, 1)
    assert movable_joints(text) == ("joint_2", "joint_3")
