"""A subscription for large messages: best-effort, and reliable as soon as everybody who publishes is."""

from collections import deque
from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.subscription import Subscription

DEPTH = 5  # images kept for the node
REMEMBERED = 16  # stamps of each subscription


class ImageSubscription:
    """Hands images on, each once.

    A best-effort image of more than some 0.5 MB travels in pieces that are not sent again, and on a busy machine hardly
    one arrives whole. A reliable subscription gets them all, but nothing from best-effort publishers. So it is chosen
    after what publishers offer; while one subscription takes over from the other, both are there.

    Args:
        node: the node.
        kind: type of the message, with a header.
        topic: name of the topic.
        callback: called with each message.
        reliability: "best_effort", "reliable", or "auto" for what this class is about.
    """

    def __init__(
        self, node: Node, kind: type, topic: str, callback: Callable[[Any], None], reliability: str = "auto"
    ) -> None:
        self._node, self._kind, self._topic, self._callback = node, kind, topic, callback
        self._automatic = reliability == "auto"
        first = ReliabilityPolicy.RELIABLE if reliability == "reliable" else ReliabilityPolicy.BEST_EFFORT
        self._made: dict[ReliabilityPolicy, Subscription] = {}
        self._stamps = {policy: deque[tuple[int, int]](maxlen=REMEMBERED) for policy in
                        (ReliabilityPolicy.BEST_EFFORT, ReliabilityPolicy.RELIABLE)}  # fmt: skip
        self._subscribe(first)
        self._current = first

    def adapt(self) -> None:
        """Look at what publishers offer; to be called from time to time."""
        if not self._automatic:
            return
        offers = self._node.get_publishers_info_by_topic(self._made[self._current].topic_name)
        all_reliable = offers and all(offer.qos_profile.reliability == ReliabilityPolicy.RELIABLE for offer in offers)
        wanted = ReliabilityPolicy.RELIABLE if all_reliable else ReliabilityPolicy.BEST_EFFORT
        if wanted is self._current:
            self._keep_only(wanted)
        elif wanted not in self._made:
            self._subscribe(wanted)
        elif self._made[wanted].get_publisher_count() >= len(offers):  # they have found it
            self._current = wanted
            self._keep_only(wanted)

    def destroy(self) -> None:
        """End the subscription."""
        self._automatic = False
        for policy in list(self._made):
            self._node.destroy_subscription(self._made.pop(policy))

    def _keep_only(self, policy: ReliabilityPolicy) -> None:
        for other in [made for made in self._made if made is not policy]:
            self._node.destroy_subscription(self._made.pop(other))

    def _subscribe(self, policy: ReliabilityPolicy) -> None:
        def received(message: Any) -> None:
            stamp = (message.header.stamp.sec, message.header.stamp.nanosec)
            self._stamps[policy].append(stamp)
            others = [self._stamps[other] for other in self._made if other is not policy]
            if stamp == (0, 0) or not any(stamp in stamps for stamps in others):
                self._callback(message)

        profile = QoSProfile(depth=DEPTH, reliability=policy)
        self._made[policy] = self._node.create_subscription(self._kind, self._topic, received, profile)
