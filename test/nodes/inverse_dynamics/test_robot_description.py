"""The node takes URDF and joints from other nodes: a latched topic, and a controller's parameters."""

from contextlib import ExitStack
from types import SimpleNamespace

import pytest
import rclpy
from helpers.ros_probe import LATCHED, spun
from std_msgs.msg import String

from icub_learning.nodes.inverse_dynamics.robot_description import movable_joints
from icub_learning.simulation.zoo.bodies import planar_arm_urdf

ARM = planar_arm_urdf((0.4, 0.3, 0.2), (2.0, 1.0, 0.5))
SETTINGS = {"output": "joint_torque", "estimator": "parametric", "urdf": "topic", "description_timeout": 200.0}


@pytest.fixture
def robot(node_here, monkeypatch):
    """Stands in for robot_state_publisher and a controller, beside the node under test: a topic and parameters."""
    told = SimpleNamespace(urdf=ARM, parameter="joints")

    def appear():
        node = rclpy.create_node("controller", use_global_arguments=False)
        node.create_publisher(String, "/robot_description", LATCHED).publish(String(data=told.urdf))
        node.declare_parameter(told.parameter, ["joint_1", "joint_2"])
        beside.enter_context(spun(node))  # it answers while the node under test waits in this thread

    monkeypatch.setattr("helpers.node_here.BESIDE", [appear])
    with ExitStack() as beside:
        yield told


@pytest.mark.parametrize(("parameters", "n_joints"), [
    ({}, 3), ({"controller": "/controller"}, 2), ({"joints": ["joint_3"], "controller": "/controller"}, 1),
])  # fmt: skip
def test_the_node_learns_about_its_robot(robot, node_here, parameters, n_joints):
    node_here("inverse_dynamics", **SETTINGS, **parameters).wait_for(f"of {n_joints} outputs from {n_joints} joints")


@pytest.mark.parametrize(("told", "change", "text"), [
    (ARM, {"remap": ["robot_description:=/other"], "description_timeout": 0.2}, "no URDF came on /other"),
    (ARM, {"controller": "/controller"}, "names joints"),
    (ARM, {"urdf": ARM, "controller": "nobody", "description_timeout": 0.2}, "answers /nobody/get_parameters"),
    ("no XML", {}, "URDF"),
], ids=["no URDF", "no joints", "no controller", "nonsense"])  # fmt: skip
def test_who_tells_nothing_or_nonsense_is_named(robot, node_here, told, change, text):
    robot.urdf, robot.parameter = told, "other"
    node = node_here("inverse_dynamics", **(SETTINGS | change))
    assert node.wait() == 1 and text in node.output


def test_joints_that_follow_others_are_left_out():
    assert movable_joints(ARM.replace("<limit ", '<mimic joint="joint_1"/><limit ', 1)) == ("joint_2", "joint_3")
