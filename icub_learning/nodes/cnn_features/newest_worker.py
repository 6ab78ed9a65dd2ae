"""A thread that works on the newest of what arrives: what was overtaken while it worked is dropped, so nothing lags."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

ItemT = TypeVar("ItemT")


class NewestWorker(Generic[ItemT]):
    """Calls `work` with one item after the other, in a thread of its own; at most one waits.

    Args:
        work: must not raise.

    Attributes:
        dropped: items that a newer one replaced before their turn came.
    """

    def __init__(self, work: Callable[[ItemT], None]) -> None:
        self._work = work
        self._waiting: list[ItemT] = []
        self._stopping = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="newest", daemon=True)
        self.dropped = 0
        self._thread.start()

    def put(self, item: ItemT) -> None:
        """Take an item; one that still waits makes place for it."""
        with self._changed:
            self.dropped += len(self._waiting)
            self._waiting = [item]
            self._changed.notify()

    def stop(self) -> None:
        """End the thread when it has done what it is at; what waits is not worked on."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._stopping)
                if self._stopping:
                    return
                item = self._waiting.pop()
            self._work(item)
