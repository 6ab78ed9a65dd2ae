"""Diagnostics of the object detection node."""

from diagnostic_msgs.msg import DiagnosticStatus

from icub_learning.nodes.common.diagnostics import ImageReport
from icub_learning.nodes.common.model_keeper import ModelKeeper
from icub_learning.nodes.common.spinning import ManagedNode
from icub_learning.nodes.common.timing import DurationWindow


class DetectionReport(ImageReport):
    """Counts and times of a stream of images, and what changed since the last report."""

    def __init__(self, node: ManagedNode) -> None:
        super().__init__(node, "detection")
        self.images = 0
        self.detection = DurationWindow(500)  # from the image's callback to its published detections
        self.training = DurationWindow()

    def status(
        self, counts: dict[str, int], doing: str, keeper: ModelKeeper, active: bool, dropped: int
    ) -> DiagnosticStatus:
        """Return the report: frames of each object, what the node does beside detection, images dropped."""
        images = self.images
        rate = self.rate(images)
        values = {
            "images": images,
            "rate [Hz]": f"{rate:.1f}",
            "dropped for a newer image": dropped,
            "objects": len(counts),
            "frames learned": sum(counts.values()),
            "lesson": doing or "none",
            "latency, arrival to publication": self.detection.summary(),
            "training": self.training.summary(),
            **keeper.status(),
        }
        running = f"{doing or f'looking for {len(counts)} objects'} at {rate:.1f} Hz"
        return self.report_images(active, rate, keeper.verdict(running), values)
