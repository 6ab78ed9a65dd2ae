"""Diagnostics of the inverse dynamics node."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus

from icub_learning.arrays import Array
from icub_learning.dynamics.stream.stream import InverseDynamicsStream
from icub_learning.nodes.common.diagnostics import StreamReport
from icub_learning.nodes.common.model_keeper import ModelKeeper
from icub_learning.nodes.common.spinning import ManagedNode
from icub_learning.nodes.common.timing import CycleStatistics, in_words, verdict
from icub_learning.nodes.inverse_dynamics.learning_thread import LearningThread, Request

# What the motion filter reports, by the names and units of diagnostics.
MOTION = {
    "rate": "rate of joint states [Hz]",
    "lag": "lag of what is learned [s]",
    "velocity_delay": "delay of velocities [s]",
    "bandwidth": "bandwidth of joints [Hz]",
    "position_noise": "noise of positions",  # rad, or m of a prismatic joint
    "velocity_noise": "noise of velocities",
}
NOT_CHECKED, PLAUSIBLE = "not checked yet", "plausible"  # states of the check of the first measurements


class DynamicsReport(StreamReport):
    """Times of joint states, and what changed since the last report; `limits` are those of timing.TimingLimits."""

    def __init__(self, node: ManagedNode, limits: dict[str, float]) -> None:
        super().__init__(node, "stream", "no joint states arrive")
        self.limits = limits
        self.cycle = CycleStatistics()  # joint states, answered by predictions
        self._sensor = NOT_CHECKED
        self._question: Request | None = None  # to the learning thread, answered between two samples
        self._weights = ""  # its last answer

    def checked(self, finding: str | None) -> None:
        """Keep the result of the check of the first measurements; None while it is not done."""
        if finding is None:
            return
        self._sensor = finding or PLAUSIBLE
        if finding:
            self.node.get_logger().warning(f"first measurements: {finding}")

    def status(self, stream: InverseDynamicsStream, learner: LearningThread, keeper: ModelKeeper) -> DiagnosticStatus:
        """Return the report on a stream, the thread that learns from it, and the file of what it has learned."""
        counts, times = stream.counts, self.cycle.times()
        rate = self.rate(counts.predicted)
        values = {
            "predictions": counts.predicted,
            "prediction rate [Hz]": f"{rate:.1f}",
            "measurements paired": counts.measured,
            "samples learned": learner.learned,
            "samples left out, more than learning_share allows": learner.skipped,
            "samples waiting": learner.waiting,
            "samples refused by the estimator": learner.refused,
            "last good state restored": learner.restored,
            "joint states without measurement": counts.unpaired,
            "measurements beyond one for each joint state": counts.surplus,
            **{name: in_words(found) for name, found in times.items()},
            "learning": learner.times.summary(),
            "first measurements": self._sensor,
            **motion_in_words(stream.motion_report()),
            "weights of experts": self._weights,
            **filters_in_words(stream.output_names, stream.filter_report()),
            **keeper.status(),
        }
        self._ask_for_weights(stream.output_names, learner)
        running = keeper.verdict(f"{'learning' if stream.learning else 'predicting only'} at {rate:.1f} Hz")
        if self._sensor not in (NOT_CHECKED, PLAUSIBLE):
            running = DiagnosticStatus.WARN, self._sensor
        elif rate and not keeper.failure and (late := verdict(times, self.limits))[1]:
            running = late
        return self.report(rate, running, values, counts.refused, counts.last_refusal)

    def _ask_for_weights(self, names: tuple[str, ...], learner: LearningThread) -> None:
        """Take the answer to the last report's question after the experts' weights, and ask again once answered."""
        if self._question is not None:
            if not self._question.done.is_set():
                return
            self._weights = self._question.result or ""
        self._question = learner.ask(partial(weights_in_words, names), changes=False)


def motion_in_words(found: Mapping[str, Array | float]) -> dict[str, str]:
    """Return what MotionFilter.report found as values of diagnostics, those of joints in their order."""
    return {
        name: " ".join(f"{value:.3g}" for value in np.ravel(found[key])) for key, name in MOTION.items() if key in found
    }


def filters_in_words(output_names: Sequence[str], found: Mapping[str, Array]) -> dict[str, str]:
    """Return what filters do to each output as values of diagnostics."""
    return {
        key: ", ".join(f"{name} {value:.3g}" for name, value in zip(output_names, values, strict=True))
        for key, values in found.items()
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
