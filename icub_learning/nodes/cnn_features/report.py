"""What the CNN features node says of itself: rate, what it dropped and refused, and how long images took."""

import time

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node

from icub_learning.errors import SampleError
from icub_learning.nodes.common.timing import DurationWindow

LOG_PERIOD = 5.0  # s; a stream of bad images must not fill the log


class ImageReport:
    """Counts and times of a stream of images, and what changed since the last report."""

    def __init__(self, node: Node, source: str) -> None:
        self._node, self._source = node, source
        self.received = self.repeated = self.computed = 0
        self.latency = DurationWindow(500)  # from the image's callback to its published features
        self.decoding = DurationWindow(500)
        self.network = DurationWindow(500)
        self._refused: dict[str, int] = {}
        self._last_refusal = ""
        self._reported_refusals = self._reported_computed = 0
        self._last_time = time.monotonic()

    def refused(self, error: SampleError) -> None:
        """Count a refusal; log at most one per LOG_PERIOD."""
        self._refused[error.reason] = self._refused.get(error.reason, 0) + 1
        self._last_refusal = str(error)
        self._node.get_logger().warning(f"refused ({error.reason}): {error}", throttle_duration_sec=LOG_PERIOD)

    def diagnostics(self, active: bool, dropped: int) -> DiagnosticArray:
        """One status with everything: a warning while images are refused, stale while none arrive."""
        now = time.monotonic()
        seconds = max(now - self._last_time, 1e-9)
        reasons = dict(self._refused)  # at once: images are worked on in another thread
        computed, refused = self.computed, sum(reasons.values())
        rate, news = (computed - self._reported_computed) / seconds, refused - self._reported_refusals
        self._last_time, self._reported_computed, self._reported_refusals = now, computed, refused
        status = DiagnosticStatus(name=f"{self._node.get_name()}: images", hardware_id=self._node.get_name())
        if not active:
            status.level, status.message = DiagnosticStatus.OK, "inactive"
        elif news:
            status.level, status.message = DiagnosticStatus.WARN, f"{news} refused; last: {self._last_refusal}"
        elif not rate:
            status.level, status.message = DiagnosticStatus.STALE, "no images arrive"
        else:
            status.level, status.message = DiagnosticStatus.OK, f"features at {rate:.1f} Hz"
        pairs = {
            "source": self._source,
            "rate [Hz]": f"{rate:.1f}",
            "images received": self.received,
            "features published": computed,
            "dropped for a newer image": dropped,
            "came both raw and compressed": self.repeated,
            "latency, arrival to publication": self.latency.summary(),
            "decoding": self.decoding.summary(),
            "resizing and network": self.network.summary(),
            "refused": refused,
            **{f"refused: {reason}": number for reason, number in sorted(reasons.items())},
            "last refusal": self._last_refusal,
        }
        status.values = [KeyValue(key=key, value=str(value)) for key, value in pairs.items()]
        message = DiagnosticArray(status=[status])
        message.header.stamp = self._node.get_clock().now().to_msg()
        return message
