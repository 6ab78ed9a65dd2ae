"""The learned inertial parameters as messages, with the nearest that real bodies could have."""

from functools import partial
from typing import Any

from icub_learning.arrays import Array
from icub_learning.dynamics.changes.consistency import ConsistentParameters, bodies_of, consistent_part, is_consistent
from icub_learning.dynamics.regressors.base_parameters import base_values
from icub_learning.dynamics.regressors.regressor import Regressor
from icub_learning.nodes.common.conversions import doubles
from icub_learning.nodes.common.spinning import ManagedNode
from icub_learning.nodes.inverse_dynamics.learning_thread import LearningThread, Request
from icub_learning_msgs.msg import InertialParameters


class InertialReport:
    """Asks the learning thread for the estimate of the regressor's parameters, and makes a message of the answer.

    The answer is taken one call later: predictions must not wait for it.
    """

    def __init__(self, node: ManagedNode, regressor: Regressor, frame: str) -> None:
        self._node, self._regressor, self._frame = node, regressor, frame
        self._bodies = bodies_of(regressor.parameter_names)
        self._finder = ConsistentParameters.of(regressor.parameter_names, regressor.nominal_parameters)
        self._question: Request | None = None
        self._asked_samples = -1

    def message(self, learner: LearningThread) -> InertialParameters | None:
        """Return the estimate that was asked for by the last call, and ask again if more was learned since.

        None if it has not come yet, if nothing was learned since, or for an estimator without such parameters.
        """
        estimate = None
        if self._question is not None and self._question.done.is_set():
            estimate, self._question = self._question.result, None
        has_parameters = getattr(learner.predictor, "parameters", None) is not None
        if self._question is None and has_parameters and learner.n_samples != self._asked_samples:
            self._asked_samples = learner.n_samples
            self._question = learner.ask(partial(self._find, learner), changes=False)
        return None if estimate is None else self._made(*estimate)

    def _find(self, learner: LearningThread, estimator: Any) -> tuple[int, Array, Array] | None:
        """Number of samples, parameters and the nearest consistent ones; runs in the learning thread."""
        consistent, predictor = consistent_part(estimator, self._finder), learner.predictor
        if consistent is None:
            return None
        return estimator.n_samples, predictor.parameters.copy(), consistent  # type: ignore[attr-defined]

    def _made(self, n_samples: int, values: Array, consistent: Array) -> InertialParameters:
        regressor = self._regressor
        message = InertialParameters(names=list(regressor.parameter_names), n_samples=n_samples)
        message.header.stamp = self._node.get_clock().now().to_msg()
        message.header.frame_id = self._frame
        message.values, message.nominal = doubles(values), doubles(regressor.nominal_parameters)
        message.base_values = doubles(base_values(regressor, values))
        message.consistent = all(is_consistent(values[body]) for body in self._bodies)
        possible = values.copy()
        possible[self._bodies] = consistent[self._bodies]
        message.consistent_values = doubles(possible)
        return message
