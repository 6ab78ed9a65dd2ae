"""Periodic reports of the inverse dynamics node: diagnostics, and the inertial parameters that it has learned."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus

from icub_learning.arrays import Array
from icub_learning.dynamics.changes.consistency import ConsistentParameters, bodies_of, consistent_part, is_consistent
from icub_learning.dynamics.regressors.regressor import Regressor
from icub_learning.dynamics.stream.stream import InverseDynamicsStream
from icub_learning.nodes.common.conversions import doubles
from icub_learning.nodes.common.diagnostics import StreamReport
from icub_learning.nodes.common.model_keeper import ModelKeeper
from icub_learning.nodes.common.spinning import ManagedNode
from icub_learning.nodes.common.timing import CycleStatistics, in_words, verdict
from icub_learning.nodes.inverse_dynamics.learning_thread import LearningThread
from icub_learning_msgs.msg import InertialParameters

# Names and units in diagnostics of what the motion filter reports.
MOTION = {
    "rate": "rate of joint states [Hz]",
    "lag": "lag of smoothed motions [s]",
    "velocity_delay": "delay of velocities [s]",
    "bandwidth": "bandwidth of joints [Hz]",
    "position_noise": "noise of positions",  # [rad], or [m] of a prismatic joint
    "velocity_noise": "noise of velocities",
}
NO_CLOCK = "no /clock yet: use_sim_time is set"
LONGEST_SILENCE = 1.0  # [s] without a wrench for the joint states: the slowest known driver sends ten in that time
NOT_CHECKED, PLAUSIBLE = "not checked yet", "plausible"  # states of the check of the first measurements


class DynamicsReport(StreamReport):
    """Reports times of joint states, and changes since the last report; `limits` are those of timing.TimingLimits, and
    `by_arrival` says whether arrivals are the stamps."""

    def __init__(self, node: ManagedNode, limits: dict[str, float], by_arrival: bool = False) -> None:
        super().__init__(node, "stream", "no joint states arrive")
        self.limits, self._judged_by = limits, (limits, by_arrival)
        self.cycle = CycleStatistics()  # joint states, answered by predictions
        self._sensor = NOT_CHECKED
        self._asked: Future[str] | None = None  # request for weights, answered by the learning thread between samples
        self._weights = ""  # answer to the last request
        self._restored, self._learned, self._done = 0, 0, -1  # at the last report: states; samples learned; or refused
        self._full = False  # whether as many samples waited as may
        self._measured, self._silent = 0, 0.0  # measurements that found joint states; time since there was one [s]

    def checked(self, finding: str | None) -> None:
        """Keep the result of the check of the first measurements; None while it is not done."""
        if finding is not None:
            self._sensor = finding or PLAUSIBLE
        if finding:
            self.node.get_logger().warning(f"first measurements: {finding}")

    def status(self, stream: InverseDynamicsStream, learner: LearningThread, keeper: ModelKeeper) -> DiagnosticStatus:
        """Return the report on a stream, the thread that learns from it, and the file of what it has learned."""
        counts, times = stream.counts, self.cycle.times()
        rate = self.rate(counts.predicted)
        measured = counts.measured + counts.surplus
        self._silent = self._silent + self.seconds if rate and measured == self._measured else 0.0
        self._measured = measured
        learned, done = (learner.learned - self._learned) / self.seconds, learner.learned + learner.refused
        values = {
            "predictions": counts.predicted, "prediction rate [Hz]": f"{rate:.1f}",
            "measurements paired": counts.measured, "samples learned": learner.learned,
            "samples left out, more than learning_share allows": learner.skipped, "samples waiting": learner.waiting,
            "least time between two predictions that are judged [ms]": f"{stream.settling_period * 1e-6:.1f}",
            "samples refused by the estimator": learner.refused, "last good state restored": learner.restored,
            "joint states without measurement": counts.unpaired,
            "measurements beyond one for each joint state": counts.surplus,
            **{name: in_words(found) for name, found in times.items()}, "learning": learner.times.summary(),
            "first measurements": self._sensor, **motion_in_words(stream.motions.report()),
            "weights of experts": self._weights, **keeper.status(),
        }  # fmt: skip
        if self._asked is None or self._asked.done():
            self._weights = answer_of(self._asked) or ""
            self._asked = learner.ask(partial(weights_in_words, stream.output_names), changes=False)
        learning = f", learning at {learned:.1f} Hz" if stream.learning else ", not learning"
        running = keeper.verdict(f"predicting at {rate:.1f} Hz{learning}")
        if not self.node.get_clock().now().nanoseconds:
            running = DiagnosticStatus.WARN, NO_CLOCK
        elif self._sensor not in (NOT_CHECKED, PLAUSIBLE):
            running = DiagnosticStatus.WARN, self._sensor
        elif stream.fault:
            running = DiagnosticStatus.WARN, f"{stream.fault}: predicted, not learned"
        elif self._silent > LONGEST_SILENCE and (stream.learning or measured) and not stream.effort:
            topic = self.node.resolve_topic_name("wrench")
            running = DiagnosticStatus.WARN, f"no wrench with a stamp near those of joint states comes on {topic}"
        elif rate and not keeper.failure and (late := self.cycle.overload() or verdict(times, *self._judged_by))[1]:
            running = late
        elif self._full and learner.full:
            text = f"learning does not keep up: {learner.waiting} samples wait, {learned:.1f} are learned in a second"
            running = DiagnosticStatus.WARN, f"{text}, and {rate:.1f} joint states predicted"
        if failed := learner.restored - self._restored:
            text = f"learning failed, {failed} in this period; the last good state was restored: {learner.failure}"
            running = DiagnosticStatus.ERROR, text
        elif stream.learning and learner.waiting > 1 and done == self._done:
            running = DiagnosticStatus.ERROR, f"{learner.waiting} samples wait, and none was learned meanwhile"
        self._restored, self._learned, self._done = learner.restored, learner.learned, done
        self._full = learner.full
        return self.report(rate, running, values, counts.refused, counts.last_refusal)


class InertialReport:
    """Asks the learning thread for the estimate of the regressor's parameters, and makes a message of the answer.

    The answer is taken one call later: predictions must not wait for it.
    """

    def __init__(self, node: ManagedNode, regressor: Regressor, frame: str) -> None:
        self._node, self._regressor, self._frame = node, regressor, frame
        self._bodies = bodies_of(regressor.parameter_names)
        self._finder = ConsistentParameters(regressor.nominal_parameters, self._bodies)
        self._asked: Future[tuple[int, Array, Array] | None] | None = None
        self._asked_revision = -1

    def message(self, learner: LearningThread, wanted: bool) -> InertialParameters | None:
        """Return the estimate that the last call requested; if `wanted` and more was learned since, request another.

        None if it has not come yet, if nothing was learned since, or for an estimator without such parameters.
        """
        if self._asked is not None and not self._asked.done():
            return None
        estimate, self._asked = answer_of(self._asked), None
        has_parameters = getattr(learner.predictor, "parameters", None) is not None
        if wanted and has_parameters and learner.revision != self._asked_revision:
            self._asked_revision = learner.revision
            self._asked = learner.ask(partial(self._find, learner), changes=False)
        return None if estimate is None else self._made(*estimate)

    def _find(self, learner: LearningThread, estimator: Any) -> tuple[int, Array, Array] | None:
        """Return number of samples, parameters and the nearest consistent ones; runs in the learning thread."""
        consistent, predictor = consistent_part(estimator, self._finder), learner.predictor
        if consistent is None:
            return None
        return estimator.n_samples, predictor.parameters.copy(), consistent  # type: ignore[attr-defined]

    def _made(self, n_samples: int, values: Array, consistent: Array) -> InertialParameters:
        regressor = self._regressor
        message = InertialParameters(names=list(regressor.parameter_names), n_samples=n_samples)
        message.header.stamp, message.header.frame_id = self._node.get_clock().now().to_msg(), self._frame
        message.values, message.nominal = doubles(values), doubles(regressor.nominal_parameters)
        message.base_values = doubles(regressor.base_projection @ values)
        message.consistent = all(is_consistent(values[body]) for body in self._bodies)
        possible = values.copy()
        possible[self._bodies] = consistent[self._bodies]
        message.consistent_values = doubles(possible)
        return message


def answer_of(asked: "Future[Any] | None") -> Any:
    """Return the answer of a finished request; None without one, or if it failed, which has been logged."""
    return None if asked is None or asked.exception() else asked.result()


def motion_in_words(found: Mapping[str, Array | float]) -> dict[str, str]:
    """Return what MotionFilter.report found as values of diagnostics, those of joints in their order."""
    return {
        name: " ".join(f"{value:.3g}" for value in np.ravel(found[key])) for key, name in MOTION.items() if key in found
    }


def weights_in_words(output_names: Sequence[str], estimator: Any) -> str:
    """Return the weights of P, NP and SP in the predictions of each output; empty for an estimator without experts.

    The weights of experts of a kind are summed over their regularizations and memories.
    """
    kinds: dict[str, Array] = {}
    for name, weights in getattr(estimator, "expert_weights", {}).items():
        kind = name.split()[0]
        kinds[kind] = kinds.get(kind, 0.0) + weights
    return "; ".join(
        f"{output}: " + " ".join(f"{kind} {weights[index]:.2f}" for kind, weights in kinds.items())
        for index, output in enumerate(output_names if kinds else ())
    )
