"""The interface that all estimators of inverse dynamics share: what they predict, and learn from."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array, integer, vector
from icub_learning.dynamics import _checks
from icub_learning.dynamics.motion.motion import at_turn
from icub_learning.dynamics.settings import DEFAULTS
from icub_learning.recursive.checks import LARGEST_VALUE, finite_rows

MotionInputs = tuple[ArrayLike, ArrayLike, ArrayLike]  # position, velocity and acceleration, each (n_joints,)
USUAL_PERIOD = 0.01  # [s] time between samples that come without stamps
LARGEST = sqrt(LARGEST_VALUE)  # bound of regressors: their squares are learned from, too
# Bounds of q, v and a [rad, s (m, s)]: one sample far beyond them leaves NaN behind. What is estimated from positions
# that JointStateReader takes, whatever they are, stays below them with joint states 1 us apart or more.
LARGEST_MOTION = np.array([1e8, 1e8, 1e12])
LONGEST_PERIOD = DEFAULTS.max_gap  # [s] a longer pause counts as this long: what was learned before it still holds


@dataclass(frozen=True)
class Prediction:
    """One prediction, each field (n_outputs,) in the units of the outputs (N and Nm, or that of the efforts).

    Attributes:
        total: the prediction: parametric plus residual.
        parametric: the rigid-body part (with friction, where the regressor has it); zero for a nonparametric estimator.
        residual: the nonparametric part; zero for a parametric estimator.
        spread: the variance, or what computes it at the first query: an answer does not wait for it.
        experts: what each expert of a combination predicted; None where there are none.
    """

    total: Array
    parametric: Array
    residual: Array
    spread: Array | Callable[[], Array]
    experts: Any = None

    @cached_property
    def variance(self) -> Array:
        """Variance of a measurement about `total`, squared units: noise, and what is not known of the motion.

        Infinite before the first sample.
        """
        found = spread() if callable(spread := self.spread) else spread  # another thread may settle it meanwhile
        vars(self)["spread"] = found  # what computed it holds the learner
        return found

    def settle(self) -> Array:
        """Find what an answer does not wait for, how well its motion is known; return its variance (n_outputs,)."""
        variance = self.variance
        if self.experts is not None:
            self.experts.settle()
        return variance

    def plus(self, added: Array, variance: Array | float = 0.0) -> "Prediction":
        """Return this prediction, without experts, with `added`, of its own variance, on top of rigid bodies."""
        return Prediction(self.total + added, self.parametric + added, self.residual, lambda: self.variance + variance)


def motion_vectors(n_joints: int, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> tuple[Array, Array, Array]:
    """Return q, v and a as arrays (n_joints,). Raises ShapeError, NotFiniteError, ParameterError (LARGEST_MOTION)."""
    motion: Any = (q, v, a)
    if not (type(q) is type(v) is type(a) is np.ndarray and _checks.finite_vectors(motion, n_joints, LARGEST_MOTION)):
        motion = vector("q", q, n_joints), vector("v", v, n_joints), vector("a", a, n_joints)
        for name, values, largest in zip("qva", motion, LARGEST_MOTION.tolist(), strict=True):
            finite_rows(name, values, n_joints, largest)
    return motion  # type: ignore[no-any-return]


def feature_inputs(regressor: Any, motion: tuple[Array, Array, Array]) -> Array:
    """Return a motion as inputs (3 n_joints,) of features: angles of continuous joints are those within half a turn."""
    inputs: Array = np.concatenate(motion)
    circular = getattr(regressor, "circular", ())  # a regressor of the user's may not have them
    if len(circular):
        inputs[circular] = at_turn(inputs[circular], 0.0)
    return inputs


def seconds_between(last: int | None, stamp: int | None) -> float:
    """Return the time [s] between two stamps [ns], USUAL_PERIOD if one is missing. ParameterError: `stamp` is bad."""
    now = None if stamp is None else integer("stamp", stamp, 0, 2**63 - 1)  # larger ones cannot be saved
    return USUAL_PERIOD if last is None or now is None else min(max((now - last) * 1e-9, 1e-6), LONGEST_PERIOD)


class Predictor(Protocol):
    """An estimator, or a snapshot of one: later learning changes only the weights of experts of NP and SP in it."""

    def predict(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Prediction:
        """Predict from q, v and a, (n_joints,) each. Raises ShapeError, NotFiniteError, ParameterError (too large)."""


class Estimator(Predictor, Protocol):
    """What predicts and learns."""

    def update(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, y: ArrayLike, known: MotionInputs | None = None,
        stamp: int | None = None, published: Prediction | None = None,
    ) -> None:  # fmt: skip
        """Learn one measurement y (n_outputs,). Raises ShapeError, NotFiniteError, ParameterError: unchanged then.

        Args:
            q, v, a: position, velocity and acceleration at the instant of the measurement, each (n_joints,).
            y: measured outputs (n_outputs,).
            known: the motion of the same instant as it was known when y had to be predicted; None: q, v and a.
            stamp: ns, of the measurement; without it samples count as USUAL_PERIOD apart.
            published: the prediction of this estimator or its predictor from `known`, which `judge` has had; None: it
                is predicted and judged here.
        """
