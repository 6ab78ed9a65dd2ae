"""Diagnostics of the CNN features node: rate, dropped and refused images, and how long they took."""

from collections import Counter

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus

from icub_learning.errors import SampleError
from icub_learning.nodes.common.diagnostics import StreamReport
from icub_learning.nodes.common.spinning import ManagedNode
from icub_learning.nodes.common.timing import DurationWindow


class ImageReport(StreamReport):
    """Counts and times of images, and what changed since the last report; `source` is the network's name."""

    def __init__(self, node: ManagedNode, source: str) -> None:
        super().__init__(node, "images", "no images arrive")
        self._source = source
        self.received = self.repeated = self.computed = 0
        self.latency = DurationWindow(500)  # from the image's callback to its published features
        self.decoding = DurationWindow(500)
        self.network = DurationWindow(500)
        self._refused: Counter[str] = Counter()
        self._last_refusal = ""

    def refused(self, error: SampleError) -> None:
        """Count a refusal and log it."""
        self._refused[error.reason] += 1
        self._last_refusal = str(error)
        super().refused(error)

    def diagnostics(self, active: bool, dropped: int) -> DiagnosticArray:
        """Return the report; `dropped` is the number of images that were replaced by newer ones."""
        computed = self.computed

        def values(rate: float) -> dict[str, object]:
            return {
                "source": self._source,
                "rate [Hz]": f"{rate:.1f}",
                "images received": self.received,
                "features published": computed,
                "dropped for a newer image": dropped,
                "came both raw and compressed": self.repeated,
                "latency, arrival to publication": self.latency.summary(),
                "decoding": self.decoding.summary(),
                "resizing and network": self.network.summary(),
            }

        def state(rate: float) -> tuple[bytes, str]:
            return DiagnosticStatus.OK, f"features at {rate:.1f} Hz"

        refused = dict(self._refused)  # a copy: images are worked on in another thread
        return self.report(active, computed, refused, self._last_refusal, state, values)
