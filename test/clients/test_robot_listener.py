"""A robot heard on live topics: each planted fault is named, and nothing is said against sound robots. All are played
at the same time, each in a namespace of its own, so that the test waits for messages only once."""

from types import SimpleNamespace

import pytest
import rclpy
from geometry_msgs.msg import WrenchStamped
from helpers.planted_faults import FAULTS, every, planted
from helpers.ros_probe import RosProbe
from helpers.sound_robots import cut, moved, zoo_robot
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from icub_learning.clients import robot_listener
from icub_learning.clients.robot_listener import RobotListener
from icub_learning.clients.topics import joint_state_message, wrench_message
from icub_learning.evaluation.robot_check.observation import Observation
from icub_learning.evaluation.robot_check.suite import check_robot
from icub_learning.nodes.common.qos import SENSOR, STATE
from icub_learning.recording import WrenchEvent

SECONDS = 4.0
START = 1_700_000_000 * 10**9  # [ns]
BEST_EFFORT = QoSProfile(depth=100, reliability=ReliabilityPolicy.BEST_EFFORT)
RELIABLE = QoSProfile(depth=100)


class Stage(RosProbe):
    """Recordings played side by side on topics, each with a listener of its own, on a clock that the test sets."""

    def open(self):
        self.robots = self.other_node("robots")
        self.listeners, self.senders, self.now = {}, [], START

    def other_node(self, name, **options):
        """Return a new node on the robots' side, which subscribes to nothing."""
        return rclpy.create_node(name, context=self.node.context, **options)

    def add(self, name, recording, qos=RELIABLE):
        """Add a recording to be played below a namespace, and a listener."""
        topics = f"/{name}/joint_states", f"/{name}/wrench"
        joint_states = self.robots.create_publisher(JointState, topics[0], qos)
        wrenches = self.robots.create_publisher(WrenchStamped, topics[1], qos)
        self.listeners[name] = RobotListener(self.node, *topics, f"/{name}/robot_description")
        self.senders.append((recording, joint_states, wrenches))

    def play(self):
        """Publish each message when it is due, and take it in before the next one is due."""
        self.matched(*(sender for _, *both in self.senders for sender in both))
        first, due = min(int(recording.joint_arrivals[0]) for recording, _, _ in self.senders), {}
        for recording, joint_states, wrenches in self.senders:
            for event in recording.events():
                stamp = event.stamp - first + START if event.stamp > 0 else event.stamp
                if isinstance(event, WrenchEvent):
                    message = wrenches, wrench_message(event, stamp, recording.wrench_frame)
                else:
                    message = joint_states, joint_state_message(event, stamp)
                due.setdefault(event.arrival - first + START, []).append(message)
        for self.now, messages in sorted(due.items()):
            expected = self.taken() + len(messages)
            for sender, message in messages:
                sender.publish(message)
            self.until(lambda count=expected: self.taken() == count, f"{expected} messages")

    def taken(self):
        """Return how many messages all listeners have taken."""
        collectors = [heard.collector for heard in self.listeners.values()]
        return sum(one.n_joint_states + one.n_wrenches for one in collectors)

    def faults(self, name, urdf, sensor):
        heard = self.listeners[name]
        recording = heard.collector.recording(with_wrench=heard.collector.n_wrenches > 0)
        seen = Observation(recording, urdf, sensor, recording.wrench_frame, heard.n_clock > 0, heard.topics())
        return set(check_robot(seen).faults)


@pytest.fixture
def stage(ros_domain, monkeypatch):
    with Stage() as made:
        clock = SimpleNamespace(time_ns=lambda: made.now, monotonic=lambda: made.now * 1e-9)
        monkeypatch.setattr(robot_listener, "time", clock)
        yield made


def test_planted_faults_are_named_on_live_topics_and_sound_robots_are_not_blamed(stage):
    arm = zoo_robot("icub_left_arm_wrench_100hz", seed=9)
    sound = moved(every(cut(arm.recording, 4.0, 4.0 + SECONDS), 2), 0)
    others = {name: zoo_robot(name) for name in ("icub_wrench_50hz", "tiago_slow_100hz", "ur10_currents_125hz")}
    for fault in FAULTS:
        stage.add(fault, planted(fault, sound))
    stage.add("sound", sound)
    stage.add("best_effort", sound, BEST_EFFORT)
    for name, robot in others.items():
        part = cut(robot.recording, 4.0, 4.0 + SECONDS)
        stage.add(name, moved(part, sound.joint_arrivals[0] - part.joint_arrivals[0]))
    stage.play()
    found = {fault: stage.faults(fault, arm.urdf, arm.sensor) for fault in FAULTS}
    assert found == {fault: names for fault, (names, _) in FAULTS.items()}
    for name in ("sound", "best_effort"):
        assert stage.faults(name, arm.urdf, arm.sensor) == set()
    for name, robot in others.items():
        assert stage.faults(name, robot.urdf, robot.sensor) == set(), name


def test_who_publishes_and_who_hears_nothing(stage):
    arm = zoo_robot("icub_left_arm_wrench_100hz", seed=9)
    sound = every(cut(arm.recording, 4.0, 5.0), 2)
    stage.add("unserved", sound, BEST_EFFORT)
    stage.add("crowded", sound)
    demanding = stage.other_node("controller", namespace="/arm")
    demanding.create_subscription(JointState, "/unserved/joint_states", lambda _: None, RELIABLE)
    second = stage.other_node("second_driver")
    second.create_publisher(JointState, "/crowded/joint_states", RELIABLE)
    described = stage.robots.create_publisher(String, "/crowded/robot_description", STATE)
    described.publish(String(data="<robot name='arm'/>"))
    stage.play()
    unserved, crowded = stage.listeners["unserved"], stage.listeners["crowded"]
    stage.until(lambda: unserved.topics()[0].unserved and len(crowded.topics()[0].publishers) == 2, "the other nodes")
    stage.until(lambda: crowded.description, "the description")
    clock = stage.robots.create_publisher(Clock, "/clock", SENSOR)
    stage.matched(clock)
    clock.publish(Clock())
    stage.until(lambda: crowded.n_clock == 1, "a clock")
    assert stage.faults("unserved", arm.urdf, arm.sensor) == {"qos"}
    (text,) = unserved.topics()[0].unserved
    assert "/arm/controller" in text and "reliab" in text.lower()
    assert stage.faults("crowded", arm.urdf, arm.sensor) == {"publishers"}
    assert sorted(crowded.topics()[0].publishers) == ["/robots", "/second_driver"]
    assert crowded.description == "<robot name='arm'/>" and "/unserved/joint_states" in crowded.other_joint_states()
