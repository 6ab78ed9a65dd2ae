"""What SP and NP have in common: a bank of joint processes whose experts are weighed by how right they have been."""

from math import inf
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array, integer, real, vector
from icub_learning.dynamics.estimators.noise.fading import SignalVariance, UsualSpeed
from icub_learning.dynamics.estimators.parametric import ParametricEstimator
from icub_learning.dynamics.estimators.prediction import (
    LARGEST,
    MotionInputs,
    Prediction,
    feature_inputs,
    motion_vectors,
    seconds_between,
)  # fmt: skip
from icub_learning.dynamics.estimators.saved_states import check_poolable, describe, matching_regressor
from icub_learning.dynamics.joint.bank import REGULARIZATION, JointBank
from icub_learning.dynamics.joint.columns import BaseColumns
from icub_learning.dynamics.joint.experts import ExpertPredictions, ExpertPredictor, ExpertWeights
from icub_learning.dynamics.joint.predictor import JointPredictor
from icub_learning.dynamics.motion.joint_states import LARGEST_EFFORT
from icub_learning.dynamics.regressors.regressor import Regressor
from icub_learning.dynamics.settings import AUTOMATIC, first_forgetting
from icub_learning.errors import ParameterError, StateError
from icub_learning.models import check_version, nested, part, reading_state, scalar
from icub_learning.models.ledger import Accountable, Ledger
from icub_learning.recursive import AdaptiveForgetting
from icub_learning.recursive.checks import LEAST_FORGETTING, faded, finite_rows

STATE_VERSION = 8  # version of the saved state
EstimatorT = TypeVar("EstimatorT", bound="JointEstimator")


class JointEstimator(ExpertPredictor, Accountable):
    """Learns y by a bank of joint processes of rigid bodies and features, see JointProcess and ExpertWeights.

    The experts are P, rigid bodies alone; NP and SP, features alone and features beside rigid bodies that were learned
    together with them; and models of the last seconds, NP of a few features and rigid bodies alone. Without rigid
    bodies only the NP remain.

    All but P learn from the motion as it was known when the measurement had to be predicted: the best answer to inputs
    with errors is not the one to exact inputs. P learns from the smoothed motion.

    Args:
        regressor: a WrenchRegressor or TorqueRegressor.
        rigid: the expert P, new; None leaves rigid bodies out.
        n_random_features: number of features, even.
        forgetting: in [1e-30, 1], factor on the weight of a sample with each further one; "auto": 1 until errors show a
            change, see AdaptiveForgetting. Processes with a memory of their own also forget by that.
        seed: seed of the random features.

    Raises:
        ParameterError: an argument is outside its range.
    """

    _KIND = ""  # kind of the saved state

    def __init__(
        self, regressor: Regressor, rigid: ParametricEstimator | None, n_random_features: int, forgetting: float | str,
        seed: int,
    ) -> None:  # fmt: skip
        m = regressor.n_outputs
        self.regressor, self._rigid = regressor, rigid
        # Processes have the same prior of the parameters and the same kind of output weights as P.
        columns = None if rigid is None else BaseColumns(regressor, *rigid.prior)
        kind = "equal" if rigid is None else rigid.output_weights
        self._bank = JointBank(regressor.n_joints, m, columns, kind, n_random_features, seed)
        self.forget_by(forgetting)
        names, memories = zip(*self._bank.experts, strict=True)
        lasting = [place for place, memory in enumerate(memories) if memory == inf]
        direct = [place for place, name in enumerate(names) if name == "P"]
        # NP alone knows least of a new motion, and is a part of SP. SP understates its errors there: P counts twice.
        self.weights = ExpertWeights(names, m, direct, lasting, [*direct, *direct, lasting[-1]])
        self._signal, self._speed = SignalVariance(m), UsualSpeed()
        self.tared = np.zeros(m)
        self._last_stamp: int | None = None  # [ns]
        self._predictor: JointPredictor | None = None  # predictor of this thread, until something is learned
        self.ledger = Ledger()

    @property
    def n_samples(self) -> int:
        """Number of samples learned."""
        return self._bank.lasting.n_samples

    @property
    def changes(self) -> int:
        """Number of changes of the robot that errors showed, after which it forgot; 0 if `forgetting` is a number."""
        return 0 if self._adaptive is None else self._adaptive.changes

    @property
    def expert_weights(self) -> dict[str, Array]:
        """Weights (n_outputs,) of the experts by their names."""
        return dict(zip(self.weights.names, self.weights.value, strict=True))

    @property
    def parameters(self) -> Array | None:
        """Parameters (n_parameters,) of P, as those of JointPredictor; None without rigid bodies."""
        return self._own_predictor().parameters

    def _experts_of(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> ExpertPredictions:
        return self._own_predictor()._experts_of(q, v, a)

    def predictor(self, regressor: Regressor | None = None) -> JointPredictor:
        """Return a snapshot for another thread; `regressor` is that thread's own for the same robot. The weights of its
        experts stay those of this estimator, so that its answers change a little as this one goes on learning."""
        return self._snapshot(self.regressor if regressor is None else regressor)

    def _own_predictor(self) -> JointPredictor:
        if self._predictor is None:
            self._predictor = self._snapshot(self.regressor, live=True)
        return self._predictor

    def _snapshot(self, regressor: Regressor, live: bool = False) -> JointPredictor:
        rigid = None if self._rigid is None else self._rigid.predictor(regressor, live)
        weights = self._bank.weights(None if rigid is None else rigid.parameters)
        left = self._signal.value if self._rigid is None else self._rigid.left
        signals, known = np.array([self._signal.value, left]), self._bank.certainty(live)
        return JointPredictor(regressor, self._bank.features, weights, rigid, *known, signals, self.weights, self.tared)

    def update(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, y: ArrayLike, known: MotionInputs | None = None,
        stamp: int | None = None, published: Prediction | None = None, count: int = 1,
    ) -> None:  # fmt: skip
        """Learn one measurement y (n_outputs,); arguments and errors as in Estimator. P learns from q, v and a.

        `count` says how many samples this one stands for, itself included, where others were left out.
        """
        m, count = self.regressor.n_outputs, integer("count", count, 1)
        measured = vector("y", y, m)
        inner = finite_rows("y", measured - self.tared, m, LARGEST_EFFORT)
        exact = motion_vectors(self.regressor.n_joints, q, v, a)
        motion = exact if known is None else motion_vectors(self.regressor.n_joints, *known)
        exact_rows = None if self._rigid is None else self.regressor(*exact)
        experts: ExpertPredictions | None = None if published is None else published.experts
        if experts is None or experts.weighed_by is not self.weights:  # another estimator has other features
            rows = exact_rows if motion is exact or exact_rows is None else self.regressor(*motion)
            phi = self._bank.features.waves(feature_inputs(self.regressor, motion))
            experts = self._own_predictor().experts(phi, rows)
        finite_rows("prediction", experts.values, m)
        if experts.rows is not None:
            finite_rows("regressor", experts.rows, experts.rows.shape[1], LARGEST)
        elapsed, share = seconds_between(self._last_stamp, stamp), self._speed.share(exact[1])
        novelty = experts.unlearned.novelty  # judged by what is known before this sample
        if self._rigid is not None and exact_rows is not None:
            if self._adaptive is None:
                self._rigid.forget(faded(self._forgetting, count))
            self._rigid.learn(exact_rows, inner, count, share)  # the only step that may still refuse the sample
        self._speed.update(exact[1], share, elapsed)
        self._last_stamp = stamp
        if published is None:
            self.weights.judge(experts, measured, elapsed)
        self._signal.update(inner, elapsed)
        factor = self._factor(experts.values, measured, novelty, elapsed, count)
        self._bank.learn(experts.phi, experts.rows, inner, elapsed, factor, count, share)
        self._predictor = None

    def _factor(self, values: Array, measured: Array, novelty: float, elapsed: float, count: int) -> float:
        """Return the factor by which all that was learned fades: the number given, or one that follows errors."""
        if self._adaptive is None:
            return faded(self._forgetting, count)
        slow = values[0 if self._rigid is None else 2]  # NP, or SP, which forget nothing by themselves
        factor = self._adaptive.follow(slow - measured, novelty / REGULARIZATION, elapsed)
        if self._rigid is not None:
            self._rigid.forget(factor)
        return factor

    def forget_by(self, forgetting: float | str) -> None:
        """Forget from now on as a new estimator with this `forgetting` would. Raises ParameterError."""
        self._forgetting = real("forgetting", first_forgetting(forgetting), LEAST_FORGETTING, 1.0)
        self._adaptive = AdaptiveForgetting(self.regressor.n_outputs) if forgetting == AUTOMATIC else None

    def body_changed(self, ratio: float) -> None:
        """Forget at once what was learned before a change that is known, see ParametricEstimator.body_changed."""
        if self._adaptive is not None:
            self._adaptive.change(ratio)

    def tare(self, change: ArrayLike) -> None:
        """Shift the offsets by `change` (n_outputs,) at once, as if every measurement had been larger by this. See
        ParametricEstimator.tare. Raises ShapeError, NotFiniteError, ParameterError (too large)."""
        m = len(self.tared)
        self.tared = finite_rows("change", self.tared + vector("change", change, m), m, LARGEST_EFFORT)
        self._predictor = None

    def merge(self: EstimatorT, other: EstimatorT, common: EstimatorT | None = None) -> None:
        """Pool what another estimator with the same regressor and features learned, exactly; each keeps its own tare.

        Samples of both count once, see Ledger; `common` is an estimator of exactly those, where one is needed. Raises
        ParameterError: regressor, prior or features differ, or a common one is needed; nothing changes then.
        """
        check_poolable(self, other)
        self.ledger.merge(self, other, common, self._pool)

    def _pool(self: EstimatorT, other: EstimatorT, common: EstimatorT | None) -> None:
        mine, theirs, shared = self._rigid, other._rigid, None if common is None else common._rigid
        if mine is not None and theirs is not None and not np.allclose(mine.prior, theirs.prior, rtol=0.01):
            raise ParameterError("prior", "different", "the same in both models, regularization and nominal masses too")
        before = self._bank.lasting
        self._bank.merge(other._bank, None if common is None else common._bank)
        if mine is not None and theirs is not None:
            try:
                mine.pool(theirs, shared)
            except ParameterError:
                self._bank.lasting = before
                raise
        self.weights.merge(other.weights)
        self._signal.merge(other._signal)
        self._predictor = None

    def state(self) -> dict[str, Array]:
        """Return all that was learned, as a dict of arrays; see `from_state`."""
        last = -1 if self._last_stamp is None else self._last_stamp
        rigid = {} if self._rigid is None else nested("rigid", self._rigid.state())
        return {
            "estimator": np.asarray(self._KIND), "version": np.asarray(STATE_VERSION),
            "forgetting": np.asarray(self._forgetting), "tare": self.tared.copy(), "last_stamp": np.asarray(last),
            **nested("regressor", describe(self.regressor)), **nested("bank", self._bank.state()),
            **nested("weights", self.weights.state()), **nested("signal", self._signal.state()),
            **nested("speed", self._speed.state()),
            **{name: value for name, value in rigid.items() if not name.startswith("rigid.regressor.")},
            **({} if self._adaptive is None else nested("adaptive", self._adaptive.state())),
        }  # fmt: skip

    @classmethod
    def from_state(cls: type[EstimatorT], state: dict[str, Any], regressor: Regressor | None = None) -> EstimatorT:
        """Rebuild from `state`, for the given regressor or the one described there. Raises StateError."""
        regressor = matching_regressor(state, cls._KIND, regressor)
        with reading_state("an estimator"):
            if "version" not in state or scalar(state, "version") < STATE_VERSION:
                text = "the model was learned by an earlier release, in another form; let this release learn it anew"
                raise StateError(f"{text}, or go on with the release that saved it", name="version")
            check_version(state, STATE_VERSION)
            rigid, forgetting, bank = None, float(scalar(state, "forgetting")), part(state, "bank")
            if any(key.startswith("rigid.") for key in state):
                own = part(state, "rigid") | nested("regressor", part(state, "regressor"))
                rigid = ParametricEstimator.from_state(own, regressor)
            made, n_features = cls.__new__(cls), 2 * len(np.atleast_1d(bank["frequencies"]))
            JointEstimator.__init__(made, regressor, rigid, n_features, forgetting, int(scalar(bank, "seed")))
            made._bank.restore(bank)
            made.weights = made.weights.restored(part(state, "weights"))
            made._signal = made._signal.restored(part(state, "signal"))
            made._speed = made._speed.restored(part(state, "speed"))
            if any(key.startswith("adaptive.") for key in state):
                made._adaptive = AdaptiveForgetting.from_state(part(state, "adaptive"), regressor.n_outputs)
            made.tared = vector("tare", state["tare"], regressor.n_outputs).copy()
            made._last_stamp = last if (last := int(scalar(state, "last_stamp"))) >= 0 else None
        made.ledger = Ledger.from_state(state, made.n_samples)
        return made
