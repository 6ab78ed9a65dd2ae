"""The learned inertial parameters as messages, with the nearest that real bodies could have."""

from dataclasses import dataclass
from typing import Any

from icub_learning.arrays import Array
from icub_learning.dynamics.changes.consistency import ConsistentParameters, bodies_of, consistent_part, is_consistent
from icub_learning.dynamics.regressors.regressor import Regressor
from icub_learning.nodes.common.conversions import doubles
from icub_learning.nodes.common.spinning import ManagedNode
from icub_learning.nodes.inverse_dynamics.learning_thread import LearningThread, Request
from icub_learning_msgs.msg import InertialParameters


@dataclass(frozen=True)
class _Estimate:
    n_samples: int
    values: Array
    consistent: Array


class InertialReport:
    """Asks the learning thread for the estimate of the regressor's parameters, and makes a message of the answer.

    The answer is taken one call later: predictions must not wait for it.
    """

    def __init__(self, node: ManagedNode, regressor: Regressor, frame: str) -> None:
        self._node, self._regressor, self._frame = node, regressor, frame
        self._bodies = bodies_of(regressor.parameter_names)
        self._finder = ConsistentParameters(regressor.nominal_parameters, self._bodies)
        self._question: Request | None = None
        self._answer: list[_Estimate] = []
        self._asked_samples = -1

    def message(self, learner: LearningThread) -> InertialParameters | None:
        """Return the estimate that was asked for by the last call, and ask again if more was learned since.

        None if it has not come yet, if nothing was learned since, or for an estimator without such parameters.
        """
        estimate = None
        if self._question is not None and self._question.done.is_set():
            self._question = None
            estimate = self._answer.pop() if self._answer else None
        has_parameters = getattr(learner.predictor, "parameters", None) is not None
        if self._question is None and has_parameters and learner.n_samples != self._asked_samples:
            self._asked_samples = learner.n_samples
            self._ask(learner)
        return self._made(estimate) if estimate is not None else None

    def _ask(self, learner: LearningThread) -> None:
        def find(estimator: Any) -> tuple[Any, str]:
            consistent, predictor = consistent_part(estimator, self._finder), learner.predictor
            if consistent is not None:
                values = predictor.parameters.copy()  # type: ignore[attr-defined]
                self._answer.append(_Estimate(estimator.n_samples, values, consistent))
            return estimator, ""

        self._question = learner.ask(find, changes=False)

    def _made(self, estimate: _Estimate) -> InertialParameters:
        regressor, values = self._regressor, estimate.values
        message = InertialParameters(names=list(regressor.parameter_names), n_samples=estimate.n_samples)
        message.header.stamp = self._node.get_clock().now().to_msg()
        message.header.frame_id = self._frame
        message.values, message.nominal = doubles(values), doubles(regressor.nominal_parameters)
        message.base_values = doubles(regressor.base_projection @ values)
        message.consistent = all(is_consistent(values[body]) for body in self._bodies)
        possible = values.copy()
        possible[self._bodies] = estimate.consistent[self._bodies]
        message.consistent_values = doubles(possible)
        return message
