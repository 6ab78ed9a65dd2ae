"""Diagnostics of the object recognition node."""

from diagnostic_msgs.msg import DiagnosticStatus

from icub_learning.nodes.common.diagnostics import StreamReport
from icub_learning.nodes.common.model_keeper import ModelKeeper
from icub_learning.nodes.common.spinning import ManagedNode
from icub_learning.nodes.common.timing import DurationWindow
from icub_learning.recognition.recognizer import ObjectRecognizer


class RecognitionReport(StreamReport):
    """Times of a stream of features, and what changed since the last report."""

    def __init__(self, node: ManagedNode) -> None:
        super().__init__(node, "recognition", "no features arrive")
        self.latency = DurationWindow()  # from the features' callback to the published recognition
        self.learning = DurationWindow()

    def status(self, recognizer: ObjectRecognizer, keeper: ModelKeeper, active: bool) -> DiagnosticStatus:
        """Return the report on a recognizer, and on the file of what it was taught."""
        counts, objects, lesson = recognizer.counts, recognizer.objects(), recognizer.lesson
        rate = self.rate(counts.recognized)
        values = {
            "feature vectors": counts.recognized,
            "rate [Hz]": f"{rate:.1f}",
            "examples learned": counts.learned,
            "objects": len(objects),
            "examples known": sum(objects.values()),
            "lesson": f"{lesson.label}: {lesson.progress()}" if lesson else "none",
            "network": recognizer.source if recognizer.classifier is not None else "none yet",
            "latency, arrival to publication": self.latency.summary(),
            "learning": self.learning.summary(),
            **keeper.status(),
        }
        doing = f"learning '{lesson.label}'" if lesson else f"recognizing {len(objects)} objects"
        running = keeper.verdict(f"{doing} at {rate:.1f} Hz")
        return self.report(active, rate, running, values, counts.refused, counts.last_refusal)
