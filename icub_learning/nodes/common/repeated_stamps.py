"""Recognizes messages that arrive twice, by their stamps."""

from collections import deque
from collections.abc import Hashable

REMEMBERED = 16  # stamps of each way; both copies of a message arrive closer together than that


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
