"""Topics whose messages are taken from the middleware itself, with their times of publication and arrival."""

from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile

from icub_learning.arrays import Array
from icub_learning.clients.topic_statistics import Series
from icub_learning.nodes.common.conversions import stamp_to_ns


class PolledTopic:
    """A subscription of a node that no executor spins: EventsExecutor cannot hand over the times of messages.

    `series` has what was taken so far, with the `width` numbers of each message that `values` returns, if it is given.
    """

    def __init__(
        self,
        node: Node,
        kind: type,
        topic: str,
        qos: QoSProfile,
        width: int = 0,
        values: Callable[[Any], Array] | None = None,
    ) -> None:
        self._subscription = node.create_subscription(kind, topic, lambda _: None, qos)
        self._values = values
        self.series = Series(width)
        self.name: str = self._subscription.topic_name

    def poll(self) -> None:
        """Handle the messages that have arrived; to be called so often that no queue overflows."""
        subscription = self._subscription
        while (taken := subscription.handle.take_message(subscription.msg_type, False)) is not None:
            message, info = taken
            self.series.add(stamp_to_ns(message.header.stamp), info, self._values(message) if self._values else None)
