"""Inverse dynamics by rigid-body parameters alone."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array, vector
from icub_learning.dynamics.estimators.noise_variance import NoiseVariance
from icub_learning.dynamics.estimators.prediction import MotionInputs, Prediction, motion_vectors
from icub_learning.dynamics.estimators.saved_states import check_kind, describe, matching_regressor
from icub_learning.dynamics.regressors.base_parameters import base_values
from icub_learning.dynamics.regressors.regressor import Regressor
from icub_learning.dynamics.settings import DEFAULTS
from icub_learning.errors import ParameterError, StateError
from icub_learning.models import nested, part
from icub_learning.recursive import Certainty, RecursiveLeastSquares


@dataclass(frozen=True)
class ParametricPredictor:
    """The Predictor of a parametric estimator."""

    regressor: Regressor
    parameters: Array
    certainty: RecursiveLeastSquares | Certainty
    noise: Array

    def predict(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Prediction:
        """Predict from position, velocity, acceleration, each (n_joints,). Raises ShapeError, NotFiniteError."""
        rows = self.regressor(*motion_vectors(self.regressor.n_joints, q, v, a))
        total = rows @ self.parameters
        return Prediction(
            total, total, np.zeros_like(total), lambda: self.noise * (1.0 + self.certainty.leverage(rows))
        )


class ParametricEstimator:
    """Learns the inertial parameters pi of y = Phi(q, v, a) pi, sample by sample.

    Each sample is one row of Phi per output, rotated into the same factor (thesis 8.2.3-8.2.4, eq. 8.4). Only the
    identifiable combinations of the parameters are determined by data; the regularization decides the others.

    Args:
        regressor: a WrenchRegressor or TorqueRegressor.
        regularization: lambda > 0 of eq. 8.4, in the squared units of the regressor's rows.
        forgetting: in (0, 1]; weight of a sample after each further one.
        prior: "zero" starts at pi = 0 as the thesis does; "nominal" starts at, and is drawn towards, the URDF's values.

    Raises:
        ParameterError: an argument is outside its range.
    """

    def __init__(
        self,
        regressor: Regressor,
        regularization: float = DEFAULTS.parametric_regularization,
        forgetting: float = DEFAULTS.forgetting,
        prior: str = DEFAULTS.prior,
    ) -> None:
        if prior not in ("zero", "nominal"):
            raise ParameterError("prior", prior, "'zero' or 'nominal'")
        self.regressor = regressor
        initial = regressor.nominal_parameters[:, None] if prior == "nominal" else None
        self._rls = RecursiveLeastSquares(regressor.n_parameters, 1, regularization, forgetting, initial)
        self._noise = NoiseVariance(regressor.n_outputs)

    @property
    def n_samples(self) -> int:
        """Number of samples (not rows) learned."""
        return self._rls.n_samples // self.regressor.n_outputs

    @property
    def parameters(self) -> Array:
        """Current estimate of pi, (n_parameters,), named by `regressor.parameter_names`; a copy."""
        return self._rls.weights[:, 0]

    @property
    def base_parameters(self) -> Array:
        """Base parameters (identifiable combinations) of the current estimate, (n_base,)."""
        return base_values(self.regressor, self.parameters)

    def predict(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Prediction:
        """Predict from position, velocity, acceleration, each (n_joints,). Raises ShapeError, NotFiniteError."""
        return self._predictor(self.regressor, self._rls).predict(q, v, a).evaluated()

    def predictor(self, regressor: Regressor) -> "ParametricPredictor":
        """Return a snapshot for another thread; `regressor` is that thread's own for the same robot."""
        return self._predictor(regressor, self._rls.certainty())

    def _predictor(self, regressor: Regressor, certainty: RecursiveLeastSquares | Certainty) -> "ParametricPredictor":
        return ParametricPredictor(regressor, self.parameters, certainty, self._noise.value)

    def update(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, y: ArrayLike, known: MotionInputs | None = None) -> None:
        """Learn one measurement y (n_outputs,). Raises ShapeError, NotFiniteError, ParameterError: unchanged then.

        `known` is not used: parameters have true values, which are estimated best from the motion as it is known best.
        It is for features, see NonparametricEstimator.update.
        """
        self.learn(self._rows(q, v, a), y)

    def learn(self, rows: Array, y: ArrayLike) -> Array:
        """Learn one measurement from the regressor's rows; returns the error of the prediction made before it."""
        measured = vector("y", y, self.regressor.n_outputs)
        innovation = measured - self._rls.predict(rows)[:, 0]
        leverage = self._rls.leverage(rows)
        self._rls.update(rows, measured[:, None], same_instant=True)
        self._noise.update(innovation, leverage)
        return innovation

    def check_poolable(self, other: "ParametricEstimator") -> None:
        """Raise ParameterError unless `other` estimates the same parameters."""
        if type(other) is not type(self) or other.regressor.parameter_names != self.regressor.parameter_names:
            raise ParameterError("other", type(other).__name__, "a ParametricEstimator of the same parameters")

    def merge(self, other: "ParametricEstimator") -> None:
        """Pool the data of another estimator of the same regressor. Raises ParameterError; nothing changes then."""
        self.check_poolable(other)
        self._rls.merge(other._rls)
        self._noise.merge(other._noise)

    def state(self) -> dict[str, Array]:
        """Return all that was learned and the regressor's description, as a dict of arrays; see `from_state`."""
        return {
            "estimator": np.asarray("parametric"),
            **nested("regressor", describe(self.regressor)),
            **nested("rls", self._rls.state()),
            **nested("noise", self._noise.state()),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], regressor: Regressor | None = None) -> "ParametricEstimator":
        """Rebuild from `state`, for the given regressor or the one described there. Raises StateError."""
        check_kind(state, "parametric")
        regressor = matching_regressor(state, regressor)
        estimator = cls(regressor)
        estimator._rls = RecursiveLeastSquares.from_state(part(state, "rls"))
        if (estimator._rls.n_features, estimator._rls.n_outputs) != (regressor.n_parameters, 1):
            raise StateError(f"saved weights {estimator._rls.weights.shape} do not fit ({regressor.n_parameters}, 1)")
        estimator._noise = NoiseVariance.from_state(part(state, "noise"), regressor.n_outputs)
        return estimator

    def _rows(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        return self.regressor(*motion_vectors(self.regressor.n_joints, q, v, a))
