"""Diagnostics of the inverse dynamics node, and the learned inertial parameters."""

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.node import Node

from icub_learning.dynamics.regressors.base_parameters import base_values
from icub_learning.dynamics.regressors.regressor import Regressor
from icub_learning.dynamics.stream.stream import InverseDynamicsStream
from icub_learning.nodes.common.conversions import doubles
from icub_learning.nodes.common.diagnostics import StreamReport
from icub_learning.nodes.common.timing import CycleStatistics
from icub_learning.nodes.inverse_dynamics.learning_thread import LearningThread
from icub_learning_msgs.msg import InertialParameters

NOT_CHECKED, PLAUSIBLE = "not checked yet", "plausible"  # states of the check of the first measurements


class DynamicsReport(StreamReport):
    """Times of a stream of joint states, and what changed since the last report.

    Args:
        node: the node.
        limits: values of timing.TimingLimits, by name.
    """

    def __init__(self, node: Node, limits: dict[str, float]) -> None:
        super().__init__(node, "stream", "no joint states arrive")
        self.limits = limits
        self.cycle = CycleStatistics()  # joint states, answered by predictions
        self._published_samples = -1
        self._sensor = NOT_CHECKED

    def checked(self, finding: str | None) -> None:
        """Keep the result of the check of the first measurements; None while it is not done."""
        if finding is None:
            return
        self._sensor = finding or PLAUSIBLE
        if finding:
            self.node.get_logger().warning(f"first measurements: {finding}")

    def diagnostics(self, stream: InverseDynamicsStream, learner: LearningThread, active: bool) -> DiagnosticArray:
        """Return the report on a stream and the thread that learns from it."""
        counts = stream.counts

        def values(rate: float) -> dict[str, object]:
            return {
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
            }

        def state(rate: float) -> tuple[bytes, str]:
            if self._sensor not in (NOT_CHECKED, PLAUSIBLE):
                return DiagnosticStatus.WARN, self._sensor
            level, message = self.cycle.verdict(self.limits) if rate else (DiagnosticStatus.OK, "")
            doing = "learning" if stream.learning else "predicting only"
            return level, message or f"{doing} at {rate:.1f} Hz"

        return self.report(active, counts.predicted, counts.refused, counts.last_refusal, state, values)

    def inertial_parameters(
        self, learner: LearningThread, regressor: Regressor, frame: str
    ) -> InertialParameters | None:
        """Return the estimate if it changed since the last call; None for an estimator without such parameters."""
        n_samples, values = learner.n_samples, getattr(learner.predictor, "parameters", None)
        if values is None or n_samples == self._published_samples:
            return None
        self._published_samples = n_samples
        message = InertialParameters(names=list(regressor.parameter_names), n_samples=n_samples)
        message.header.stamp = self.node.get_clock().now().to_msg()
        message.header.frame_id = frame
        message.values, message.nominal = doubles(values), doubles(regressor.nominal_parameters)
        message.base_values = doubles(base_values(regressor, values))
        return message
