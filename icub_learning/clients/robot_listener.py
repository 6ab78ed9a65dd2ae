"""Collects joint states, wrenches and the description of a running robot, and the nodes that use its topics."""

import time
from collections.abc import Iterable
from typing import Any

from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from rclpy.qos import QoSCompatibility, qos_check_compatible
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from icub_learning.clients.topics import joint_state_event, wrench_event
from icub_learning.evaluation.robot_check.observation import TopicUse
from icub_learning.nodes.common.qos import DEEP_BEST_EFFORT, SENSOR, STATE
from icub_learning.recording.collector import Collector

JOINT_STATE_TYPE = "sensor_msgs/msg/JointState"


class RobotListener:
    """Collects what a robot publishes on these topics while `node` spins; a topic that is None is left out.

    `description` is the topic of the URDF, latched; with it, messages on /clock are counted too.
    """

    def __init__(self, node: Node, joint_states: str, wrench: str | None, description: str | None) -> None:
        self._node = node
        self.collector = Collector()  # messages received so far
        self.description, self.n_clock = "", 0  # URDF as text; number of messages on /clock
        self.began = 0.0  # time of the first joint state [s, time.monotonic()]; 0 before it
        streams = ((JointState, joint_states, self._take_joint_state), (WrenchStamped, wrench, self._take_wrench))
        self._topics = [
            node.create_subscription(kind, topic, take, DEEP_BEST_EFFORT).topic_name
            for kind, topic, take in streams
            if topic is not None
        ]
        if description is not None:
            node.create_subscription(String, description, self._take_description, STATE)
            node.create_subscription(Clock, "/clock", self._take_clock, SENSOR)

    def passed(self) -> float:
        """Return the time since the first joint state [s], 0 before it."""
        return time.monotonic() - self.began if self.began else 0.0

    def topics(self) -> tuple[TopicUse, ...]:
        """Return the publishers of each topic and the subscribers that receive nothing, as far as discovered."""
        return tuple(map(self._use_of, self._topics))

    def _use_of(self, name: str) -> TopicUse:
        publishers = self._node.get_publishers_info_by_topic(name)
        subscriptions = self._node.get_subscriptions_info_by_topic(name)
        reasons = ((_full_name(one), _reason(publishers, one)) for one in subscriptions)
        unserved = tuple(f"{who} on {name}, because of {reason}" for who, reason in reasons if reason)
        return TopicUse(name, tuple(map(_full_name, publishers)), unserved)

    def other_joint_states(self) -> list[str]:
        """Return other topics on which joint states are published."""
        found = [name for name, types in self._node.get_topic_names_and_types() if JOINT_STATE_TYPE in types]
        return sorted(name for name in found if name not in self._topics and self._node.count_publishers(name))

    def _take_joint_state(self, message: JointState) -> None:
        self.began = self.began or time.monotonic()
        self.collector.add_joint_state(joint_state_event(message, time.time_ns()))

    def _take_wrench(self, message: WrenchStamped) -> None:
        self.collector.add_wrench(wrench_event(message, time.time_ns()), message.header.frame_id)

    def _take_description(self, message: String) -> None:
        self.description = message.data

    def _take_clock(self, _message: Clock) -> None:
        self.n_clock += 1


def _reason(publishers: Iterable[Any], subscription: Any) -> str:
    """Return why a subscription receives nothing from any publisher, in the middleware's words; "" if it receives."""
    found = [qos_check_compatible(publisher.qos_profile, subscription.qos_profile) for publisher in publishers]
    if any(compatible != QoSCompatibility.ERROR for compatible, _ in found):
        return ""
    return "; ".join(dict.fromkeys(" ".join(why.removeprefix("ERROR: ").rstrip(";").split()) for _, why in found))


def _full_name(endpoint: Any) -> str:
    return f"{endpoint.node_namespace.rstrip('/')}/{endpoint.node_name}"
