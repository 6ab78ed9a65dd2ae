"""What the object recognition node says of itself."""

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node

from icub_learning.errors import SampleError
from icub_learning.nodes.common.timing import DurationWindow
from icub_learning.recognition.recognizer import ObjectRecognizer

LOG_PERIOD = 5.0  # s; a stream of bad messages must not fill the log
NANOSECONDS = 1e9


class RecognitionReport:
    """Times, and what changed since the last report."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self.latency = DurationWindow()  # from the features' callback to the published recognition
        self.learning = DurationWindow()
        self._reported_refusals = 0
        self._reported_recognitions = 0
        self._last_time = node.get_clock().now()

    def refused(self, error: SampleError) -> None:
        """Log a refusal, at most one per LOG_PERIOD; all are counted by the recognizer."""
        self._node.get_logger().warning(f"refused ({error.reason}): {error}", throttle_duration_sec=LOG_PERIOD)

    def diagnostics(self, recognizer: ObjectRecognizer, active: bool) -> DiagnosticArray:
        """One status with everything: a warning while features are refused or none arrive."""
        counts, now = recognizer.counts, self._node.get_clock().now()
        seconds = max((now - self._last_time).nanoseconds / NANOSECONDS, 1e-9)
        rate = (counts.recognized - self._reported_recognitions) / seconds
        refused = sum(counts.refused.values())
        news = refused - self._reported_refusals
        self._last_time, self._reported_recognitions, self._reported_refusals = now, counts.recognized, refused
        status = DiagnosticStatus(name=f"{self._node.get_name()}: recognition", hardware_id=self._node.get_name())
        objects, lesson = recognizer.objects(), recognizer.lesson
        if not active:
            status.level, status.message = DiagnosticStatus.OK, "inactive"
        elif news:
            status.level, status.message = DiagnosticStatus.WARN, f"{news} refused; last: {counts.last_refusal}"
        elif rate == 0.0:
            status.level, status.message = DiagnosticStatus.STALE, "no features arrive"
        else:
            doing = f"learning '{lesson.label}'" if lesson else f"recognizing {len(objects)} objects"
            status.level, status.message = DiagnosticStatus.OK, f"{doing} at {rate:.1f} Hz"
        pairs = {
            "feature vectors": counts.recognized,
            "rate [Hz]": f"{rate:.1f}",
            "examples learned": counts.learned,
            "objects": len(objects),
            "examples known": sum(objects.values()),
            "lesson": f"{lesson.label}: {lesson.progress()}" if lesson else "none",
            "network": recognizer.source if recognizer.classifier is not None else "none yet",
            "latency, arrival to publication": self.latency.summary(),
            "learning": self.learning.summary(),
            "refused": refused,
            **{f"refused: {reason}": number for reason, number in sorted(counts.refused.items())},
            "last refusal": counts.last_refusal,
        }
        status.values = [KeyValue(key=key, value=str(value)) for key, value in pairs.items()]
        message = DiagnosticArray(status=[status])
        message.header.stamp = now.to_msg()
        return message
