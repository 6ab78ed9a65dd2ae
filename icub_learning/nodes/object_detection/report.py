"""Diagnostics of the object detection node."""

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus

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

    def diagnostics(
        self, counts: dict[str, int], doing: str, keeper: ModelKeeper, active: bool, dropped: int
    ) -> DiagnosticArray:
        """Return the report: frames of each object, what the node does beside detection, images dropped."""

        def values(rate: float) -> dict[str, object]:
            return {
                "images": self.images,
                "rate [Hz]": f"{rate:.1f}",
                "dropped for a newer image": dropped,
                "objects": len(counts),
                "frames learned": sum(counts.values()),
                "lesson": doing or "none",
                "latency, arrival to publication": self.detection.summary(),
                "training": self.training.summary(),
                **keeper.status(),
            }

        def state(rate: float) -> tuple[bytes, str]:
            if keeper.failure:
                return DiagnosticStatus.WARN, keeper.failure
            return DiagnosticStatus.OK, f"{doing or f'looking for {len(counts)} objects'} at {rate:.1f} Hz"

        return self.report(active, self.images, dict(self._refused), self._last_refusal, state, values)
