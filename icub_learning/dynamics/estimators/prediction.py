"""What every inverse dynamics estimator is asked and answers."""

from collections.abc import Callable
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array, vector
from icub_learning.dynamics import _checks

MotionInputs = tuple[ArrayLike, ArrayLike, ArrayLike]  # position, velocity and acceleration, each (n_joints,)


class Prediction:
    """One prediction, each field (n_outputs,) in the units of the outputs (N and Nm, or that of the efforts).

    A leverage reads the whole factor of a learner, which takes as long as all the rest and more: whoever waits for the
    prediction itself should not wait for its variance.

    Args:
        total, parametric, residual: see the attributes.
        variance: the attribute, or what finds it when it is first asked for.

    Attributes:
        total: the prediction: parametric plus residual.
        parametric: the rigid-body part (with friction, where the regressor has it); zero for a nonparametric estimator.
        residual: the part learned by random features; zero for a parametric estimator.
        variance: of a measurement about `total`, squared units: noise variance times (1 + leverage). Infinite until
            the noise has been seen.
    """

    def __init__(self, total: Array, parametric: Array, residual: Array, variance: Array | Callable[[], Array]) -> None:
        self.total, self.parametric, self.residual = total, parametric, residual
        if callable(variance):
            self._find = variance
        else:
            self.variance = variance

    @cached_property
    def variance(self) -> Array:
        """See the class."""
        return self.__dict__.pop("_find")()

    def settled(self) -> "Prediction":
        """Itself, with the variance found: what learns afterwards cannot change it any more."""
        assert self.variance is not None
        return self


def motion_vectors(n_joints: int, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> tuple[Array, Array, Array]:
    """Position, velocity and acceleration as (n_joints,) each. Raises ShapeError, NotFiniteError."""
    motion = (q, v, a)
    if type(q) is type(v) is type(a) is np.ndarray and _checks.finite_vectors(motion, n_joints):
        return motion  # type: ignore[return-value]
    return vector("q", q, n_joints), vector("v", v, n_joints), vector("a", a, n_joints)


class Predictor(Protocol):
    """What an estimator had learned at one moment: all that predicting takes, and nothing that learning changes."""

    def predict(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Prediction:
        """Predict from position, velocity, acceleration, each (n_joints,). Raises ShapeError, NotFiniteError."""
        ...
