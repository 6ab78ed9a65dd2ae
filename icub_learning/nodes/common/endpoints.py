"""Topics, timers and services that a node made, and what others on its topics do not fit."""

from collections.abc import Callable
from typing import Any

from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import qos_policy_name_from_kind

from icub_learning.nodes.common.gate import Gate


class Endpoints:
    """Remembers what is to be destroyed at cleanup, keeps services, and notices others that do not match.

    A service is made once and stays for the life of the node, since a request that waits while its service is destroyed
    would never be answered.
    """

    def __init__(self) -> None:
        self._node: Node | None = None  # set when the node itself has been made
        self._gate: Gate
        self._closed: Callable[[], str] = lambda: ""
        self._made: list[tuple[Any, Callable[[Any], Any]]] = []
        self._services: dict[str, Any] = {}
        self.mismatches: dict[str, str] = {}  # by topic: which policy of another end does not fit, in words

    def start(self, node: Node, gate: Gate, closed: Callable[[], str]) -> None:
        """Remember from now on; `closed` returns why requests cannot be served, "" while they can."""
        self._node, self._gate, self._closed = node, gate, closed

    def add(self, made: Any, destroy: Callable[[Any], Any]) -> Any:
        """Remember what was made and how to destroy it; return it."""
        if self._node is not None:
            self._made = [(one, way) for one, way in self._made if _exists(one)]
            self._made.append((made, destroy))
        return made

    def service(self, name: str, callback: Callable[..., Any], make: Callable[..., Any], gate: Gate) -> Any:
        """Return the service of that name, made if there is none yet."""
        if self._node is None:  # one of rclpy's own
            return make(gate.service(name, callback))
        if name not in self._services:
            self._services[name] = make(gate.service(name, callback, self._closed))
        return self._services[name]

    def watched(self, topic: str, options: dict[str, Any], *, subscription: bool) -> dict[str, Any]:
        """Return the options of an endpoint, with a callback that notes another end whose QoS does not match."""
        if self._node is None:
            return options

        def mismatch(event: Any) -> None:
            policy = qos_policy_name_from_kind(event.last_policy_kind).lower()
            end = "publisher" if subscription else "subscriber"
            self.mismatches[topic] = f"{topic}: the QoS of a {end} does not match ({policy})"

        kind = SubscriptionEventCallbacks if subscription else PublisherEventCallbacks
        return {"event_callbacks": kind(incompatible_qos=mismatch), **options}

    def several_publishers(self) -> list[str]:
        """Return, in words, which subscribed topics have more than one publisher."""
        assert self._node is not None
        topics = {one.topic_name for one, _ in self._made if _exists(one) and hasattr(one, "get_publisher_count")}
        counts = {topic: self._node.count_publishers(topic) for topic in sorted(topics)}
        return [f"{count} publishers on {topic}" for topic, count in counts.items() if count > 1]

    def release(self) -> None:
        """Destroy everything but services; what does not exist any more is left alone."""
        made, self._made = self._made, []
        self.mismatches.clear()
        for one, destroy in reversed(made):
            destroy(one)


def _exists(one: Any) -> bool:
    """Return whether an endpoint has not been destroyed."""
    try:
        with one.handle:
            return True
    except Exception:  # rclpy's InvalidHandle, which it does not export
        return False
