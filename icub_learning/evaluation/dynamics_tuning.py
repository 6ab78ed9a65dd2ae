"""Samples of a recording as the learner of inverse dynamics meets them, for choosing its settings."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array, integer, vector
from icub_learning.dynamics import assembly
from icub_learning.dynamics.estimators.fixed_nonparametric import motion_scale
from icub_learning.dynamics.estimators.parametric import ParametricEstimator
from icub_learning.dynamics.estimators.prediction import MotionInputs, Prediction, motion_vectors
from icub_learning.dynamics.estimators.warm_up import WarmUp
from icub_learning.dynamics.regressors.regressor import Regressor
from icub_learning.errors import ParameterError, RecordingError
from icub_learning.evaluation.predict_then_learn import Evaluation, evaluate
from icub_learning.kernel_methods.tuning import Fold, Judge, forward_folds
from icub_learning.recording.recording import JointStateEvent, WrenchEvent

Events = Iterable[JointStateEvent | WrenchEvent]
MOST_SAMPLES = 6000  # to tune with; of more, every second, third, ... is kept
LEAST_SAMPLES = 50
LEAST_RATIO = 1e-12  # of nMSE: below it is rounding


class SampleCollector:
    """Takes the place of an estimator in a stream and keeps what its random features would learn from.

    Inputs are (q, v, a) as known at once, with the prediction of the rigid-body part made then where there is one,
    standardized by the scale that the first samples set; targets are what the rigid-body part leaves (see
    `SemiparametricEstimator`).

    Args:
        regressor: of the robot.
        settings: as for the node.
        stride: of the samples after the warm-up, every which is kept; the rigid-body part learns them all.
    """

    def __init__(self, regressor: Regressor, settings: assembly.Settings, stride: int = 1) -> None:
        s = settings
        self._regressor = regressor
        self._stride = integer("stride", stride, 1)
        self._parametric = (
            ParametricEstimator(regressor, s.parametric_regularization, s.forgetting, s.prior)
            if s.estimator == "semiparametric"
            else None
        )
        minimum = motion_scale(regressor.n_joints)
        if self._parametric:
            minimum = np.concatenate([minimum, np.zeros(regressor.n_outputs)])
        self._warm_up = WarmUp(minimum, s.n_warm_up)
        self._n_learned = 0
        self._inputs: list[Array] = []
        self._measured: list[Array] = []
        self._rows: list[Array] = []
        self._parameters: list[Array] = []

    def predict(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Prediction:
        """Zero: nobody asks."""
        zero = np.zeros(self._regressor.n_outputs)
        return Prediction(zero, zero, zero, zero)

    def update(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        y: ArrayLike,
        known: MotionInputs | None = None,
        stamp: int | None = None,
    ) -> None:
        """Take one sample in, as the estimators do."""
        n, measured = self._regressor.n_joints, vector("y", y, self._regressor.n_outputs)
        exact = motion_vectors(n, q, v, a)
        motion = exact if known is None else motion_vectors(n, *known)
        x, rows = np.concatenate(motion), None
        if self._parametric:
            rows = np.array(self._regressor(*motion))
            parameters = self._parametric.parameters
            x = np.concatenate([x, rows @ parameters])
        if not self._warm_up.done:
            self._warm_up.add(x)
        else:
            if self._n_learned % self._stride == 0:
                self._inputs.append(x)
                self._measured.append(measured)
                if rows is not None:
                    self._rows.append(rows)
                    self._parameters.append(parameters)
            self._n_learned += 1
        if self._parametric:
            self._parametric.learn(np.array(self._regressor(*exact)), measured)

    def samples(self, result: Evaluation) -> "Samples":
        """What was kept. Raises RecordingError if there is too little; `result` says of how much."""
        if len(self._inputs) < LEAST_SAMPLES:
            refused = ", ".join(f"{reason} {count}" for reason, count in result.refused.most_common())
            raise RecordingError(
                f"{len(self._inputs)} samples are left to tune with, of {result.n_joint_states} joint states"
                f" (refused: {refused or 'none'}; the first {self._warm_up.n_samples} set the scale)",
                name="recording",
                value=len(self._inputs),
                bound=f"{LEAST_SAMPLES} samples",
            )
        return Samples(
            np.array(self._inputs),
            np.array(self._measured),
            np.array(self._rows) if self._parametric else None,
            np.array(self._parameters) if self._parametric else None,
            self._warm_up,
            self._stride,
        )


@dataclass(frozen=True)
class Samples:
    """Samples in the order of time.

    Attributes:
        inputs: (n, d), not standardized.
        measured: (n, T).
        rows: (n, T, p) of the regressor at the motion known at once, None without a rigid-body part.
        parameters: (n, p) as they were before each sample, likewise.
        scaled: brings inputs to the scale that the first samples set.
        stride: of how many samples one was kept.
    """

    inputs: Array
    measured: Array
    rows: Array | None
    parameters: Array | None
    scaled: WarmUp
    stride: int

    def fold(self, learned: slice, later: slice) -> Fold:
        """What is learned from `learned`, and how that looks at `later` when nothing more was learned since.

        Residuals are those of the rigid-body parameters at the end of `learned`, for both parts.
        """
        inputs, targets = self.inputs, self.measured
        later_inputs = inputs[later]
        if self.rows is not None and self.parameters is not None:
            # The newest parameters that know of no sample after those learned.
            predicted = self.rows @ self.parameters[learned.stop - 1]
            targets = targets - predicted
            later_inputs = later_inputs.copy()
            later_inputs[:, -predicted.shape[1] :] = predicted[later]
        return Fold(
            self.scaled(inputs[learned]),
            targets[learned],
            self.scaled(later_inputs),
            targets[later],
            1 / self.stride,
        )

    def folds(self, n_folds: int, gap: int, horizon: int) -> list[Fold]:
        """Forward chaining (see `forward_folds`); gap and horizon count samples of the recording."""
        gap, horizon = -(-gap // self.stride), max(1, horizon // self.stride)
        return [self.fold(*parts) for parts in forward_folds(len(self.inputs), n_folds, gap, horizon)]

    def judge(self) -> Judge:
        """Errors of predictions: nMSE, each output's over its variance in all samples, `overall` of those that vary."""
        variance = self.measured.var(axis=0)
        varying = np.ptp(self.measured, axis=0) > 0
        if not varying.any():
            raise RecordingError("no output varies: there is nothing to learn", name="outputs", bound="one that varies")

        def judge(predicted: Array, fold: Fold) -> tuple[Array, Array]:
            squares = np.mean((predicted - fold.later_targets) ** 2, axis=1)
            ratios = overall(squares[:, varying] / variance[varying])
            return ratios, ratios

        return judge


def overall(ratios: Array) -> Array:
    """One figure of several outputs' nMSE (..., T): their geometric mean, so that an output of which much is noise does
    not decide alone; NaN is left out."""
    return np.exp(np.nanmean(np.log(np.maximum(ratios, LEAST_RATIO)), axis=-1))


def collect(events: Events, settings: assembly.Settings, stride: int = 1) -> Samples:
    """The samples of a recording's events, through the stream that the node uses.

    Args:
        events: in the order of arrival.
        settings: as for the node; those of the features are not used.
        stride: every which sample is kept.

    Raises:
        ParameterError, ModelError: the settings do not fit. RecordingError: there are too few samples.
    """
    if settings.estimator == "parametric":
        raise ParameterError("estimator", "parametric", "'semiparametric' or 'nonparametric': it has features to tune")
    if settings.nonparametric != "random_features":
        raise ParameterError("nonparametric", settings.nonparametric, "'random_features', which is what is tuned")
    if settings.forgetting != 1.0:
        raise ParameterError("forgetting", settings.forgetting, "1: validation by paths weighs all samples alike")
    regressor = assembly.make_regressor(settings)
    collector = SampleCollector(regressor, settings, stride)
    result = evaluate(assembly.make_stream(settings, regressor, collector), events, tuple(regressor.output_names))
    return collector.samples(result)


def check(
    events: Sequence[JointStateEvent | WrenchEvent],
    settings: assembly.Settings,
    tuned_on: int,
    *,
    stop_learning: bool = False,
    watch: Callable[[Events], Events] = iter,
) -> tuple[Evaluation, int]:
    """Predict, then learn, over all events, as the node does; judge those after the first `tuned_on`.

    Args:
        events: of the whole recording.
        settings: as for the node.
        tuned_on: number of events that settings may have been chosen by.
        stop_learning: whether nothing is learned after them: how well the learner does further ahead in time.
        watch: is given the events and passes them on: for a progress bar.

    Returns:
        The evaluation, and the number of its first sample that lies after those events.
    """
    regressor = assembly.make_regressor(settings)
    stream = assembly.make_stream(settings, regressor, assembly.make_estimator(settings, regressor))
    boundary = events[tuned_on].stamp

    def fed() -> Events:
        for place, event in enumerate(watch(events)):
            if place == tuned_on and stop_learning:
                stream.learning = False
            yield event

    result = evaluate(stream, fed(), tuple(regressor.output_names))
    return result, int(np.count_nonzero(result.stamps < boundary))
