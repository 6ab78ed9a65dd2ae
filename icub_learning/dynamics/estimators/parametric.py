"""Inverse dynamics by rigid-body parameters alone."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icub_learning.arrays import Array, integer, real, vector
from icub_learning.dynamics.estimators.noise.fading import UsualLeverage, UsualSpeed, unlearned_share
from icub_learning.dynamics.estimators.noise.noise_variance import OutputNoise
from icub_learning.dynamics.estimators.prediction import MotionInputs, Prediction, motion_vectors, seconds_between
from icub_learning.dynamics.estimators.saved_states import check_poolable, describe, matching_regressor, with_columns
from icub_learning.dynamics.motion.joint_states import LARGEST_EFFORT
from icub_learning.dynamics.regressors.regressor import Regressor, offset_indices, relative_regularization
from icub_learning.dynamics.settings import AUTOMATIC, DEFAULTS, first_forgetting
from icub_learning.errors import ParameterError, StateError
from icub_learning.models import check_version, nested, part, reading_state, scalar
from icub_learning.models.ledger import Accountable, Ledger
from icub_learning.recursive import AdaptiveForgetting, Certainty, RecursiveLeastSquares
from icub_learning.recursive.checks import faded, finite_rows

STATE_VERSION = 3  # version of the saved state; in 2 a tare had shifted the offsets and what the prior pulls them to


class ParametricPredictor(NamedTuple):
    """The Predictor of a parametric estimator."""

    regressor: Regressor
    parameters: Array
    certainty: RecursiveLeastSquares | Certainty
    noise: Array
    order: NDArray[np.intp]  # order of the columns in the factor
    weights: Array  # weights of the outputs
    usual: Array  # usual leverages (n_outputs,)

    def unlearned(self, rows: Array) -> Array:
        """Return the variance (n_outputs,) of what was not learned of a motion, over that of the usual errors.

        `rows` (n_outputs, n_parameters) are the regressor's.
        """
        weighted = self.weights[:, None] * rows.take(self.order, axis=1)
        return unlearned_share(np.asarray(self.certainty.leverage(weighted)), self.usual)

    def answer(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, as_known: bool = False) -> Prediction:
        """Predict at once; the variance is found when it is asked for, and is the motion's own even if `as_known`."""
        rows = self.regressor(*motion_vectors(self.regressor.n_joints, q, v, a))
        total = rows @ self.parameters
        return Prediction(total, total, np.zeros(len(total)), lambda: self.noise * (1.0 + self.unlearned(rows)))

    def predict(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Prediction:
        made = self.answer(q, v, a)
        made.settle()
        return made


class ParametricEstimator(Accountable):
    """Learns the inertial parameters pi of y = Phi(q, v, a) pi, sample by sample.

    Each sample is one row of Phi per output, rotated into the same factor (thesis 8.2.3-8.2.4, eq. 8.4). Only the
    identifiable combinations of the parameters are determined by data; the regularization decides the others.

    By default each output counts by how well it is known: weighted least squares, the usual way to identify robots
    (Gautier, "Dynamic identification of robots with power model", 1997), with the estimated noise; see OutputNoise.

    Args:
        regressor: a WrenchRegressor or TorqueRegressor.
        regularization: lambda > 0 of eq. 8.4, in the squared units of the regressor's rows; for each parameter times
            its `relative_regularization`.
        forgetting: in [1e-30, 1], factor on the weight of a sample with each further one; "auto": 1 until errors show a
            change, see AdaptiveForgetting.
        prior: "zero" starts at pi = 0 as the thesis does; "nominal" starts at, and is drawn towards, the URDF's values.
        output_weights: "noise": as above; "equal": all outputs count alike, as in the thesis.
        offset_forgetting: in [1e-30, 1]; what is known of the offsets fades by this factor with each sample, so they
            may drift while masses and frictions stay what all samples say; see RecursiveLeastSquares.fade.

    Raises:
        ParameterError: an argument is outside its range.
    """

    def __init__(
        self, regressor: Regressor, regularization: float = DEFAULTS.parametric_regularization,
        forgetting: float | str = DEFAULTS.forgetting, prior: str = DEFAULTS.prior,
        output_weights: str = DEFAULTS.output_weights, offset_forgetting: float = DEFAULTS.offset_forgetting,
    ) -> None:  # fmt: skip
        if prior not in ("zero", "nominal"):
            raise ParameterError("prior", prior, "'zero' or 'nominal'")
        self.regressor, self.output_weights = regressor, output_weights
        regularization = real("regularization", regularization, 0.0, low_open=True)
        self._offset_forgetting = real("offset_forgetting", offset_forgetting, 0.0, 1.0, low_open=True)
        self._offsets = offset_indices(regressor)
        first = np.asarray(self._offsets, dtype=np.intp)  # columns that may drift: see RecursiveLeastSquares.fade
        self._order = np.concatenate([first, np.setdiff1d(np.arange(regressor.n_parameters), first)])
        initial = regressor.nominal_parameters[self._order, None] if prior == "nominal" else None
        own = regularization * relative_regularization(regressor)[self._order]
        self._rls = RecursiveLeastSquares(regressor.n_parameters, 1, own, initial_weights=initial)
        self.forget_by(forgetting)
        self._last_stamp: int | None = None
        self._outputs = OutputNoise(output_weights, regressor.n_outputs)
        self._usual, self._speed = UsualLeverage(regressor.n_outputs), UsualSpeed()
        self.tared, self.ledger = np.zeros(regressor.n_outputs), Ledger()

    @property
    def n_samples(self) -> int:
        """Number of samples (not rows) learned."""
        return self._rls.n_samples // self.regressor.n_outputs

    @property
    def changes(self) -> int:
        """Number of changes of the robot that errors showed, after which it forgot; 0 if `forgetting` is a number."""
        return 0 if self._adaptive is None else self._adaptive.changes

    @property
    def parameters(self) -> Array:
        """Current estimate of pi, (n_parameters,), named by `regressor.parameter_names`; a copy."""
        parameters = np.empty(self.regressor.n_parameters)
        parameters[self._order] = self._rls.live_weights[0]
        parameters[list(self._offsets)] += self.tared[: len(self._offsets)]
        return parameters

    @property
    def prior(self) -> tuple[Array, Array]:
        """Precision and mean of each parameter before any data, (n_parameters,) each."""
        precision, mean = np.empty((2, self.regressor.n_parameters))
        precision[self._order], mean[self._order] = self._rls.regularization, self._rls.initial_weights[:, 0]
        return precision, mean

    @property
    def base_parameters(self) -> Array:
        """Base parameters (identifiable combinations) of the current estimate, (n_base,)."""
        return self.regressor.base_projection @ self.parameters

    @property
    def information(self) -> Array:
        """What the samples say about the parameters: the inverse of a covariance, (n_parameters, n_parameters). It
        leaves out the regularization. Its unit is that of the noise of the noisiest output: all are weighted to it."""
        factor = self._rls.factor
        gathered = (factor.T @ factor - np.diag(self._rls.prior)) / self._variance_of_rows
        information: Array = np.empty_like(gathered)
        information[np.ix_(self._order, self._order)] = gathered
        return information

    @property
    def left(self) -> Array:
        """Mean square (n_outputs,) of what today's parameters leave of all samples; zero before the first one."""
        return self._outputs.noise.known

    @property
    def base_deviations(self) -> Array:
        """Standard deviations of the base parameters, (n_base,)."""
        half = np.linalg.solve(self._rls.factor.T, self.regressor.base_projection[:, self._order].T)
        return np.asarray(np.sqrt((half**2).sum(axis=0) * self._variance_of_rows))

    @property
    def _variance_of_rows(self) -> float:
        noise = self._outputs.noise
        return float(np.mean(self._outputs.weights**2 * noise.value)) if noise.n_samples else 1.0

    def predict(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Prediction:
        return self.predictor(self.regressor, live=True).predict(q, v, a)

    def predictor(self, regressor: Regressor, live: bool = False) -> ParametricPredictor:
        """Return a snapshot for another thread or, with `live`, a predictor that holds until the next sample.

        `regressor` is that thread's own for the same robot.
        """
        certainty = self._rls if live else self._rls.certainty()
        noise, weights, usual = self._outputs.noise.value, self._outputs.weights, self._usual.value
        return ParametricPredictor(regressor, self.parameters, certainty, noise, self._order, weights, usual)

    def update(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, y: ArrayLike, known: MotionInputs | None = None,
        stamp: int | None = None, published: Prediction | None = None, count: int = 1,
    ) -> None:  # fmt: skip
        """Learn one measurement y (n_outputs,), which stands for `count` samples; arguments and errors as in Estimator.

        Neither `known` nor `published` is used: true parameters are estimated best from the best known motion.
        """
        usual, count, m = self._usual.value, integer("count", count, 1), self.regressor.n_outputs
        inner = finite_rows("y", vector("y", y, m) - self.tared, m, LARGEST_EFFORT)
        motion = motion_vectors(self.regressor.n_joints, q, v, a)
        elapsed, share = seconds_between(self._last_stamp, stamp), self._speed.share(motion[1])
        if self._adaptive is None:
            self._rls.forgetting = faded(self._forgetting, count)
        try:
            innovation, leverage = self.learn(self.regressor(*motion), inner, count, share)
        finally:  # a sample that is refused changes nothing
            if self._adaptive is None:
                self._rls.forgetting = self._forgetting
        self._speed.update(motion[1], share, elapsed)
        self._last_stamp = stamp
        if self._adaptive is not None:
            self._rls.forgetting = self._adaptive.follow(innovation, unlearned_share(leverage, usual), elapsed)

    def forget_by(self, forgetting: float | str) -> None:
        """Forget from now on as a new estimator with this `forgetting` would. Raises ParameterError."""
        self._forgetting = self._rls.forgetting = first_forgetting(forgetting)  # for one sample
        self._adaptive = AdaptiveForgetting(self.regressor.n_outputs) if forgetting == AUTOMATIC else None

    def forget(self, factor: float) -> None:
        """Let each further sample reduce the weight of earlier ones by `factor`, or the next one alone where forgetting
        is automatic. Raises ParameterError."""
        self._rls.forgetting = factor
        if self._adaptive is None:
            self._forgetting = factor

    def body_changed(self, ratio: float) -> None:
        """Forget at once, if forgetting is automatic, what was learned before a change that is known.

        `ratio` is the mean squared error after the change over that before it.
        """
        if self._adaptive is not None:
            self._adaptive.change(ratio)

    def learn(self, rows: Array, measured: Array, count: int = 1, share: float = 1.0) -> tuple[Array, Array]:
        """Learn one measurement (n_outputs,), which stands for `count` samples, from the regressor's rows (n_outputs,
        n_parameters). For the noise it counts by a share in [0, 1], see UsualSpeed. Return the error of the prediction
        made before and its leverage, (n_outputs,) each.
        """
        innovation, leverage, told = self._rls.observe(rows, measured, self._outputs.weights, self._order, count)
        self._outputs.add(told, measured, share)
        self._usual.update(leverage, self._rls.forgetting)
        if self._offset_forgetting < 1.0:
            self._rls.fade(len(self._offsets), faded(self._offset_forgetting, count))
        return innovation, leverage

    def tare(self, change: ArrayLike) -> None:
        """Shift the offsets at once: all that was learned is kept, as if every measurement had been larger by this.

        For a sensor that was set to zero or whose offset jumped; `change` (n_outputs,) is what was measured minus what
        was predicted, averaged over some samples with nothing in the robot's hand. Raises ParameterError: the regressor
        has no offsets, or they would be too large; ShapeError, NotFiniteError; nothing changes then.
        """
        if not self._offsets:
            raise ParameterError("sensor_offset", False, "true: there are no offsets to move")
        m = len(self.tared)
        self.tared = finite_rows("change", self.tared + vector("change", change, m), m, LARGEST_EFFORT)

    def merge(self, other: "ParametricEstimator", common: "ParametricEstimator | None" = None) -> None:
        """Pool the data of another estimator of the same regressor; samples of both count once, see Ledger. Each keeps
        its own tare.

        With equal output weights it is as if one had seen all samples; otherwise each sample keeps the weights, by
        noise, of the estimator that learned it. Raises ParameterError: joints, outputs, sensor or parameters differ, or
        a common one is needed; nothing changes then.
        """
        check_poolable(self, other)
        self.ledger.merge(self, other, common, self.pool)

    def pool(self, other: "ParametricEstimator", common: "ParametricEstimator | None" = None) -> None:
        """Pool the data of another estimator, those of `common` once, whatever the ledgers say; errors as `merge`."""
        if common is not None and other._offset_forgetting < 1.0:  # of what both know, some has faded in the other
            bound = "1.0 in models that share samples: set it, and start that robot anew (~/reset)"
            raise ParameterError("offset_forgetting", other._offset_forgetting, bound)
        self._rls.merge(other._rls, None if common is None else common._rls)
        self._outputs.noise.merge(other._outputs.noise, 0 if common is None else common._outputs.noise.n_samples)
        self._usual.merge(other._usual)

    def state(self) -> dict[str, Array]:
        """Return all that was learned and the regressor's description, as a dict of arrays; see `from_state`."""
        return {
            "estimator": np.asarray("parametric"), "version": np.asarray(STATE_VERSION),
            "columns": np.asarray(self.regressor.parameter_names)[self._order],
            "output_weights": np.asarray(self.output_weights), "offset_forgetting": np.asarray(self._offset_forgetting),
            "last_stamp": np.asarray(-1 if self._last_stamp is None else self._last_stamp), "tare": self.tared.copy(),
            **nested("regressor", describe(self.regressor)), **nested("rls", self._rls.state()),
            **self._outputs.state(), **nested("usual", self._usual.state()), **nested("speed", self._speed.state()),
            **({} if self._adaptive is None else nested("adaptive", self._adaptive.state())),
        }  # fmt: skip

    @classmethod
    def from_state(cls, state: dict[str, Any], regressor: Regressor | None = None) -> "ParametricEstimator":
        """Rebuild from `state`, for the given regressor or the one described there. Raises StateError.

        A given regressor may have parameters that the saved model lacks, offsets of the sensor that it did not learn,
        say; they start as in a new estimator.
        """
        regressor = matching_regressor(state, "parametric", regressor, may_lack_parameters=True)
        with reading_state("an estimator"):
            kind, forgetting = str(scalar(state, "output_weights")), float(scalar(state, "offset_forgetting"))
            estimator = cls(regressor, forgetting=1.0, output_weights=kind, offset_forgetting=forgetting)
            if "version" in state or "last_stamp" in state:  # models of earlier releases have none of these
                check_version(state, STATE_VERSION if "tare" in state else 2)
                estimator._last_stamp = last if (last := int(scalar(state, "last_stamp"))) >= 0 else None
                estimator._speed = UsualSpeed.from_state(part(state, "speed"))
            estimator.tared = vector("tare", state.get("tare", estimator.tared), regressor.n_outputs).copy()
        saved = RecursiveLeastSquares.from_state(part(state, "rls"))
        columns = [str(name) for name in np.atleast_1d(state.get("columns", ()))]
        if (saved.n_features, saved.n_outputs) != (len(columns), 1):
            raise StateError(f"saved weights {saved.weights.shape} do not fit ({len(columns)}, 1)")
        wanted = [regressor.parameter_names[index] for index in estimator._order]
        if not set(columns) <= set(wanted):
            raise StateError("saved weights are those of other parameters", value=columns, bound=str(wanted))
        estimator._rls, estimator._forgetting = with_columns(saved, columns, estimator._rls, wanted), saved.forgetting
        if "tare" not in state:
            shifted, n = estimator._rls.initial_weights, len(estimator._offsets)
            estimator.tared[:n], shifted[n:] = shifted[:n, 0], 0.0
            estimator._rls.shift(-shifted)
        if any(key.startswith("adaptive.") for key in state):
            estimator._adaptive = AdaptiveForgetting.from_state(part(state, "adaptive"), regressor.n_outputs)
        estimator._outputs = estimator._outputs.restored(state)
        estimator._usual = UsualLeverage.from_state(part(state, "usual"), regressor.n_outputs)
        estimator.ledger = Ledger.from_state(state, estimator.n_samples)
        return estimator
