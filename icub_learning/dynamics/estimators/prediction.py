"""The prediction interface that all estimators of inverse dynamics share."""

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

    The variance takes longer than all the rest (a leverage reads the whole factor of a learner), so it may be given
    as a function that is called when the attribute is first read.

    Args:
        total, parametric, residual: see the attributes.
        variance: the attribute, or a function that returns it.
        noise, tare: see the attributes.

    Attributes:
        total: the prediction: parametric plus residual.
        parametric: the rigid-body part (with friction, where the regressor has it); zero for a nonparametric estimator.
        residual: the nonparametric part; zero for a parametric estimator.
        variance: variance of a measurement about `total`, squared units: noise, and what is not known of the motion.
            Infinite before the first sample.
        noise: variance of a measurement in a motion that is known; None where the estimator does not tell it.
        tare: offset of the sensor that is contained in `total`, see Tare; (n_outputs,) or 0.
        handed_over: (n_outputs,) or 0, what `total` contains because rigid bodies take the place of features that have
            not learned the motion. The variance, and the watch for loads and contacts, are about errors without it: the
            errors of rigid bodies in a new motion are like those of a load.
        filter_weights: (n_filters, n_outputs) with which an OutputFilter is to filter it; None where it must not.
        filtered: (n_filters, n_outputs), what each filter makes of `total`; None before an OutputFilter.
        unlimited: (n_outputs,), `total` before a SmoothnessFilter changed it; None where none did.
    """

    def __init__(
        self,
        total: Array,
        parametric: Array,
        residual: Array,
        variance: Array | Callable[[], Array],
        noise: Array | None = None,
        tare: Array | float = 0.0,
    ) -> None:
        self.total, self.parametric, self.residual = total, parametric, residual
        self.noise, self.tare = noise, tare
        self.handed_over: Array | float = 0.0
        self.filter_weights: Array | None = None
        self.filtered: Array | None = None
        self.unlimited: Array | None = None
        if callable(variance):
            self._evaluate = variance
        else:
            self.variance = variance

    @cached_property
    def variance(self) -> Array:
        """See the class."""
        value: Array = self.__dict__.pop("_evaluate")()
        return value

    def evaluated(self) -> "Prediction":
        """Evaluate the variance now, so that later learning cannot change it; return self."""
        assert self.variance is not None
        return self


def motion_vectors(n_joints: int, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> tuple[Array, Array, Array]:
    """Return position, velocity and acceleration as arrays (n_joints,). Raises ShapeError, NotFiniteError."""
    motion = (q, v, a)
    if type(q) is type(v) is type(a) is np.ndarray and _checks.finite_vectors(motion, n_joints):
        return motion  # type: ignore[return-value]
    return vector("q", q, n_joints), vector("v", v, n_joints), vector("a", a, n_joints)


class Predictor(Protocol):
    """A snapshot of an estimator that predicts; later learning does not change it."""

    def predict(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Prediction:
        """Predict from position, velocity, acceleration, each (n_joints,). Raises ShapeError, NotFiniteError."""
        ...
