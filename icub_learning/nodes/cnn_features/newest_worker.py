"""A thread that works on the newest of the items that arrive and drops older ones, so that nothing lags."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

ItemT = TypeVar("ItemT")


class NewestWorker(Generic[ItemT]):
    """Calls `work`, which must not raise, with one item after the other in a thread of its own; at most one item waits.

    `dropped` counts the items that a newer one replaced while they waited.
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
        """Hand an item over; it replaces one that still waits."""
        with self._changed:
            self.dropped += len(self._waiting)
            self._waiting = [item]
            self._changed.notify()

    def stop(self) -> None:
        """End the thread after its current item; one that waits is dropped."""
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
