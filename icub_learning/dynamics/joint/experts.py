"""What each expert predicts, and how experts are weighed: by how right they have been lately."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array
from icub_learning.dynamics.estimators.noise.prediction_errors import CalibratedVariance, SerialCorrelation
from icub_learning.dynamics.estimators.prediction import USUAL_PERIOD, Prediction
from icub_learning.dynamics.joint import _experts
from icub_learning.errors import ParameterError
from icub_learning.models.declared import Declared
from icub_learning.recursive.layered_aggregation import LayeredAggregation

# [s] half-lives of the weights of errors, a factor of four apart, from the phase of a motion to a whole motion; and the
# half-life in the choice among these. The time between two measurements counts as USUAL_PERIOD at most, so that the
# shortest half-life is five samples or more.
HALF_LIVES = (0.05, 0.2, 0.8, 3.2)
SECOND_HALF_LIFE = 1.0
SILENCE = 0.2  # [s] without measurements that is usual: two periods of a robot at 10 Hz


class Unlearned(NamedTuple):
    """What has not been learned of one motion."""

    novelty: float  # share, 0 to 1, of the features of the motion that lies outside of what was learned
    of_experts: Array  # (n_experts, n_outputs) variance of what each expert has not learned of the motion
    of_expected: Array  # (n_outputs,) the same of the expected prediction, see ExpertPredictions
    noise: Array  # (n_outputs,) variance of the noise about the expected prediction, as its own errors tell


@dataclass(eq=False)
class ExpertPredictions:
    """What all experts predict for one motion; how well it is known is found when it is asked for."""

    values: Array  # (n_experts, n_outputs)
    parametric: Array  # (n_outputs,) prediction of rigid bodies alone; zero without any
    expected: Array  # (n_outputs,) prediction of the model of all samples: SP, or NP without rigid bodies
    phi: Array  # (n_features,) features of the motion
    rows: Array | None  # (n_outputs, n_parameters) regressor of the motion; None without rigid bodies
    find: Callable[[], Unlearned] | None  # finds what has not been learned, which costs more than all the rest
    weighed_by: "ExpertWeights | None" = None  # weights of the estimator that predicted: others have other features
    choices: Array | None = None  # LayeredAggregation.choices when the motion was predicted; None: those of the judge

    @cached_property
    def unlearned(self) -> Unlearned:
        """What has not been learned of the motion."""
        found: Unlearned = find() if (find := self.find) else vars(self)["unlearned"]  # found by another thread
        self.unlearned, self.find = found, None  # it holds the learner, which a prediction that is kept must not
        return found

    def settle(self) -> None:
        """Find how well the motion is known: the next answer is weighed by these confidences."""
        if self.weighed_by is not None:
            self.weighed_by.settled = self.unlearned


class ExpertWeights(Declared):
    """Weighs experts for each output, and estimates how wrong their combination may be.

    The weights are those of LayeredAggregation. Where all experts know a motion equally well, its bound holds: the
    combination is not much worse than rigid bodies alone, nor than combinations that follow the best experts of the
    last .05 to 3.2 s. In a motion that is new to some experts, each counts by its weight times its confidence, the
    variance of the noise over that of its own prediction, as independent estimates are combined.

    The variance is that of errors in known motions, plus what the model itself does not know of the motion, see
    JointPredictor. One factor calibrates both, see CalibratedVariance.

    Args:
        names: names of the experts.
        n_outputs: number of outputs.
        direct: index of rigid bodies alone, which also competes with the combinations by itself; () without.
        lasting: indices of experts that forget nothing by themselves; None: all.
        general: indices of experts that predict, each by its confidence, where nothing was measured for long; one that
            is named twice counts twice; None: all count alike.
    """

    PARTS = ("aggregation", "noise", "correlation")

    def __init__(
        self, names: Sequence[str], n_outputs: int, direct: Sequence[int] = (), lasting: Sequence[int] | None = None,
        general: Sequence[int] | None = None,
    ) -> None:  # fmt: skip
        self.names = tuple(names)
        self.aggregation = LayeredAggregation(len(self.names), n_outputs, HALF_LIVES, SECOND_HALF_LIFE, direct)
        self._noise = CalibratedVariance(n_outputs)
        self.correlation = SerialCorrelation(n_outputs)  # serial correlation of the errors of the expected prediction
        everyone = range(len(self.names))
        self._lasting = np.isin(everyone, everyone if lasting is None else lasting)[:, None]
        counts = np.bincount(everyone if general is None else general, minlength=len(everyone))[:, None]
        self._general = counts / counts.sum() * np.ones(n_outputs)
        self._held, self._silence = False, 0.0
        self._steady: Array | None = None  # kept until errors are judged
        self.settled: Unlearned | None = None  # unlearned parts of the motion that was settled last

    @property
    def value(self) -> Array:
        """Weights (n_experts, n_outputs), columns of sum 1."""
        return self.after(self._silence)

    def after(self, seconds: float) -> Array:
        """Return the weights (n_experts, n_outputs) for a motion that comes `seconds` after the newest measurement.

        The later it comes, the less the last errors say of it: after SILENCE the weights fade by half in each
        SECOND_HALF_LIFE, until the experts in `general` count alone.
        """
        recent = self.steady if self._held else self.aggregation.weights
        if seconds <= SILENCE:
            return recent
        share = 2.0 ** ((SILENCE - seconds) / SECOND_HALF_LIFE)
        return np.asarray(share * recent + (1.0 - share) * self._general)

    @property
    def steady(self) -> Array:
        """Weights that a push of 1 s does not move: those of the longest half-life, of experts that forget nothing."""
        steady = self._steady  # another thread may judge meanwhile
        if steady is None:
            # The small term keeps the sum above zero where none of them had any weight.
            weights = self._lasting * (self.aggregation.slowest + 1e-12)
            steady = self._steady = np.asarray(weights / weights.sum(axis=0))
        return steady

    def hold(self) -> None:
        """Use the steady weights until errors are judged again: something pushes, and must not be explained away."""
        self._held, self._silence = True, 0.0

    def nothing_measured(self, seconds: float) -> None:
        """Take it that the newest measurement is so many seconds old, until `judge` or `hold` is called."""
        self._silence = seconds

    def combined(self, experts: ExpertPredictions, ahead: float = 0.0) -> Prediction:
        """Return the combination of the experts' predictions for a motion `ahead` seconds from now."""
        total = self._mean(experts.values, self.after(self._silence + ahead)[None], experts.unlearned.of_experts)[0]
        return self._prediction(total, self._variance(total, experts, self._silence + ahead), experts)

    def answer(self, experts: ExpertPredictions, as_known: bool = False) -> Prediction:
        """Return the same with the confidences of the motion that was settled last: an answer in a few microseconds.

        With `as_known`, this motion counts as known exactly as well as that one.
        """
        if (settled := self.settled) is None:
            return self.combined(experts)
        if as_known:
            experts.unlearned, experts.find = settled, None
        total = self._mean(experts.values, self.value[None], settled.of_experts)[0]
        return self._prediction(total, lambda: self._variance(total, experts, self._silence), experts)

    def undisturbed(self, experts: ExpertPredictions) -> Prediction:
        """Return the combination of the experts' predictions by the steady weights.

        Its variance is that of the expected prediction: an answer moved by a push must not pass for an unknown motion.
        """
        total = self._mean(experts.values, self.steady[None], experts.unlearned.of_experts)[0]
        return self._prediction(total, self._variance(experts.expected, experts), experts)

    @staticmethod
    def _prediction(total: Array, spread: Array | Callable[[], Array], experts: ExpertPredictions) -> Prediction:
        return Prediction(total, experts.parametric, total - experts.parametric, spread, experts)

    def _variance(self, total: Array, experts: ExpertPredictions, silence: float = 0.0) -> Array:
        """Return the variance (n_outputs,) of a measurement about `total`, `silence` [s] after the newest measurement.
        After SILENCE it is at least that of the model's own errors: no measurement corrects an answer any more."""
        variance: Array = self._noise.value + self._noise.factor * _not_learned(total, experts)
        return np.maximum(variance, experts.unlearned.noise) if silence > SILENCE else variance

    def _mean(self, values: Array, weights: Array, unlearned: Array) -> Array:
        """Return means (k, n_outputs) of values (n_experts, n_outputs) by k tables of weights times confidences."""
        means = np.empty((len(weights), weights.shape[2]))
        _experts.combine(means, weights, values, unlearned, self._noise.value, len(values))
        return means

    def judge(self, experts: ExpertPredictions, measured: Array, elapsed: float) -> None:
        """Learn from a measurement (n_outputs,) which experts were right; `elapsed` [s] since the last one."""
        errors = experts.values - measured
        choices = self.aggregation.choices if experts.choices is None else experts.choices
        combined = self._mean(errors, choices, experts.unlearned.of_experts)
        self._held, self._silence, self._steady = False, 0.0, None
        self._noise.update(combined[0], _not_learned(combined[0] + measured, experts), elapsed)
        counted = min(elapsed, USUAL_PERIOD)
        self.correlation.update(experts.expected - measured, counted)
        self.aggregation.update(errors[None], combined[None], counted)

    def merge(self, other: "ExpertWeights") -> None:
        """Take over the variance of the other one if none is known here yet."""
        self._noise.merge(other._noise)


def _not_learned(total: Array, experts: ExpertPredictions) -> Array:
    return np.asarray((total - experts.expected) ** 2 + experts.unlearned.of_expected)


class ExpertPredictor:
    """Base class of what predicts by a combination of experts."""

    weights: ExpertWeights

    def _experts_of(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> ExpertPredictions:
        raise NotImplementedError

    def predict(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, ahead: float = 0.0) -> Prediction:
        """Predict from position, velocity, acceleration, each (n_joints,).

        A motion that is planned for `ahead` seconds from now is predicted by the weights that are right then; it may be
        infinite. Raises ShapeError, NotFiniteError, ParameterError: `ahead` is below 0 or not a number.
        """
        if not ahead >= 0.0:
            raise ParameterError("ahead", ahead, "at least 0 s")
        return self.weights.combined(self._experts_of(q, v, a), ahead)

    def answer(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, as_known: bool = False) -> Prediction:
        """Predict at once; Prediction.settle finds afterwards how well the motion is known.

        With `as_known`, this motion counts as known exactly as well as the one that was settled last.
        """
        return self.weights.answer(self._experts_of(q, v, a), as_known)

    def judge(self, prediction: Prediction, measured: Array, elapsed: float) -> None:
        """Learn which experts of a prediction were right from a measurement (n_outputs,) `elapsed` s after the last."""
        if prediction.experts is not None:
            self.weights.judge(prediction.experts, measured, elapsed)

    def undisturbed(self, prediction: Prediction) -> Prediction:
        """Return a prediction as it would be by weights that a push does not move; see ExpertWeights.undisturbed."""
        return prediction if prediction.experts is None else self.weights.undisturbed(prediction.experts)

    def hold(self) -> None:
        """Use weights that a push does not move; see ExpertWeights.hold."""
        self.weights.hold()

    def nothing_measured(self, seconds: float) -> None:
        """Take it that the newest measurement is so many seconds old, until `judge` or `hold` is called."""
        self.weights.nothing_measured(seconds)
