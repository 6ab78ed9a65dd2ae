"""What the inverse dynamics node says of itself: diagnostics and the learned inertial parameters."""

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node

from icub_learning.dynamics.regressors.regressor import Regressor
from icub_learning.dynamics.stream.stream import InverseDynamicsStream
from icub_learning.errors import SampleError
from icub_learning.nodes.common.conversions import doubles
from icub_learning.nodes.common.timing import CycleStatistics
from icub_learning.nodes.inverse_dynamics.learning_thread import LearningThread
from icub_learning_msgs.msg import InertialParameters

LOG_PERIOD = 5.0  # s; a stream of bad messages must not fill the log


class StreamReport:
    """Counts, times and refusals of one stream, and what changed since the last report."""

    def __init__(self, node: Node, limits: dict[str, float]) -> None:
        self._node = node
        self.limits = limits  # values of TimingLimits, by name
        self.cycle = CycleStatistics()  # joint states, answered by predictions
        self._reported_refusals = 0
        self._reported_predictions = 0
        self._published_samples = -1
        self._sensor = "not checked yet"
        self._last_time = node.get_clock().now()

    def refused(self, error: SampleError) -> None:
        """Log a refusal, at most one per LOG_PERIOD; all are counted by the stream."""
        self._node.get_logger().warning(f"refused ({error.reason}): {error}", throttle_duration_sec=LOG_PERIOD)

    def checked(self, finding: str | None) -> None:
        """Keep what the check of the first measurements found; None while it is not done."""
        if finding is None:
            return
        self._sensor = finding or "plausible"
        if finding:
            self._node.get_logger().warning(f"first measurements: {finding}")

    def diagnostics(self, stream: InverseDynamicsStream, learner: LearningThread, active: bool) -> DiagnosticArray:
        """One status with everything: a warning while samples are refused or none arrive."""
        counts, now = stream.counts, self._node.get_clock().now()
        seconds = max((now - self._last_time).nanoseconds * 1e-9, 1e-9)
        rate = (counts.predicted - self._reported_predictions) / seconds
        refused = sum(counts.refused.values())
        news = refused - self._reported_refusals
        self._last_time, self._reported_predictions, self._reported_refusals = now, counts.predicted, refused
        status = DiagnosticStatus(name=f"{self._node.get_name()}: stream", hardware_id=self._node.get_name())
        if not active:
            status.level, status.message = DiagnosticStatus.OK, "inactive"
        elif news:
            status.level, status.message = DiagnosticStatus.WARN, f"{news} refused; last: {counts.last_refusal}"
        elif self._sensor not in ("plausible", "not checked yet"):
            status.level, status.message = DiagnosticStatus.WARN, self._sensor
        elif rate and self.cycle.verdict(self.limits)[1]:
            status.level, status.message = self.cycle.verdict(self.limits)
        elif rate == 0.0:
            status.level, status.message = DiagnosticStatus.STALE, "no joint states arrive"
        else:
            status.level = DiagnosticStatus.OK
            status.message = f"{'learning' if stream.learning else 'predicting only'} at {rate:.1f} Hz"
        pairs = {
            "predictions": counts.predicted,
            "prediction rate [Hz]": f"{rate:.1f}",
            "measurements paired": counts.measured,
            "samples learned": learner.learned,
            "samples skipped, more than can be learned": learner.skipped,
            "samples waiting": learner.waiting,
            "joint states without measurement": counts.unpaired,
            **self.cycle.pairs(),
            "learning": learner.times.summary(),
            "first measurements": self._sensor,
            "refused": refused,
            **{f"refused: {reason}": number for reason, number in sorted(counts.refused.items())},
            "last refusal": counts.last_refusal,
        }
        status.values = [KeyValue(key=key, value=str(value)) for key, value in pairs.items()]
        message = DiagnosticArray(status=[status])
        message.header.stamp = now.to_msg()
        return message

    def inertial_parameters(
        self, learner: LearningThread, regressor: Regressor, frame: str
    ) -> InertialParameters | None:
        """The estimate if it changed since the last call; None for an estimator without rigid-body parameters."""
        n_samples, values = learner.n_samples, getattr(learner.predictor, "parameters", None)
        if values is None or n_samples == self._published_samples:
            return None
        self._published_samples = n_samples
        message = InertialParameters(names=list(regressor.parameter_names), n_samples=n_samples)
        message.header.stamp = self._node.get_clock().now().to_msg()
        message.header.frame_id = frame
        message.values, message.nominal = doubles(values), doubles(regressor.nominal_parameters)
        message.base_values = doubles(np.asarray(regressor.base_projection) @ values)
        return message
