"""A learner of inverse dynamics from outside this package, as the node, the commands and model files need it."""

import copy
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array, vector
from icub_learning.dynamics.estimators.noise.noise_variance import NoiseVariance
from icub_learning.dynamics.estimators.prediction import MotionInputs, Prediction, motion_vectors
from icub_learning.dynamics.estimators.saved_states import check_poolable, describe, matching_regressor
from icub_learning.dynamics.regressors.regressor import Regressor
from icub_learning.dynamics.settings import LEARNER
from icub_learning.models import nested, part, reading_state
from icub_learning.models.ledger import Accountable, Ledger
from icub_learning.own_class import OwnClass, running_own
from icub_learning.recursive.checks import LARGEST_VALUE, finite_rows

LearnerT = TypeVar("LearnerT", bound="OwnLearner")


@dataclass(frozen=True)
class OwnPredictor:
    """Predicts with a learner, or a snapshot of one."""

    own: Any  # has `predict`, which returns the outputs (n_outputs,)
    regressor: Regressor  # gives the numbers of joints and outputs
    added: Array  # (n_outputs,), tare of its predictions
    variance: Array  # (n_outputs,), variance of a measurement about a prediction
    path: str  # of the class, for messages

    def predict(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Prediction:
        """Predict from position, velocity, acceleration, each (n_joints,). Raises ShapeError, NotFiniteError or
        ParameterError for such inputs, or for what the learner returns."""
        motion, m = motion_vectors(self.regressor.n_joints, q, v, a), self.regressor.n_outputs
        total = _bounded(f"prediction of {self.path}", self.own.predict(*motion), m) + self.added
        return Prediction(total, np.zeros(m), total.copy(), self.variance.copy())


class OwnLearner(OwnClass, Accountable):
    """Adapter of a class that has `predict`, `update`, `state` and `from_state`; see OwnClass.of.

    The learner is called with what predictions are made from: the motion as it was known before the measurement came.
    Its snapshots are deep copies, or what its `predictor(regressor)` returns if it has one. The variance is the mean
    square of its newest errors. A sample that stands for several, where others were left out, counts once.

    Attributes:
        learner: object of the class, made from the regressor (ParameterError with what its constructor raised).
    """

    SETTING, METHODS = "estimator", LEARNER

    def __init__(self, regressor: Regressor) -> None:
        self._begin(regressor, self.made(regressor))
        with running_own(self.SETTING, self.path, "able to read its saved state"):  # or it would be lost at a restart
            self.kind.from_state(self.learner.state(), regressor)

    def _begin(self, regressor: Regressor, learner: Any) -> None:
        self.regressor, self.learner = regressor, learner
        self._noise, self.tared = NoiseVariance(regressor.n_outputs), np.zeros(regressor.n_outputs)
        self.ledger = Ledger()

    @property
    def n_samples(self) -> int:
        """Number of samples learned."""
        return self._noise.n_samples

    def predict(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Prediction:
        """See OwnPredictor."""
        return OwnPredictor(self.learner, self.regressor, self.tared, self._noise.value, self.path).predict(q, v, a)

    def predictor(self, regressor: Regressor | None = None) -> OwnPredictor:
        """Return a snapshot for another thread; `regressor` is that thread's own for the same robot."""
        regressor = self.regressor if regressor is None else regressor
        bound = "a class whose objects copy.deepcopy can copy, or with the method predictor"
        with running_own(self.SETTING, self.path, bound):
            if hasattr(self.learner, "predictor"):
                own = self.learner.predictor(regressor)
            else:
                own = copy.deepcopy(self.learner, {id(self.regressor): regressor})
        return OwnPredictor(own, regressor, self.tared, self._noise.value, self.path)

    def update(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, y: ArrayLike, known: MotionInputs | None = None,
        stamp: int | None = None, published: Prediction | None = None, count: int = 1,
    ) -> None:  # fmt: skip
        """Learn one measurement y (n_outputs,); arguments and errors as in the other estimators, and the learner's."""
        n, measured = self.regressor.n_joints, _bounded("y", y, self.regressor.n_outputs)
        motion = motion_vectors(n, q, v, a) if known is None else motion_vectors(n, *known)
        predicted = self.predict(*motion) if published is None else published
        self.learner.update(*motion, measured - self.tared)
        self._noise.update(measured - predicted.total, 0.0)

    def body_changed(self, ratio: float) -> None:
        """Tell the learner, if it has this method, by what ratio its mean squared errors grew with a change."""
        if hasattr(self.learner, "body_changed"):
            self.learner.body_changed(ratio)

    def tare(self, change: ArrayLike) -> None:
        """Shift predictions, and measurements to learn from, by `change` (n_outputs,). Raises ShapeError."""
        self.tared = self.tared + vector("change", change, len(self.tared))

    def merge(self: LearnerT, other: LearnerT, common: LearnerT | None = None) -> None:
        """Pool what another one learned, by `merge(other)` of the class, or `merge(other, common)`; see Ledger. Raises
        ParameterError: the class has no such method, it fails, or regressors differ; and what Ledger.merge raises."""
        check_poolable(self, other)
        self.ledger.merge(self, other, common, self._pool)

    def _pool(self: LearnerT, other: LearnerT, common: LearnerT | None) -> None:
        self.optional(self.learner, "merge")
        bound = "able to merge(other)" if common is None else "able to merge(other, common), as they share samples"
        with running_own(self.SETTING, self.path, bound):
            merged = self.kind.from_state(self.learner.state(), self.regressor)  # a merge may fail halfway
            merged.merge(*(one.learner for one in (other, common) if one is not None))
        self.learner = merged
        self._noise.merge(other._noise, 0 if common is None else common.n_samples)

    def state(self) -> dict[str, Array]:
        """Return all that was learned, as a dict of arrays; see `from_state`."""
        return {
            "estimator": np.asarray(self.path), "tare": self.tared.copy(),
            **nested("regressor", describe(self.regressor)), **nested("learner", self.learner.state()),
            **nested("noise", self._noise.state()),
        }  # fmt: skip

    @classmethod
    def from_state(cls: type[LearnerT], state: dict[str, Any], regressor: Regressor | None = None) -> LearnerT:
        """Rebuild from `state`, for the given regressor or the one described there.

        Raises:
            StateError: the state is that of another class or robot, or is not valid.
            ParameterError: the class cannot read its part.
        """
        regressor, made = matching_regressor(state, cls.path, regressor), cls.__new__(cls)
        with reading_state(f"a {cls.path}"):
            with running_own(cls.SETTING, cls.path, "able to read its saved state"):
                made._begin(regressor, cls.kind.from_state(part(state, "learner"), regressor))
            made._noise = NoiseVariance.from_state(part(state, "noise"), regressor.n_outputs)
            made.tared = vector("tare", np.asarray(state["tare"]), regressor.n_outputs).copy()
        made.ledger = Ledger.from_state(state, made.n_samples)
        return made


def _bounded(name: str, values: ArrayLike, size: int) -> Array:
    return finite_rows(name, vector(name, values, size), size, LARGEST_VALUE)
