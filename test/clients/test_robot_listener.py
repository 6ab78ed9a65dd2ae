"""A robot heard on live topics: each planted fault is named, and nothing is said against sound robots.

All of them talk at the same time, each in a namespace of its own: seconds pass once.
"""

import time

import pytest
from helpers.planted_faults import FAULTS, every
from helpers.sound_robots import cut, moved, zoo_robot

pytest.importorskip("rclpy")

import rclpy
from geometry_msgs.msg import WrenchStamped
from rclpy.executors import ExternalShutdownException
from rclpy.experimental import EventsExecutor
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from icub_learning.clients.robot_listener import RobotListener
from icub_learning.clients.topics import joint_state_message, wrench_message
from icub_learning.evaluation.robot_check.observation import Observation
from icub_learning.evaluation.robot_check.suite import check_robot
from icub_learning.nodes.common.qos import DISCOVERY_TIME, STATE
from icub_learning.recording import WrenchEvent

SECONDS = 4.0
BEST_EFFORT = QoSProfile(depth=100, reliability=ReliabilityPolicy.BEST_EFFORT)
RELIABLE = QoSProfile(depth=100)


@pytest.fixture
def context(ros_domain):
    rclpy.init()
    yield
    rclpy.try_shutdown()


class Stage:
    """Recordings played on topics beside each other, each with a listener of its own."""

    def __init__(self):
        self.node = rclpy.create_node("robots")
        self.ears = rclpy.create_node("listener")
        self.executor = EventsExecutor()
        self.executor.add_node(self.ears)
        self.listeners, self.senders = {}, []

    def add(self, name, recording, qos=RELIABLE):
        """Play a recording below a namespace."""
        topics = f"/{name}/joint_states", f"/{name}/wrench"
        joint_states = self.node.create_publisher(JointState, topics[0], qos)
        wrenches = self.node.create_publisher(WrenchStamped, topics[1], qos)
        self.listeners[name] = RobotListener(self.ears, *topics, f"/{name}/robot_description")
        self.senders.append((recording, joint_states, wrenches))

    def spin(self, until):
        while (left := until - time.time()) > 0:
            try:
                self.executor.spin_once(timeout_sec=min(left, 0.05))
            except ExternalShutdownException:
                break

    def play(self):
        """Publish all messages when they are due, with stamps of today."""
        self.spin(time.time() + 2 * DISCOVERY_TIME)
        first = min(int(recording.joint_arrivals[0]) for recording, _, _ in self.senders)
        start = time.time_ns()
        queue = []
        for number, (recording, joint_states, wrenches) in enumerate(self.senders):
            for event in recording.events():
                sender = wrenches if isinstance(event, WrenchEvent) else joint_states
                queue.append((event.arrival - first + start, number, event, sender, recording.wrench_frame))
        queue.sort(key=lambda entry: entry[:2])
        for due, _, event, sender, frame in queue:
            if due > time.time_ns():
                self.spin(due * 1e-9)
            stamp = event.stamp - first + start if event.stamp > 0 else event.stamp
            if isinstance(event, WrenchEvent):
                sender.publish(wrench_message(event, stamp, frame))
            else:
                sender.publish(joint_state_message(event, stamp))
        self.spin(time.time() + 0.5)

    def faults(self, name, urdf, sensor):
        heard = self.listeners[name]
        seen = Observation(heard.recording, urdf, sensor, heard.wrench_frame, heard.n_clock > 0, heard.topics())
        return set(check_robot(seen).faults)


@pytest.mark.timeout(60)
def test_planted_faults_are_named_on_live_topics_and_sound_robots_are_not_blamed(context):
    arm = zoo_robot("icub_left_arm_wrench_100hz", seed=9)
    sound = moved(every(cut(arm.recording, 4.0, 4.0 + SECONDS), 2), 0)
    others = {name: zoo_robot(name) for name in ("icub_wrench_50hz", "tiago_slow_100hz", "ur10_currents_125hz")}
    stage = Stage()
    for plant in FAULTS:
        stage.add(plant.__name__, plant(sound))
    stage.add("sound", sound)
    stage.add("best_effort", sound, BEST_EFFORT)
    for name, robot in others.items():
        stage.add(
            name,
            moved(
                cut(robot.recording, 4.0, 4.0 + SECONDS),
                sound.joint_arrivals[0] - cut(robot.recording, 4.0, 5.0).joint_arrivals[0],
            ),
        )
    stage.play()

    found = {plant: stage.faults(plant.__name__, arm.urdf, arm.sensor) for plant in FAULTS}
    assert found == {plant: set(names) for plant, names in FAULTS.items()}
    for name in ("sound", "best_effort"):
        assert stage.faults(name, arm.urdf, arm.sensor) == set()
    for name, robot in others.items():
        assert stage.faults(name, robot.urdf, robot.sensor) == set(), name


@pytest.mark.timeout(60)
def test_who_publishes_and_who_hears_nothing(context):
    arm = zoo_robot("icub_left_arm_wrench_100hz", seed=9)
    sound = every(cut(arm.recording, 4.0, 5.0), 2)
    stage = Stage()
    stage.add("unserved", sound, BEST_EFFORT)
    stage.add("crowded", sound)
    demanding = rclpy.create_node("controller", namespace="/arm")
    demanding.create_subscription(JointState, "/unserved/joint_states", lambda _: None, RELIABLE)
    second = rclpy.create_node("second_driver")
    second.create_publisher(JointState, "/crowded/joint_states", RELIABLE)
    described = stage.node.create_publisher(String, "/crowded/robot_description", STATE)
    described.publish(String(data="<robot name='arm'/>"))
    stage.play()

    assert stage.faults("unserved", arm.urdf, arm.sensor) == {"qos"}
    (text,) = stage.listeners["unserved"].topics()[0].unserved
    assert "/arm/controller" in text
    assert "reliab" in text.lower()
    assert stage.faults("crowded", arm.urdf, arm.sensor) == {"publishers"}
    assert stage.listeners["crowded"].topics()[0].publishers == ("/robots", "/second_driver")
    assert stage.listeners["crowded"].description == "<robot name='arm'/>"
    assert "/unserved/joint_states" in stage.listeners["crowded"].other_joint_states()
