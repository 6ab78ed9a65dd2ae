"""The topics, timers and services of a node, and other nodes on its topics whose QoS does not match."""

from collections.abc import Callable, Iterable
from itertools import product
from typing import Any

from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.lifecycle import LifecycleNode
from rclpy.qos import QoSCompatibility, qos_check_compatible
from rclpy.subscription import Subscription

from icub_learning.nodes.common.gate import Gate

CLOCK = "/clock"  # topic to which rclpy itself subscribes while use_sim_time is true


class Endpoints:
    """Destroys topics and timers at cleanup, keeps services, and notices other nodes whose QoS does not match.

    A service is made once and stays for the life of the node, since a request that waits when its service is destroyed
    is never answered; each configuration gives it a new callback. `closed` returns why requests cannot be served, ""
    while they can.
    """

    def __init__(self, node: LifecycleNode, gate: Gate, closed: Callable[[], str]) -> None:
        self._node, self._gate, self._closed = node, gate, closed
        self._of_rclpy: set[Any] | None = None  # endpoints that rclpy makes for every node; None before `start`
        self._services: dict[str, Any] = {}
        self._mismatched: set[Any] = set()  # (topic, whether a subscription) of endpoints with a mismatch

    def start(self) -> None:
        """Record the endpoints made so far as those of rclpy."""
        self._of_rclpy = {*self._node.timers, *self._node.subscriptions, *self._node.publishers}

    def service(self, name: str, callback: Callable[..., Any], make: Callable[..., Any]) -> Any:
        if self._of_rclpy is None:
            return make(self._gate.service(name, callback))
        passed = self._gate.service(name, callback, self._closed)
        if name in self._services:
            self._services[name].callback = passed
        else:
            self._services[name] = make(passed)
        return self._services[name]

    def watched(self, topic: str, options: dict[str, Any], *, subscription: bool) -> dict[str, Any]:
        """Return the options of an endpoint, with a callback that records that another node's QoS did not match."""
        if self._of_rclpy is None:
            return options

        def mismatch(_event: Any) -> None:
            self._mismatched.add((topic, subscription))

        kind = SubscriptionEventCallbacks if subscription else PublisherEventCallbacks
        return {"event_callbacks": kind(incompatible_qos=mismatch), **options}

    def others(self) -> list[str]:
        """Return a text for each topic with several publishers, other nodes of this name or without matching QoS."""
        found = []
        for topic, subscription in sorted(self._mismatched):  # the node that did not match may have left
            if reason := self._mismatch(topic, subscription):
                end = "publisher" if subscription else "subscriber"
                found.append(f"{topic}: the QoS of a {end} does not match: {reason}")
            else:
                self._mismatched.discard((topic, subscription))
        topics = {one.topic_name for one in self._own(self._node.subscriptions)}
        counts = {f"publishers on {topic}": self._node.count_publishers(topic) for topic in sorted(topics)}
        names = [f"{space.rstrip('/')}/{name}" for name, space in self._node.get_node_names_and_namespaces()]
        own = self._node.get_fully_qualified_name()
        counts[f"nodes are called {own}"] = names.count(own)
        return found + [f"{count} {what}" for what, count in counts.items() if count > 1]

    def _mismatch(self, topic: str, subscription: bool) -> str:
        """Return why the QoS of this node and that of another one on a topic do not match; "" if all match."""
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
        self._mismatched.clear()
        for one in self._own(self._node.timers):
            self._node.destroy_timer(one)
        for one in self._own(self._node.subscriptions):
            self._node.destroy_subscription(one)
        for one in self._own(self._node.publishers):
            self._node.destroy_lifecycle_publisher(one)

    def _own(self, made: Iterable[Any]) -> list[Any]:
        def clock(one: Any) -> bool:
            return isinstance(one, Subscription) and one.topic_name == CLOCK

        return [one for one in made if one not in (self._of_rclpy or ()) and not clock(one)]
