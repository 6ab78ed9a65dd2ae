"""The topics, timers and services of a node, and other nodes on its topics whose QoS does not match."""

from collections.abc import Callable
from itertools import product
from typing import Any

from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.exceptions import InvalidHandle
from rclpy.node import Node
from rclpy.qos import QoSCompatibility, qos_check_compatible

from icub_learning.nodes.common.gate import Gate


class Endpoints:
    """Remembers what is to be destroyed at cleanup, keeps services, and notices others that do not match.

    A service is made once and stays for the life of the node, since a request that waits when its service ends is never
    answered. `closed` returns why requests cannot be served, "" while they can.
    """

    def __init__(self, node: Node, gate: Gate, closed: Callable[[], str]) -> None:
        self._node, self._gate, self._closed = node, gate, closed
        self.remember = False  # until the node itself, with endpoints of rclpy, has been made
        self._made: list[tuple[Any, Callable[[Any], Any]]] = []
        self._services: dict[str, Any] = {}
        self._mismatched: set[Any] = set()  # of the endpoints made: those that another end once did not fit

    def add(self, made: Any, destroy: Callable[[Any], Any]) -> Any:
        """Remember what was made and how to destroy it; return it."""
        if self.remember:
            self._made = [(one, way) for one, way in self._made if _exists(one)]
            self._made.append((made, destroy))
        return made

    def service(self, name: str, callback: Callable[..., Any], make: Callable[..., Any]) -> Any:
        """Return the service of that name, made if there is none yet."""
        if not self.remember:  # one of rclpy's own
            return make(self._gate.service(name, callback))
        if name not in self._services:
            self._services[name] = make(self._gate.service(name, callback, self._closed))
        return self._services[name]

    def watched(self, topic: str, options: dict[str, Any], *, subscription: bool) -> dict[str, Any]:
        """Return the options of an endpoint, with a callback that notes that the QoS of another end did not match."""
        if not self.remember:
            return options

        def mismatch(_event: Any) -> None:
            self._mismatched.add((topic, subscription))

        kind = SubscriptionEventCallbacks if subscription else PublisherEventCallbacks
        return {"event_callbacks": kind(incompatible_qos=mismatch), **options}

    def others(self) -> list[str]:
        """Return a text for each topic with several publishers, and for each node whose QoS does not match."""
        found = []
        for topic, subscription in sorted(self._mismatched):  # who did not match may have left
            if reason := self._mismatch(topic, subscription):
                end = "publisher" if subscription else "subscriber"
                found.append(f"{topic}: the QoS of a {end} does not match: {reason}")
            else:
                self._mismatched.discard((topic, subscription))
        topics = {one.topic_name for one, _ in self._made if _exists(one) and hasattr(one, "get_publisher_count")}
        counts = {topic: self._node.count_publishers(topic) for topic in sorted(topics)}
        return found + [f"{count} publishers on {topic}" for topic, count in counts.items() if count > 1]

    def _mismatch(self, topic: str, subscription: bool) -> str:
        """Return why a publisher and a subscriber of a topic, one of which is this node, do not match, "" if all do."""
        full, name = self._node.resolve_topic_name(topic), self._node.get_name()
        publishers = self._node.get_publishers_info_by_topic(full)
        subscribers = self._node.get_subscriptions_info_by_topic(full)
        for publisher, subscriber in product(publishers, subscribers):
            own, other = (subscriber, publisher) if subscription else (publisher, subscriber)
            level, reason = qos_check_compatible(publisher.qos_profile, subscriber.qos_profile)
            if own.node_name == name and level == QoSCompatibility.ERROR:
                return f"{other.node_name}: {reason.removeprefix('ERROR: ').rstrip(';')}"
        return ""

    def release(self) -> None:
        """Destroy everything but services; what does not exist any more is left alone."""
        made, self._made = self._made, []
        self._mismatched.clear()
        for one, destroy in reversed(made):
            destroy(one)


def _exists(one: Any) -> bool:
    try:
        with one.handle:
            return True
    except InvalidHandle:
        return False
