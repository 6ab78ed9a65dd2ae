"""The node takes URDF and joints from other nodes: a latched topic, and a controller's parameters."""

import threading

import pytest

pytest.importorskip("rclpy")

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String

from icub_learning.nodes.inverse_dynamics.robot_description import movable_joints
from icub_learning.simulation.zoo.planar_arm import planar_arm_urdf

pytestmark = pytest.mark.ros
ARM = planar_arm_urdf((0.4, 0.3, 0.2), (2.0, 1.0, 0.5))
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
SETTINGS = {"output": "joint_torque", "estimator": "parametric", "description_timeout": 15.0}


@pytest.fixture
def robot(ros_domain):
    """A robot_state_publisher and a controller, as far as this node asks them."""
    context = rclpy.Context()
    rclpy.init(context=context)
    state_publisher = rclpy.create_node("robot_state_publisher", context=context)
    publisher = state_publisher.create_publisher(String, "/robot_description", LATCHED)
    publisher.publish(String(data=ARM))
    controller = rclpy.create_node("arm_controller", context=context)
    controller.declare_parameter("joints", ["joint_1", "joint_2"])
    executor = SingleThreadedExecutor(context=context)
    for node in (state_publisher, controller):
        executor.add_node(node)

    def spin():
        try:
            while rclpy.ok(context=context):
                executor.spin_once(timeout_sec=0.1)
        except ExternalShutdownException:
            pass

    thread = threading.Thread(target=spin)
    thread.start()
    yield publisher
    rclpy.shutdown(context=context)
    thread.join(10)


@pytest.mark.parametrize(
    ("parameters", "n_joints"),
    [({}, 3), ({"controller": "/arm_controller"}, 2), ({"joints": ["joint_3"], "controller": "/arm_controller"}, 1)],
)
def test_the_node_learns_about_its_robot(robot, start_node, parameters, n_joints):
    node = start_node("inverse_dynamics", urdf="topic", **SETTINGS, **parameters)
    node.wait_for(f"of {n_joints} outputs from {n_joints} joints", 40)


def test_a_topic_of_another_name(robot, start_node):
    node = start_node(
        "inverse_dynamics",
        urdf="topic",
        remap=["robot_description:=/other"],
        **{**SETTINGS, "description_timeout": 2.0},
    )
    node.wait_for("no URDF came on /other", 40)
    assert node.wait(10) == 1


@pytest.mark.parametrize(
    ("controller", "text"),
    [("/robot_state_publisher", "names joints"), ("nobody", "a node that answers /nobody/get_parameters")],
)
def test_a_controller_that_tells_no_joints_is_named(robot, start_node, controller, text):
    settings = {**SETTINGS, "description_timeout": 8.0}
    node = start_node("inverse_dynamics", urdf="topic", controller=controller, **settings)
    node.wait_for(text, 60)
    assert node.wait(10) == 1


def test_nonsense_is_named(robot, start_node):
    robot.publish(String(data="no XML"))
    node = start_node("inverse_dynamics", urdf="topic", **SETTINGS)
    node.wait_for("URDF", 40)
    assert node.wait(10) == 1


def test_joints_that_follow_others_are_left_out():
    mimic = '<mimic joint="joint_1"/><limit '
    text = ARM.replace("<limit ", mimic, 1)
    assert movable_joints(text) == ("joint_2", "joint_3")
