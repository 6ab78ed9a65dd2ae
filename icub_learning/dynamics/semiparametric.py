"""Inverse dynamics by rigid-body parameters first and random features for what they leave."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array, vector
from icub_learning.dynamics.nonparametric import motion_scale
from icub_learning.dynamics.parametric import ParametricEstimator
from icub_learning.dynamics.prediction import Prediction
from icub_learning.dynamics.random_feature_learner import RandomFeatureLearner
from icub_learning.dynamics.regressor import Regressor
from icub_learning.dynamics.states import check_kind
from icub_learning.errors import ParameterError, StateError
from icub_learning.models import nested, part


class SemiparametricEstimator:
    """The prioritized estimator of the thesis (8.3, fig. 8.2): y = Phi(x) pi + f([x, Phi(x) pi]).

    The parametric part learns y first, independently of the other. The nonparametric part sees the joint state and the
    parametric prediction, standardized, and learns what that prediction left, both as they were before the sample.

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
        self._learner = RandomFeatureLearner(
            np.concatenate([motion_scale(regressor.n_joints), np.zeros(regressor.n_outputs)]),
            regressor.n_outputs,
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
        residual, variance = self._learner.predict(np.concatenate([x, parametric]))
        return Prediction(parametric + residual, parametric, residual, variance)

    def update(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, y: ArrayLike) -> None:
        """Learn one measurement y (n_outputs,). Raises ShapeError, NotFiniteError, ParameterError: unchanged then."""
        x, rows = self._inputs(q, v, a)
        parametric = self.parametric.predict_rows(rows)
        innovation = self.parametric.learn(rows, y)
        self._learner.update(np.concatenate([x, parametric]), innovation)

    def merge(self, other: "SemiparametricEstimator") -> None:
        """Pool what another estimator with the same regressor and features learned.

        Both parts are pooled exactly in the samples that each of them learned from; the residuals stay those that
        either robot saw under its own parameters.

        Raises:
            ParameterError: regressor, features or input scales differ; nothing changes then.
        """
        if type(other) is not type(self):
            raise ParameterError("other", type(other).__name__, "a SemiparametricEstimator")
        self.parametric.check_poolable(other.parametric)
        self._learner.merge(other._learner)
        self.parametric.merge(other.parametric)

    def state(self) -> dict[str, Array]:
        """All that was learned and the regressor's description, as a dict of arrays; see `from_state`."""
        return {
            "estimator": np.asarray("semiparametric"),
            **nested("parametric", self.parametric.state()),
            **nested("learner", self._learner.state()),
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
        n_inputs = 3 * regressor.n_joints + regressor.n_outputs
        if (estimator._learner.n_inputs, estimator._learner.n_outputs) != (n_inputs, regressor.n_outputs):
            raise StateError(f"saved learner has {estimator._learner.n_inputs} inputs, not {n_inputs}")
        return estimator

    def _inputs(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> tuple[Array, Array]:
        n = self.regressor.n_joints
        position, velocity, acceleration = vector("q", q, n), vector("v", v, n), vector("a", a, n)
        rows = self.regressor(position, velocity, acceleration)
        return np.concatenate([position, velocity, acceleration]), rows
