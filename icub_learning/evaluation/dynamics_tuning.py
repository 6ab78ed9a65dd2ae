"""Samples of a recording as the learner of inverse dynamics receives them, and folds of them to choose settings by."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from icub_learning.arrays import Array, integer
from icub_learning.dynamics import assembly
from icub_learning.dynamics.estimators.fixed_nonparametric import FixedNonparametricEstimator
from icub_learning.dynamics.estimators.fixed_semiparametric import FixedSemiparametricEstimator
from icub_learning.dynamics.estimators.parametric import ParametricEstimator
from icub_learning.dynamics.estimators.random_feature_learner import RandomFeatureLearner
from icub_learning.dynamics.estimators.residual_targets import ResidualTargets
from icub_learning.dynamics.estimators.warm_up import WarmUp
from icub_learning.dynamics.settings import Settings, first_forgetting
from icub_learning.errors import ParameterError, RecordingError
from icub_learning.evaluation.predict_then_learn import Evaluation, evaluate
from icub_learning.kernel_methods.tuning import Fold, Judge, forward_folds
from icub_learning.recording.recording import Event

LEAST_SAMPLES = 50
LEAST_RATIO = 1e-12  # of nMSE: below it is rounding


class SampleCollector(RandomFeatureLearner):
    """Replaces the nonparametric learner of an estimator and stores the samples it receives instead of learning them.

    So inputs and targets are made by the estimator's own code, as in the node.

    Args:
        estimator: its learner is replaced; a rigid-body part learns on as before.
        settings: as for the node.
        stride: every `stride`-th sample after the warm-up is stored.
    """

    def __init__(
        self, estimator: FixedSemiparametricEstimator | FixedNonparametricEstimator, settings: Settings, stride: int
    ) -> None:
        super().__init__(
            estimator.learner._warm_up.minimum_scale,
            estimator.learner.n_outputs,
            n_random_features=2,
            length_scale=settings.length_scale,
            regularization=settings.nonparametric_regularization,
            forgetting=first_forgetting(settings.forgetting),
            n_warm_up=settings.n_warm_up,
            seed=settings.seed,
        )
        self._estimator = estimator
        self._stride = integer("stride", stride, 1)
        self._n_received = 0  # after the warm-up
        self._inputs: list[Array] = []
        self._targets: list[Array] = []
        self._parameters: list[Array] = []
        estimator.learner = self

    def update(self, x: Array, y: Array) -> None:
        """Store one sample: x (n_inputs,), y (n_targets,)."""
        if not self.ready:
            super().update(x, y)
            return
        if self._n_received % self._stride == 0:
            self._inputs.append(x.copy())
            self._targets.append(y.copy())
            if isinstance(self._estimator, FixedSemiparametricEstimator):
                self._parameters.append(self._estimator.parametric.parameters)
        self._n_received += 1

    def samples(self, result: Evaluation) -> "Samples":
        """Return the stored samples. Raises RecordingError if there are too few, with the counts of `result`."""
        n = len(self._inputs)
        if len(result.measured) and not np.ptp(result.measured, axis=0).any():
            raise _nothing_varies()
        if n < LEAST_SAMPLES:
            text = f"{n} samples are left to tune with, of {result.n_joint_states} joint states"
            text += f" (refused: {result.refusals}; the first {self._warm_up.n_samples} set the scale)"
            raise RecordingError(text, name="recording", value=n, bound=f"{LEAST_SAMPLES} samples")
        regressor = self._estimator.regressor
        return Samples(
            np.array(self._inputs),
            np.array(self._targets),
            regressor.n_outputs,
            ResidualTargets(regressor) if self._parameters else None,
            np.array(self._parameters),
            self._warm_up,
            self._stride,
        )


@dataclass(frozen=True)
class Samples:
    """Samples of the nonparametric learner, oldest first.

    Attributes:
        inputs: (n, n_inputs), not standardized.
        targets: (n, n_targets); the first n_outputs columns are what was measured.
        n_outputs: number of measured outputs.
        residual_targets: how targets give the residuals of a rigid-body part, None without one.
        parameters: (n, n_parameters), rigid-body parameters before each sample; empty without a rigid-body part.
        scaled: standardizes inputs by the scale that the first samples set.
        stride: the samples are every `stride`-th of the recording.
    """

    inputs: Array
    targets: Array
    n_outputs: int
    residual_targets: ResidualTargets | None
    parameters: Array
    scaled: WarmUp
    stride: int

    @property
    def measured(self) -> Array:
        """(n, n_outputs)."""
        return self.targets[:, : self.n_outputs]

    def fold(self, learned: slice, later: slice) -> Fold:
        """Return the samples `learned`, to learn from, and `later`, to judge by.

        The residuals of both are those of the rigid-body parameters at the end of `learned`: the newest that no later
        sample has changed.
        """
        residuals, later_inputs = self.measured, self.inputs[later]
        if self.residual_targets is not None:
            # A linear map of the targets, so of their values as of their weights.
            residuals = self.residual_targets.residual_weights(self.targets.T, self.parameters[learned.stop - 1]).T
            later_inputs = later_inputs.copy()
            later_inputs[:, -self.n_outputs :] = (self.measured - residuals)[later]  # the parametric prediction
        scaled = self.scaled(self.inputs[learned]), self.scaled(later_inputs)
        return Fold(scaled[0], residuals[learned], scaled[1], residuals[later], 1 / self.stride)

    def folds(self, n_folds: int, gap: int, horizon: int) -> list[Fold]:
        """Return folds by forward chaining (see `forward_folds`); gap and horizon count samples of the recording."""
        gap, horizon = -(-gap // self.stride), max(1, horizon // self.stride)
        return [self.fold(*parts) for parts in forward_folds(len(self.inputs), n_folds, gap, horizon)]

    def judge(self) -> Judge:
        """Return the error measure of predictions: `overall` nMSE, each output's over its variance in all samples."""
        variance = self.measured.var(axis=0)
        varying = np.ptp(self.measured, axis=0) > 0
        if not varying.any():
            raise _nothing_varies()

        def judge(predicted: Array, fold: Fold) -> tuple[Array, Array]:
            squares = np.mean((predicted - fold.later_targets) ** 2, axis=1)
            ratios = overall(squares[:, varying] / variance[varying])
            return ratios, ratios

        return judge


def _nothing_varies() -> RecordingError:
    return RecordingError("no output varies: there is nothing to learn", name="outputs", bound="one that varies")


def overall(ratios: Array) -> Array:
    """Return the geometric mean of the outputs' nMSE (..., n_outputs), NaN left out.

    Unlike an arithmetic mean, it is not decided by one output that is mostly noise.
    """
    logarithms: Array = np.nanmean(np.log(np.maximum(ratios, LEAST_RATIO)), axis=-1)
    return np.exp(logarithms)


def collect(events: Iterable[Event], settings: Settings, stride: int = 1) -> Samples:
    """Return the samples of a recording's events, made by the stream and the estimator that the node uses.

    Args:
        events: in the order of arrival.
        settings: as for the node; number and length scale of the features are not used.
        stride: every `stride`-th sample is returned.

    Raises:
        ParameterError, ModelError: the settings do not fit.
        RecordingError: there are too few samples.
    """
    if settings.nonparametric != "random_features":
        raise ParameterError("nonparametric", settings.nonparametric, "'random_features', which is what is tuned")
    if first_forgetting(settings.forgetting) != 1.0:
        raise ParameterError("forgetting", settings.forgetting, "1: validation by paths weighs all samples alike")
    regressor = assembly.make_regressor(settings)
    fixed = replace(settings, n_random_features=2).fixed()
    estimator = assembly.make_estimator(fixed, regressor)
    if isinstance(estimator, ParametricEstimator):
        bound = "'semiparametric' or 'nonparametric': it has features to tune"
        raise ParameterError("estimator", settings.estimator, bound)
    method = estimator.method
    assert isinstance(method, (FixedSemiparametricEstimator, FixedNonparametricEstimator))
    collector = SampleCollector(method, fixed, stride)
    return collector.samples(evaluate(assembly.make_stream(settings, regressor, estimator), events))


def check(
    events: Sequence[Event],
    settings: Settings,
    tuned_on: int,
    *,
    stop_learning: bool = False,
    watch: Callable[[Iterable[Event]], Iterable[Event]] = iter,
) -> tuple[Evaluation, int]:
    """Evaluate the settings on all events, to be judged on those after the first `tuned_on`.

    Args:
        events: all events of the recording.
        settings: as for the node.
        tuned_on: number of first events, which settings may have been chosen on.
        stop_learning: whether learning stops after them, to measure predictions further ahead in time.
        watch: called with the events, returns them: for a progress bar.

    Returns:
        The evaluation, and the number of its first sample that lies after those events.
    """
    regressor = assembly.make_regressor(settings)
    stream = assembly.make_stream(settings, regressor, assembly.make_estimator(settings, regressor))
    boundary = events[tuned_on].stamp

    def fed() -> Iterable[Event]:
        for place, event in enumerate(watch(events)):
            if place == tuned_on and stop_learning:
                stream.learning = False
            yield event

    result = evaluate(stream, fed())
    return result, int(np.count_nonzero(result.stamps < boundary))
