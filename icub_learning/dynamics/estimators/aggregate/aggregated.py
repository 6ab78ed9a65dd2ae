"""Inverse dynamics as an on-line aggregate of rigid bodies and learners on random features."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array, finite
from icub_learning.dynamics.estimators import _experts
from icub_learning.dynamics.estimators.aggregate.expert_pool import (
    LENGTH_SCALES,
    LEVERAGE_SCALE,
    REGULARIZATIONS,
    ExpertPool,
)
from icub_learning.dynamics.estimators.aggregate.predictor import (
    AggregatedPredictor,
    Combination,
    ExpectedErrors,
    unexplained,
)
from icub_learning.dynamics.estimators.noise.calibrated_variance import CalibratedVariance
from icub_learning.dynamics.estimators.noise.signal_variance import SignalVariance
from icub_learning.dynamics.estimators.observation import Observation, seconds_between
from icub_learning.dynamics.estimators.parametric import ParametricEstimator
from icub_learning.dynamics.estimators.prediction import Prediction
from icub_learning.dynamics.estimators.saved_states import check_kind, describe, matching_regressor
from icub_learning.dynamics.regressors.regressor import Regressor
from icub_learning.dynamics.settings import AUTOMATIC, first_forgetting
from icub_learning.errors import ParameterError, StateError
from icub_learning.models import nested, part, scalar
from icub_learning.recursive import AdaptiveForgetting, Certainty, RecursiveLeastSquares
from icub_learning.recursive.checks import finite_rows
from icub_learning.recursive.layered_aggregation import LayeredAggregation

HALF_LIVES = (3.0, 30.0)  # [s] in which errors lose half of their weight in the choice of experts
SECOND_HALF_LIFE = 30.0  # [s] the same in the choice between these choices and rigid bodies alone
AGES = (2, 5)  # snapshots ago: an expert is judged by what it knew 0.2 s and 0.5 s before, see AggregatedEstimator
SNAPSHOT_PERIOD = 0.1  # [s]
# Of the root mean square of an output: what rigid bodies are expected to leave of it, at least, in a motion that is
# new. Their parameters fit the motions learned so far better.
LEAST_UNEXPLAINED = 0.5
LARGEST_MEASUREMENT = 1e50  # beyond it squares of squared errors could overflow


class AggregatedEstimator:
    """Learns y with and without rigid bodies, and publishes for each output what has been right of late.

    The experts are: P, rigid bodies alone; NP, learners of y on random features of (q, v, a), one for each of several
    length scales and regularizations (ExpertPool); SP, the same learners of what P left of each sample when it came
    (thesis 8.3, fig. 8.2), on top of P. All NP and SP experts of one length scale and regularization share a factor.
    What is published is, for each output, their convex combination by LayeredAggregation, with its bound: it is not
    much worse than P, nor than combinations that follow the best experts of the last seconds or of the last minute.

    Experts are judged by what they knew 0.2 s and 0.5 s before each sample, half and half: judged by what they knew
    just before it, those would win that repeat what they have just seen, as holding the last measurement does. The
    same holds of their combinations.

    In a motion of which a share was never learned, that share of the weight of each NP passes to the SP of the same
    length scale and regularization, as far as rigid bodies explain the outputs: NP and SP may be equally good where
    they learned, but elsewhere NP expects nothing, and SP what rigid bodies predict. The bound is that of the weights
    before this; in motions that were learned they are the same.

    Args:
        regressor: a WrenchRegressor or TorqueRegressor.
        rigid: the expert P, new; None leaves NP experts only, and the regressor then tells nothing but sizes.
        n_random_features: number of features of all length scales together.
        forgetting: in (0, 1], of all experts; "auto": 1 until errors show a change, see AdaptiveForgetting.
        seed: seed of the random features.

    Raises:
        ParameterError: an argument is outside its range.
    """

    def __init__(
        self,
        regressor: Regressor,
        rigid: ParametricEstimator | None,
        n_random_features: int,
        forgetting: float | str,
        seed: int,
    ) -> None:
        self.regressor = regressor
        self._rigid = rigid
        n_targets = regressor.n_outputs * (2 if rigid else 1)
        self._pool = ExpertPool(regressor.n_joints, n_targets, n_random_features, first_forgetting(forgetting), seed)
        self._adaptive = AdaptiveForgetting(regressor.n_outputs) if forgetting == AUTOMATIC else None
        self._aggregation = LayeredAggregation(
            len(self.expert_names),
            regressor.n_outputs,
            HALF_LIVES,
            SECOND_HALF_LIFE,
            direct=(0,) if rigid else (),
        )
        self._noise = CalibratedVariance(regressor.n_outputs)
        self._signal = SignalVariance(n_targets)
        # Oldest first. Before anything is learned all experts know the same.
        nothing = (self._parameters(), np.zeros(self._pool.shape), self._aggregation.choices)
        self._snapshots = [nothing] * (max(AGES) + 1)
        self._judged = self._judge()
        self._since_snapshot = 0.0  # [s]
        self._last_stamp: int | None = None  # [ns]
        self._combined: tuple[Combination, Combination | None] | None = None  # until something is learned

    @property
    def parametric(self) -> ParametricEstimator:
        """The expert P. Raises ParameterError where rigid bodies are left out."""
        if self._rigid is None:
            raise ParameterError("parametric", None, "there: this estimator has no rigid-body part")
        return self._rigid

    @property
    def n_samples(self) -> int:
        """How many samples were learned."""
        return self._pool.n_samples

    @property
    def expert_names(self) -> tuple[str, ...]:
        """Names of the experts, in the order of `weights`: kind, length scale, regularization."""
        kinds = ("NP",) if self._rigid is None else ("NP", "SP")
        pairs = [f"{kind} {s:g} {r:g}" for s in LENGTH_SCALES for r in REGULARIZATIONS for kind in kinds]
        return tuple(pairs) if self._rigid is None else ("P", *pairs)

    @property
    def weights(self) -> Array:
        """Weights of the experts in what is published, (n_experts, n_outputs), columns of sum 1; a copy."""
        result: Array = self._aggregation.weights.copy()
        return result

    def predict(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Prediction:
        """Predict from position, velocity, acceleration, each (n_joints,). Raises ShapeError, NotFiniteError."""
        return self._predictor(self.regressor, self._pool.live_certainties()[0]).predict(q, v, a).evaluated()

    def predictor(self, regressor: Regressor) -> AggregatedPredictor:
        """Return a snapshot for another thread; `regressor` is that thread's own for the same robot."""
        return self._predictor(regressor, self._pool.certainty())

    def _predictor(self, regressor: Regressor, certainty: Certainty | RecursiveLeastSquares) -> AggregatedPredictor:
        expected = self._expected_errors()
        if self._combined is None:
            self._combined = self._combine()
        known, shift = self._combined
        parameters = None if self._rigid is None else self._rigid.parameters
        return AggregatedPredictor(regressor, parameters, self._pool.features, known, shift, certainty, expected)

    def _expected_errors(self) -> ExpectedErrors:
        """Return what errors to expect.

        In a motion that is unlike all that was learned they are, for NP, the root mean square of the output, and for SP
        and P that of what rigid bodies do not explain.
        """
        n = self.regressor.n_outputs
        roots = np.sqrt(self._signal.value)
        alone = roots[:n]
        beside = np.zeros(n) if self._rigid is None else np.maximum(roots[n:], LEAST_UNEXPLAINED * alone)
        return ExpectedErrors(self._noise.value, self._noise.factor, alone, beside)

    def _table(self) -> tuple[Array, Array]:
        """Weights of P (n_outputs,), and of the others (length scales, regularizations, kinds, n_outputs)."""
        weights, n = self._aggregation.weights, self.regressor.n_outputs
        rigid = np.zeros(n) if self._rigid is None else weights[0]
        others = weights if self._rigid is None else weights[1:]
        return rigid, others.reshape(len(LENGTH_SCALES), len(REGULARIZATIONS), -1, n)

    def _of_regularizations(self) -> Array:
        """(regularizations, n_outputs): how much weight the experts with each have."""
        result: Array = self._table()[1].sum(axis=(0, 2))
        return result

    def _share(self) -> Array:
        """Weight (n_outputs,) of the experts that contain the rigid-body prediction."""
        rigid, table = self._table()
        return rigid if self._rigid is None else rigid + table[:, :, 1].sum(axis=(0, 1))

    def _explained(self) -> Array:
        """Return the share (n_outputs,) of an output's mean square that rigid bodies explain; 0 if none."""
        total, left = self._signal.value.reshape(2, -1)
        return np.asarray(1.0 - np.minimum(np.divide(left, total, out=np.ones_like(total), where=total > 0.0), 1.0))

    def _combine(self) -> tuple[Combination, Combination | None]:
        """The combination for motions that are known, and what is added to it where nothing was learned.

        Features expect nothing where they have learned nothing, rigid bodies what they explain. So there the SP of a
        length scale and regularization takes the weight of the NP of the same, as far as rigid bodies explain outputs.
        """
        table = self._table()[1]
        known = Combination(self._share(), self._pool.combined(table))
        if self._rigid is None:
            return known, None
        moved = self._explained() * table[:, :, 0]
        weights = self._pool.combined(np.stack([-moved, moved], axis=2))
        return known, Combination(moved.sum(axis=(0, 1)), weights)

    def _errors(self, rows: Array, regressor_rows: Array | None, measured: Array) -> Array:
        """What each expert would have erred by with what it knew at each of AGES, (ages, n_experts, n_outputs).

        Raises:
            ParameterError: an error is not finite.
        """
        parameters, weights, choices = self._judged
        n_scales, n_regularizations, n_targets, n_features = self._pool.shape
        rigid = None if regressor_rows is None else parameters @ regressor_rows.T
        n = self.regressor.n_outputs
        errors = np.empty((len(AGES), choices.shape[2], n))
        learners = n_regularizations * n_targets // n
        if not _experts.judge(errors, weights, rows, rigid, measured, len(AGES), n_scales, learners, n, n_features):
            raise ParameterError("prediction", float("inf"), "finite: the motion is too large")
        return errors

    def _combined_errors(self, errors: Array) -> Array:
        """Errors of what was published at each of AGES, then of each half-life: (ages, 1 + half-lives, n_outputs)."""
        choices = self._judged[2]
        n_ages, n_rows, n_experts, n = choices.shape
        combined = np.empty((n_ages, n_rows, n))
        _experts.weigh(combined, choices, errors, n_ages, n_rows, n_experts, n)
        return combined

    def _judge(self) -> tuple[Array, Array, Array]:
        """Of AGES: parameters, weights (length scales, everything else, features), and choices (ages, ...)."""
        chosen = [self._snapshots[-1 - age] for age in AGES]
        n_scales, _, _, n_features = self._pool.shape
        weights = np.stack([weights for _, weights, _ in chosen], axis=1).reshape(n_scales, -1, n_features)
        parameters, choices = (np.array([snapshot[place] for snapshot in chosen]) for place in (0, 2))
        return parameters, weights, choices

    def learn(self, observation: Observation) -> None:
        """Learn one sample. Raises ParameterError, NotFiniteError: nothing changes then."""
        measured, exact, motion = observation.measured, observation.motion, observation.known
        finite_rows("y", measured, self.regressor.n_outputs, LARGEST_MEASUREMENT)
        rows = self._pool.features.rows(self._pool.features.waves(np.concatenate(motion)))
        known_rows, targets = None, measured
        if self._rigid is not None:
            exact_rows = self.regressor(*exact)
            known_rows = exact_rows if motion is exact else self.regressor(*motion)
            targets = np.concatenate([measured, measured - known_rows @ self._rigid.parameters])
            finite_rows("y minus its rigid-body prediction", targets, len(targets), LARGEST_MEASUREMENT)
        errors = self._errors(rows, known_rows, measured)
        if self._rigid is not None:
            self._rigid.learn(exact_rows, measured)  # the only step that may still refuse the sample
        elapsed = seconds_between(self._last_stamp, observation.stamp)
        self._last_stamp = observation.stamp
        combined = self._combined_errors(errors)
        published = observation.published
        if published is not None and published.noise is None:
            published = None  # of an estimator that does not tell its noise, or with a load on top
        if published is None or self._adaptive is not None:
            leverages = [float(learner.leverage(rows[LEVERAGE_SCALE])) for learner in self._pool.live_certainties()]
        if published is not None:
            self._noise.judge(published, measured, elapsed)
        else:
            added = self._expected_errors().added(self._share(), unexplained(leverages[0]))
            self._noise.update(combined[-1, 0], added, elapsed)
        self._signal.update(targets, elapsed)
        self._aggregation.update(errors, combined, elapsed)
        if self._adaptive is not None:
            self._forget(self._adaptive.follow(combined[0, 0], leverages @ self._of_regularizations(), elapsed))
        self._since_snapshot += elapsed
        if self._since_snapshot >= SNAPSHOT_PERIOD:
            self._take_snapshot()
        self._pool.learn(rows, targets)
        self._combined = None

    def _forget(self, factor: float) -> None:
        """Let each further sample reduce the weight of earlier ones by `factor`, in all experts."""
        self._pool.forget(factor)
        if self._rigid is not None:
            self._rigid.forget(factor)

    def body_changed(self, ratio: float) -> None:
        """Forget at once what was learned before a change that is known, see ParametricEstimator.body_changed."""
        if self._adaptive is not None:
            self._adaptive.change(ratio)

    def _take_snapshot(self) -> None:
        """Keep what is known now, before the sample at hand is learned by the features."""
        self._since_snapshot = 0.0
        self._snapshots = [*self._snapshots[1:], (self._parameters(), self._pool.weights(), self._aggregation.choices)]
        self._judged = self._judge()

    def _parameters(self) -> Array:
        return np.zeros(0) if self._rigid is None else self._rigid.parameters

    def merge(self, other: "AggregatedEstimator", common: "AggregatedEstimator | None" = None) -> None:
        """Pool what another estimator of the same regressor and features learned; the choice of experts stays.

        What is in `common` counts once.

        Raises:
            ParameterError: regressor or features differ; nothing changes then.
        """
        if (self._rigid is None) != (other._rigid is None):
            raise ParameterError("other", "of another kind", "with rigid bodies if this one is, without if not")
        self._pool.check_poolable(other._pool)
        if self._rigid is not None:
            assert other._rigid is not None
            self._rigid.pool(other._rigid, None if common is None else common._rigid)
        self._pool.merge(other._pool, None if common is None else common._pool)
        self._noise.merge(other._noise, 0 if common is None else common._noise.n_samples)
        self._signal.merge(other._signal)
        self._combined = None

    def state(self, kind: str) -> dict[str, Array]:
        """Return all that was learned and the regressor's description, as a dict of arrays; see `from_state`."""
        if self._rigid is None:
            own = nested("regressor", describe(self.regressor))
        else:
            own = nested("parametric", self._rigid.state())
        return {
            "estimator": np.asarray(kind),
            **own,
            **nested("pool", self._pool.state()),
            **nested("aggregation", self._aggregation.state()),
            **nested("noise", self._noise.state()),
            **nested("signal", self._signal.state()),
            **({} if self._adaptive is None else nested("adaptive", self._adaptive.state())),
            "snapshot_parameters": np.array([snapshot[0] for snapshot in self._snapshots]),
            "snapshot_weights": np.array([snapshot[1] for snapshot in self._snapshots]),
            "snapshot_choices": np.array([snapshot[2] for snapshot in self._snapshots]),
            "since_snapshot": np.asarray(self._since_snapshot),
            "last_stamp": np.asarray(-1 if self._last_stamp is None else self._last_stamp),  # -1: without
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], kind: str, regressor: Regressor | None = None) -> "AggregatedEstimator":
        """Rebuild from `state`, for the given regressor or the one described there. Raises StateError."""
        check_kind(state, kind)
        rigid = None
        if any(key.startswith("parametric.") for key in state):
            rigid = ParametricEstimator.from_state(part(state, "parametric"), regressor)
            regressor = rigid.regressor
        else:
            regressor = matching_regressor(state, regressor)
        made = cls(regressor, rigid, 2, 1.0, 0)
        made._pool = ExpertPool.from_state(part(state, "pool"), regressor.n_joints, made._pool.n_targets)
        if any(key.startswith("adaptive.") for key in state):
            made._adaptive = AdaptiveForgetting.from_state(part(state, "adaptive"), regressor.n_outputs)
        shape = made._aggregation.choices.shape
        made._aggregation = LayeredAggregation.from_state(part(state, "aggregation"))
        if made._aggregation.choices.shape != shape:
            raise StateError(f"saved weights {made._aggregation.choices.shape} do not fit {shape}", name="aggregation")
        made._noise = CalibratedVariance.from_state(part(state, "noise"), regressor.n_outputs)
        made._signal = SignalVariance.from_state(part(state, "signal"), made._pool.n_targets)
        try:
            parameters = finite("snapshot_parameters", state["snapshot_parameters"])
            weights = finite("snapshot_weights", state["snapshot_weights"])
            choices = finite("snapshot_choices", state["snapshot_choices"])
            made._since_snapshot = float(scalar(state, "since_snapshot"))
            last = int(scalar(state, "last_stamp"))
            made._last_stamp = last if last >= 0 else None
        except KeyError as error:
            raise StateError(f"state lacks the entry {error}", name=str(error)) from None
        except (TypeError, ValueError) as error:
            raise StateError(f"state does not describe an aggregate: {error}") from None
        count = len(made._snapshots)
        expected = (count, len(made._parameters())), (count, *made._pool.shape), (count, *shape)
        if (parameters.shape, weights.shape, choices.shape) != expected or not made._since_snapshot >= 0.0:
            shapes = parameters.shape, weights.shape, choices.shape
            raise StateError(f"snapshots {shapes} do not fit {expected}", name="snapshot_weights")
        made._snapshots = list(zip(parameters.copy(), weights.copy(), choices.copy(), strict=True))
        made._judged = made._judge()
        return made
