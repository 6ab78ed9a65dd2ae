"""A subscription for large messages: best-effort, and reliable as soon as all publishers are."""

from collections import deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.subscription import Subscription

from icub_learning.nodes.common.conversions import stamp_to_ns
from icub_learning.settings import setting

DEPTH = 5  # images in the queue
REMEMBERED = 16  # stamps of each way; both copies of a message arrive closer together than that


@dataclass(frozen=True)
class ImageSettings:
    """Settings of nodes that work on images."""

    reliability: str = setting(
        "auto",
        "reliability of the image subscriptions; auto: best_effort, and reliable as soon as every publisher is,"
        " because large best-effort images get lost",
        choices=("auto", "best_effort", "reliable"),
    )
    report_period: float = setting(1.0, "period of /diagnostics", unit="s", low=0.05, high=60.0)


class RepeatedStamps:
    """Recognizes a message that has come before in another way: another topic, another subscription."""

    def __init__(self) -> None:
        self._stamps: dict[Hashable, deque[int]] = {}

    def repeated(self, way: Hashable, stamp: int) -> bool:
        """Return whether a message with this stamp [ns] has come in another way; never for a stamp of zero."""
        self._stamps.setdefault(way, deque(maxlen=REMEMBERED)).append(stamp)
        return stamp != 0 and any(stamp in stamps for other, stamps in self._stamps.items() if other != way)

    def forget(self, way: Hashable) -> None:
        """Forget the stamps of messages that came in one way."""
        self._stamps.pop(way, None)


class ImageSubscription:
    """Passes each image of a topic, messages with a header, on to `callback` once.

    A best-effort image of more than some 0.5 MB travels in pieces that are not sent again, and on a busy machine few
    arrive whole. A reliable subscription gets them all, but nothing from best-effort publishers. So with `reliability`
    "auto", not "best_effort" or "reliable", it follows what the publishers offer; for a while both subscriptions exist.
    """

    def __init__(
        self, node: Node, kind: type, topic: str, callback: Callable[[Any], None], reliability: str = "auto"
    ) -> None:
        self._node, self._kind, self._topic, self._callback = node, kind, topic, callback
        self._automatic = reliability == "auto"
        first = ReliabilityPolicy.RELIABLE if reliability == "reliable" else ReliabilityPolicy.BEST_EFFORT
        self._made: dict[ReliabilityPolicy, Subscription] = {}
        self._stamps = RepeatedStamps()
        self._subscribe(first)
        self._current = first

    def adapt(self) -> None:
        """Follow the reliability that publishers offer; to be called from time to time."""
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
            self._stamps.forget(other)

    def _subscribe(self, policy: ReliabilityPolicy) -> None:
        def received(message: Any) -> None:
            if not self._stamps.repeated(policy, stamp_to_ns(message.header.stamp)):
                self._callback(message)

        profile = QoSProfile(depth=DEPTH, reliability=policy)
        self._made[policy] = self._node.create_subscription(self._kind, self._topic, received, profile)
