"""Subscriptions to images, reliable as soon as all publishers are; only the newest image is processed: no lag."""

import threading
import time
from collections import deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.subscription import Subscription
from sensor_msgs.msg import CompressedImage, Image

from icub_learning.nodes.common.conversions import stamp_to_ns
from icub_learning.nodes.common.spinning import ManagedNode
from icub_learning.settings import setting

DEPTH = 5  # images in the queue of a subscription
REMEMBERED = 16  # stamps kept per topic or subscription; copies of a message arrive closer together than that
ADAPT_PERIOD = 0.2  # [s] between two checks of the reliability that publishers of images offer


@dataclass(frozen=True)
class ImageSettings:
    """Settings of nodes that work on images."""

    reliability: str = setting(
        "auto", "reliability of the image subscriptions; auto: best_effort, and reliable as soon as every publisher is,"
        " because large best-effort images get lost", choices=("auto", "best_effort", "reliable"),
    )  # fmt: skip
    report_period: float = setting(1.0, "period of /diagnostics", unit="s", low=0.05, high=60.0)


class RepeatedStamps:
    """Recognizes messages that have come before in another way: on another topic or by another subscription."""

    def __init__(self) -> None:
        self._stamps: dict[Hashable, deque[int]] = {}

    def repeated(self, way: Hashable, stamp: int) -> bool:
        """Return whether a message with this stamp [ns] has come in another way; never for a stamp of zero."""
        self._stamps.setdefault(way, deque(maxlen=REMEMBERED)).append(stamp)
        return stamp != 0 and any(stamp in stamps for other, stamps in self._stamps.items() if other != way)

    def forget(self, way: Hashable) -> None:
        self._stamps.pop(way, None)


class ImageSubscription:
    """Passes each image of a topic, a message with a header, on to `callback` once.

    A best-effort image of more than some 0.5 MB travels in pieces that are not sent again, and on a busy machine few
    arrive whole. A reliable subscription gets them all, but nothing from best-effort publishers. So with `reliability`
    "auto", unlike "best_effort" and "reliable", it follows what publishers offer; for a while both subscriptions exist.
    """

    def __init__(
        self, node: Node, kind: type, topic: str, callback: Callable[[Any], None], reliability: str = "auto"
    ) -> None:
        self._node, self._kind, self._topic, self._callback = node, kind, topic, callback
        self._automatic = reliability == "auto"
        self._made: dict[ReliabilityPolicy, Subscription] = {}
        self._stamps = RepeatedStamps()
        self._current = ReliabilityPolicy.RELIABLE if reliability == "reliable" else ReliabilityPolicy.BEST_EFFORT
        self._subscribe(self._current)

    def adapt(self) -> None:
        """Follow the reliability that publishers offer; call it from time to time."""
        if not self._automatic:
            return
        offers = self._node.get_publishers_info_by_topic(self._made[self._current].topic_name)
        all_reliable = offers and all(offer.qos_profile.reliability == ReliabilityPolicy.RELIABLE for offer in offers)
        wanted = ReliabilityPolicy.RELIABLE if all_reliable else ReliabilityPolicy.BEST_EFFORT
        if wanted is not self._current and wanted not in self._made:
            self._subscribe(wanted)
        elif wanted is self._current or self._made[wanted].get_publisher_count() >= len(offers):  # all have found it
            self._current = wanted
            for other in [made for made in self._made if made is not wanted]:
                self._node.destroy_subscription(self._made.pop(other))
                self._stamps.forget(other)

    def _subscribe(self, policy: ReliabilityPolicy) -> None:
        def received(message: Any) -> None:
            if not self._stamps.repeated(policy, stamp_to_ns(message.header.stamp)):
                self._callback(message)

        profile = QoSProfile(depth=DEPTH, reliability=policy)
        self._made[policy] = self._node.create_subscription(self._kind, self._topic, received, profile)


class NewestImages:
    """Processes the newest image of a camera, raw or compressed, between `start` and `stop`.

    `work` is called in a thread of its own with a message and its arrival [s, time.perf_counter()]; at most one image
    waits for it. What `work` raises is counted by the node's gate.
    """

    def __init__(self, node: ManagedNode, reliability: str, work: Callable[[Any, float], None]) -> None:
        self._work, self._stamps = node.gate.guarded("image", work), RepeatedStamps()
        self._waiting: list[tuple[Any, float]] = []
        self._running = False
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self.received = self.repeated = 0  # images, and those that came both raw and compressed
        self.dropped = 0  # images that a newer one replaced while they waited
        topics = ("image", Image), ("image/compressed", CompressedImage)
        self._images = [ImageSubscription(node, kind, topic, self._on_image, reliability) for topic, kind in topics]
        node.create_timer(ADAPT_PERIOD, self._adapt)

    def start(self) -> None:
        self._running = True
        self._thread = threading.Thread(target=self._run, name="newest", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop when the current image is done; an image that waits is dropped."""
        with self._changed:
            self._running = False
            self._waiting.clear()
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _adapt(self) -> None:
        for images in self._images:
            images.adapt()

    def _on_image(self, message: Any) -> None:
        if not self._running:
            return
        self.received += 1
        # A camera may publish each image raw and compressed.
        if self._stamps.repeated(type(message).__name__, stamp_to_ns(message.header.stamp)):
            self.repeated += 1
            return
        with self._changed:
            self.dropped += len(self._waiting)
            self._waiting = [(message, time.perf_counter())]
            self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or not self._running)
                if not self._running:
                    return
                image = self._waiting.pop()
            self._work(*image)
