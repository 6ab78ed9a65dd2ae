"""Diagnostics of the CNN features node: rate, dropped and refused images, and how long they took."""

from diagnostic_msgs.msg import DiagnosticStatus

from icub_learning.nodes.common.diagnostics import ImageReport
from icub_learning.nodes.common.newest_images import NewestImages
from icub_learning.nodes.common.spinning import ManagedNode
from icub_learning.nodes.common.timing import DurationWindow


class FeaturesReport(ImageReport):
    """Counts and times of images, and what changed since the last report; `source` is the network's name."""

    def __init__(self, node: ManagedNode, source: str) -> None:
        super().__init__(node, "images")
        self._source = source
        self.computed = 0
        self.latency = DurationWindow(500)  # from the image's callback to its published features
        self.decoding = DurationWindow(500)
        self.network = DurationWindow(500)

    def status(self, active: bool, images: NewestImages) -> DiagnosticStatus:
        """Return the report."""
        computed = self.computed
        rate = self.rate(computed)
        values = {
            "source": self._source,
            "rate [Hz]": f"{rate:.1f}",
            "images received": images.received,
            "features published": computed,
            "dropped for a newer image": images.dropped,
            "came both raw and compressed": images.repeated,
            "latency, arrival to publication": self.latency.summary(),
            "decoding": self.decoding.summary(),
            "resizing and network": self.network.summary(),
        }
        return self.report_images(active, rate, (DiagnosticStatus.OK, f"features at {rate:.1f} Hz"), values)
