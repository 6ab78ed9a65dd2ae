"""A stream whose messages are taken as bytes, so that only those that are shown are turned into numbers."""

from collections import deque
from collections.abc import Iterator
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile

from icub_learning.nodes.common.serialized import STAMP_END, message_of, stamp_in

KEPT = 400  # messages that wait to be asked for
SAMPLES = 200  # stamps from which the period becomes known
LONGEST_GAP = 5_000_000_000  # [ns]; a longer one is a pause, not a loss


class RawTopic:
    """A subscription of a node that no executor spins, made as by create_subscription, to messages with a header."""

    def __init__(self, node: Node, kind: type, topic: str, qos: QoSProfile) -> None:
        self._node = node
        self._subscription = node.create_subscription(kind, topic, lambda _: None, qos, raw=True)
        self._messages: deque[tuple[int, bytes]] = deque(maxlen=KEPT)
        self._last = 0
        self._steps: list[int] = []
        self._period = 0  # [ns]
        self.name: str = self._subscription.topic_name
        self.lost: int | None = None  # messages between those that came, by stamps; None: the period is not known

    def take(self) -> list[tuple[int, bytes]]:
        """Take in what has arrived; return stamp [ns] and bytes of each new message."""
        found = []
        subscription = self._subscription
        while (taken := subscription.handle.take_message(subscription.msg_type, True)) is not None:
            data = bytes(taken[0])
            if len(data) >= STAMP_END:
                found.append((stamp_in(data), data))
        self._count([stamp for stamp, _ in found])
        self._messages.extend(found)
        return found

    def decode(self, data: bytes) -> Any:
        """Return the message in some bytes. Raises SampleError if they hold none."""
        return message_of(data, self._subscription.msg_type)

    def nearest(self, stamp: int, tolerance: int) -> bytes | None:
        """Return the kept message whose stamp is nearest to `stamp` [ns], or None if none is within the tolerance."""
        near = min(self._messages, key=lambda one: abs(one[0] - stamp), default=None)
        return near[1] if near is not None and abs(near[0] - stamp) <= tolerance else None

    def close(self) -> None:
        """End the subscription."""
        self._node.destroy_subscription(self._subscription)

    def _count(self, stamps: list[int]) -> None:
        for stamp in stamps:
            step, self._last = stamp - self._last, stamp
            if not 0 < step < LONGEST_GAP:  # repeated, set back, after a pause, or the first one
                continue
            if self.lost is not None:
                self.lost += max(0, round(step / self._period) - 1)
                continue
            self._steps.append(step)
            if len(self._steps) == SAMPLES:
                self.lost, self._period = 0, sorted(self._steps)[SAMPLES // 2]


def sampled(messages: list[tuple[int, bytes]], last: int, period: int) -> Iterator[tuple[int, bytes]]:
    """Yield the first message of each period [ns] after stamp `last` [ns]; a stamp that went back is yielded too."""
    for stamp, data in messages:
        if stamp // period != last // period:
            last = stamp
            yield stamp, data
