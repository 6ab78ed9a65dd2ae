"""Inverse dynamics by rigid-body parameters first and random features for what they leave."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array, vector
from icub_learning.dynamics.noise_variance import NoiseVariance
from icub_learning.dynamics.nonparametric import motion_scale
from icub_learning.dynamics.parametric import ParametricEstimator
from icub_learning.dynamics.prediction import MotionInputs, Prediction
from icub_learning.dynamics.random_feature_learner import RandomFeatureLearner
from icub_learning.dynamics.regressor import Regressor
from icub_learning.dynamics.residual_targets import ResidualTargets
from icub_learning.dynamics.states import check_kind
from icub_learning.errors import ParameterError, StateError
from icub_learning.models import nested, part


class SemiparametricEstimator:
    """The prioritized estimator of the thesis (8.3, fig. 8.2): y = Phi(x) pi + f([x, Phi(x) pi]).

    The parametric part learns y first, independently of the other. The nonparametric part sees the joint state and the
    parametric prediction made then, standardized, and learns what the rigid body leaves: of all samples under today's
    parameters (ResidualTargets).

    Args:
        regressor: a WrenchRegressor or TorqueRegressor.
        n_random_features, length_scale, nonparametric_regularization, n_warm_up, seed: see RandomFeatureLearner.
        parametric_regularization, prior: see ParametricEstimator.
        forgetting: in (0, 1], of both parts.

    Raises:
        ParameterError: an argument is outside its range.
    """

    def __init__(
        self,
        regressor: Regressor,
        n_random_features: int = 1000,
        length_scale: float = 5.0,
        parametric_regularization: float = 10.0,
        nonparametric_regularization: float = 0.003,
        forgetting: float = 1.0,
        prior: str = "zero",
        n_warm_up: int = 200,
        seed: int = 0,
    ) -> None:
        self.regressor = regressor
        self.parametric = ParametricEstimator(regressor, parametric_regularization, forgetting, prior)
        self._targets = ResidualTargets(regressor)
        self._noise = NoiseVariance(regressor.n_outputs)
        self._learner = RandomFeatureLearner(
            np.concatenate([motion_scale(regressor.n_joints), np.zeros(regressor.n_outputs)]),
            self._targets.n_targets,
            n_random_features=n_random_features,
            length_scale=length_scale,
            regularization=nonparametric_regularization,
            forgetting=forgetting,
            n_warm_up=n_warm_up,
            seed=seed,
        )

    @property
    def n_samples(self) -> int:
        """How many samples were learned."""
        return self.parametric.n_samples

    def predict(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Prediction:
        """Predict from position, velocity, acceleration, each (n_joints,). Raises ShapeError, NotFiniteError."""
        x, rows = self._inputs(q, v, a)
        parametric = self.parametric.predict_rows(rows)
        residual, leverage = self._residual(np.concatenate([x, parametric]))
        return Prediction(parametric + residual, parametric, residual, self._noise.value * (1.0 + leverage))

    def update(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, y: ArrayLike, known: MotionInputs | None = None) -> None:
        """Learn one measurement y (n_outputs,). Raises ShapeError, NotFiniteError, ParameterError: unchanged then.

        Args:
            q, v, a: position, velocity and acceleration at the instant of the measurement, each (n_joints,).
            y: measured outputs (n_outputs,).
            known: the motion of the same instant as it was known when y had to be predicted; the same if None. The
                parametric part learns from q, v, a, the nonparametric one from this, see NonparametricEstimator.update.
        """
        measured = vector("y", y, self.regressor.n_outputs)
        x, rows = self._inputs(q, v, a)
        known_rows = rows
        if known is not None:
            x, known_rows = self._inputs(*known)
        predicted = self.parametric.predict_rows(known_rows)
        z = np.concatenate([x, predicted])
        residual, leverage = self._residual(z)
        was_ready = self._learner.ready
        self._learner.update(z, self._targets.split(measured, known_rows))
        self._noise.update(measured - predicted - residual, leverage)
        if self._learner.ready != was_ready:
            self._noise = NoiseVariance(self.regressor.n_outputs)  # what was before is that of rigid bodies alone
        self.parametric.learn(rows, measured)

    def merge(self, other: "SemiparametricEstimator") -> None:
        """Pool what another estimator with the same regressor and features learned.

        As if one had seen all samples, but for the parametric predictions among the features' inputs: they stay those
        that either robot made then.

        Raises:
            ParameterError: regressor, features or input scales differ; nothing changes then.
        """
        if type(other) is not type(self):
            raise ParameterError("other", type(other).__name__, "a SemiparametricEstimator")
        self.parametric.check_poolable(other.parametric)
        self._learner.merge(other._learner)
        self._noise.merge(other._noise)
        self.parametric.merge(other.parametric)

    def state(self) -> dict[str, Array]:
        """All that was learned and the regressor's description, as a dict of arrays; see `from_state`."""
        return {
            "estimator": np.asarray("semiparametric"),
            **nested("parametric", self.parametric.state()),
            **nested("learner", self._learner.state()),
            **nested("noise", self._noise.state()),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], regressor: Regressor | None = None) -> "SemiparametricEstimator":
        """Rebuild from `state`, for the given regressor or the one described there. Raises StateError."""
        check_kind(state, "semiparametric")
        parametric = ParametricEstimator.from_state(part(state, "parametric"), regressor)
        regressor = parametric.regressor
        estimator = cls(regressor, n_random_features=2)
        estimator.parametric = parametric
        estimator._learner = RandomFeatureLearner.from_state(part(state, "learner"))
        expected = (3 * regressor.n_joints + regressor.n_outputs, estimator._targets.n_targets)
        if (estimator._learner.n_inputs, estimator._learner.n_outputs) != expected:
            saved = (estimator._learner.n_inputs, estimator._learner.n_outputs)
            raise StateError(f"saved learner has (inputs, targets) {saved}, not {expected}")
        estimator._noise = NoiseVariance.from_state(part(state, "noise"), regressor.n_outputs)
        return estimator

    def _residual(self, x: Array) -> tuple[Array, float]:
        learned, leverage = self._learner.predict(x)
        return self._targets.join(learned, self.parametric.parameters), leverage

    def _inputs(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> tuple[Array, Array]:
        n = self.regressor.n_joints
        position, velocity, acceleration = vector("q", q, n), vector("v", v, n), vector("a", a, n)
        rows = self.regressor(position, velocity, acceleration)
        return np.concatenate([position, velocity, acceleration]), rows
