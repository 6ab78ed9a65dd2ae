"""What each expert predicts, and how experts are weighed: by what has been right of late."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics.estimators.noise.calibrated_variance import CalibratedVariance
from icub_learning.dynamics.estimators.prediction import Prediction
from icub_learning.models import nested, part
from icub_learning.recursive.layered_aggregation import LayeredAggregation

# [s] in which errors lose half of their weight, a factor of four apart: from the phase of a motion to a whole motion;
# and the same in the choice among these.
HALF_LIVES = (0.05, 0.2, 0.8, 3.2)
SECOND_HALF_LIFE = 1.0
# [s] by how much the weights are older by which contacts are told: weights that follow errors of hundredths of a second
# would explain a push away before it has been noticed. As long as a push of some newtons takes to be noticed.
CONTACT_AGE = 0.05


@dataclass(frozen=True)
class ExpertPredictions:
    """What all experts predict for one motion.

    Attributes:
        values: (n_experts, n_outputs).
        parametric: (n_outputs,) prediction of rigid bodies alone; zero without any.
        novelty: share, 0 to 1, of the features of the motion that lies outside of what was learned.
        expected: (n_outputs,) what the model of all that was seen expects: SP, or NP without rigid bodies.
        unlearned: (n_outputs,) variance about it of what was not learned of the motion.
        phi: (n_features,) features of the motion.
        rows: (n_outputs, n_parameters) of the regressor; None without rigid bodies.
    """

    values: Array
    parametric: Array
    novelty: float
    expected: Array
    unlearned: Array
    phi: Array
    rows: Array | None


class ExpertWeights:
    """Weighs experts for each output, and tells how wrong their combination may be.

    The weights are those of LayeredAggregation, with its bound: the combination is not much worse than any expert that
    contains rigid bodies alone, nor than combinations that follow the best experts of the last .05 to 3.2 s.

    The variance is that of errors in known motions, plus what the model itself does not know of the motion: the share
    of its features that was not learned times the mean square of what features have to say (Rasmussen and Williams
    2006, eq. 2.42, with the variance of the weights found from the data). One factor calibrates both, see
    CalibratedVariance.

    Args:
        names: names of the experts.
        n_outputs: number of outputs.
        direct: indices of experts that are rivals of the combinations as they are.
    """

    def __init__(self, names: Sequence[str], n_outputs: int, direct: Sequence[int] = ()) -> None:
        self.names = tuple(names)
        self._aggregation = LayeredAggregation(len(self.names), n_outputs, HALF_LIVES, SECOND_HALF_LIFE, direct)
        self._noise = CalibratedVariance(n_outputs)
        self._past: deque[tuple[float, Array]] = deque()  # times [s] and weights, oldest first; the first is in use
        self._seconds = 0.0  # of judgements
        self._held = False

    @property
    def value(self) -> Array:
        """Weights (n_experts, n_outputs), columns of sum 1."""
        return self.older if self._held else self._aggregation.weights

    @property
    def older(self) -> Array:
        """The weights of CONTACT_AGE ago."""
        return self._past[0][1] if self._past else self._aggregation.weights

    def hold(self) -> None:
        """Go back to the weights of CONTACT_AGE ago, until errors are judged again: something pushes."""
        self._held = True

    def combined(self, experts: ExpertPredictions) -> Prediction:
        """Return the prediction that the experts make together."""
        total = (self.value * experts.values).sum(axis=0)
        unlearned = self._unlearned(total, experts)
        variance = self._noise.value + self._noise.factor * unlearned
        return Prediction(total, experts.parametric, total - experts.parametric, variance, unlearned, experts)

    def steady(self, experts: ExpertPredictions) -> Array:
        """Return what the experts predict together (n_outputs,) by the weights of CONTACT_AGE ago."""
        return np.asarray((self.older * experts.values).sum(axis=0))

    @staticmethod
    def _unlearned(total: Array, experts: ExpertPredictions) -> Array:
        return np.asarray((total - experts.expected) ** 2 + experts.unlearned)

    def judge(self, experts: ExpertPredictions, measured: Array, elapsed: float) -> None:
        """Learn from a measurement (n_outputs,) which experts were right; `elapsed` [s] since the last one."""
        errors = experts.values - measured
        combined = (self._aggregation.choices * errors).sum(axis=1)
        if self._held:
            self._held = False
            self._past.clear()
        self._noise.update(combined[0], self._unlearned(combined[0] + measured, experts), elapsed)
        self._past.append((self._seconds, self._aggregation.weights))
        self._seconds += elapsed
        while len(self._past) > 1 and self._past[1][0] <= self._seconds - CONTACT_AGE:
            self._past.popleft()
        self._aggregation.update(errors[None], combined[None], elapsed)

    def merge(self, other: "ExpertWeights", n_common: int = 0) -> None:
        """Take the other one's variance where nothing is known yet."""
        self._noise.merge(other._noise, n_common)

    def state(self) -> dict[str, Array]:
        """Return all that was learned, as a dict of arrays; see `restore`."""
        return nested("aggregation", self._aggregation.state()) | nested("noise", self._noise.state())

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over what `state` saved. Raises StateError: unchanged then."""
        aggregation = LayeredAggregation.from_state(part(state, "aggregation"))
        aggregation.check_like(self._aggregation)
        self._noise = CalibratedVariance.from_state(part(state, "noise"), self.value.shape[1])
        self._aggregation = aggregation
