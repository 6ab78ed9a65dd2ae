"""Work on the newest of the images that arrive, in a thread of its own that drops older ones, so that nothing lags."""

import threading
import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from sensor_msgs.msg import CompressedImage, Image

from icub_learning.nodes.common.conversions import stamp_to_ns
from icub_learning.nodes.common.image_subscription import ImageSubscription, RepeatedStamps
from icub_learning.nodes.common.spinning import ManagedNode

ADAPT_PERIOD = 0.2  # [s] between looks at the reliability that publishers of images offer
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


class NewestImages:
    """The images of a camera, raw and compressed, the newest of which is worked on between `start` and `stop`.

    `work` is called in a thread of its own with a message and when it arrived [s, time.perf_counter()].
    """

    def __init__(self, node: ManagedNode, reliability: str, work: Callable[[Any, float], None]) -> None:
        self._work, self._stamps = work, RepeatedStamps()
        self._worker: NewestWorker[tuple[Any, float]] | None = None
        self._dropped_before = 0
        self.received = self.repeated = 0  # images, and those that came both raw and compressed
        self._images = [
            ImageSubscription(node, kind, topic, self._on_image, reliability)
            for topic, kind in (("image", Image), ("image/compressed", CompressedImage))
        ]
        node.create_timer(ADAPT_PERIOD, self._adapt, clock=node.steady)

    @property
    def dropped(self) -> int:
        """How many images newer ones have replaced while they waited."""
        return self._dropped_before + (self._worker.dropped if self._worker else 0)

    def start(self) -> None:
        """Start to work."""
        self._worker = NewestWorker(lambda item: self._work(*item))

    def stop(self) -> None:
        """Stop working, when the current image is done."""
        if self._worker is not None:
            self._worker.stop()
            self._dropped_before, self._worker = self.dropped, None

    def _adapt(self) -> None:
        for images in self._images:
            images.adapt()

    def _on_image(self, message: Any) -> None:
        if self._worker is None:
            return
        self.received += 1
        # A camera may publish each image raw and compressed.
        if self._stamps.repeated(type(message).__name__, stamp_to_ns(message.header.stamp)):
            self.repeated += 1
        else:
            self._worker.put((message, time.perf_counter()))
