"""How sure to be of a label: the probability that it is right, learned from examples scored before being learned."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from icub_learning.arrays import Array, finite
from icub_learning.errors import StateError

MOST = {"known": 512, "unknown": 64}  # newest outcomes that count
UNKNOWN_SHARE = 0.2  # of the things shown; only so can a probability be given where unknown things are among them
LARGEST_WEIGHT = 4.0  # of an outcome, so that few unknown things do not outweigh all else
STEPS = 20  # of Newton's method, at most
# Coefficients before any outcome, and the precision of that guess in outcomes' worth of curvature.
PRIOR_MEAN = np.array([-3.0, 4.0, 3.0])
PRIOR_PRECISION = np.array([0.1, 0.1, 0.1])


class Confidence:
    """Probability that the class with the largest score is the right one, as a logistic function of two numbers.

    Of recoded scores s_1 >= s_2 >= ...: the relative margin (s_1 - s_2) / s_1, which tells apart known classes that are
    mistaken for each other, and the uncoded score of the first class, which is 1 for an example like those that were
    learned and falls towards 0 for what is like none of them. The three coefficients are the maximum a posteriori of a
    Bayesian logistic regression on outcomes, starting from a guess. An outcome is an example scored before it was
    learned, and whether its label came first; one whose label was not known yet counts as wrong, so that every new
    class teaches what an unknown thing looks like. These are weighted as if one in five things shown were unknown
    (each at most as four others): how many of the examples taught are first ones says nothing about that.
    """

    def __init__(self) -> None:
        self._inputs = {kind: np.zeros((0, 3)) for kind in MOST}
        self._right = np.zeros(0)  # of the known ones
        self._coefficients: Array | None = PRIOR_MEAN.copy()

    def add(self, scores: Array, factors: Array, place: int | None) -> None:
        """Take in one outcome.

        Args:
            scores: (T,), recoded, T >= 1.
            factors: (T,), by which recoding multiplied them.
            place: of the right class among them; None if it is none of them.
        """
        kind = "unknown" if place is None else "known"
        self._inputs[kind] = np.vstack([self._inputs[kind], _inputs(scores, factors)])[-MOST[kind] :]
        if place is not None:
            self._right = np.append(self._right, float(np.argmax(scores) == place))[-MOST[kind] :]
        self._coefficients = None

    def __call__(self, scores: Array, factors: Array) -> float:
        """Probability in [0, 1] that the class with the largest of the scores (T,) is right; 0 if there is none."""
        if not len(scores):
            return 0.0
        if self._coefficients is None:
            known, unknown = self._inputs["known"], self._inputs["unknown"]
            weight = LARGEST_WEIGHT
            if len(unknown):
                share = UNKNOWN_SHARE / (1.0 - UNKNOWN_SHARE)
                weight = min(weight, max(1.0, share * len(known) / len(unknown)))
            inputs = np.concatenate([known, unknown])
            right = np.concatenate([self._right, np.zeros(len(unknown))])
            weights = np.concatenate([np.ones(len(known)), np.full(len(unknown), weight)])
            self._coefficients = _fit(inputs, right, weights)
        return float(_logistic(_inputs(scores, factors) @ self._coefficients))

    def state(self) -> dict[str, Array]:
        """All outcomes, as a dict of arrays."""
        return {**{kind: inputs.copy() for kind, inputs in self._inputs.items()}, "right": self._right.copy()}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "Confidence":
        """Rebuild from `state`. Raises StateError, KeyError, NotFiniteError."""
        confidence = cls()
        for kind, most in MOST.items():
            inputs = finite(kind, state[kind])
            if inputs.ndim != 2 or inputs.shape[1] != 3 or len(inputs) > most:
                raise StateError(f"outcomes have shape {inputs.shape}, not at most {most} of 3 numbers", name=kind)
            confidence._inputs[kind] = inputs
        right = finite("right", state["right"])
        if right.shape != (len(confidence._inputs["known"]),) or not np.isin(right, (0.0, 1.0)).all():
            raise StateError("right does not say which outcomes were right", name="right")
        confidence._right = right
        confidence._coefficients = None if len(right) + len(confidence._inputs["unknown"]) else PRIOR_MEAN.copy()
        return confidence


def _inputs(scores: Array, factors: Array) -> Array:
    """What the probability depends on: 1, relative margin, uncoded score of the first class."""
    first = int(np.argmax(scores))
    best = scores[first]
    if best <= 0.0:  # no class has anything for it
        return np.array([1.0, 0.0, 0.0])
    second = max(0.0, float(np.max(np.delete(scores, first)))) if len(scores) > 1 else 0.0
    return np.array([1.0, (best - second) / best, min(best / factors[first], 2.0)])


def _fit(inputs: Array, right: Array, weights: Array) -> Array:
    """Maximum a posteriori of the coefficients, by Newton's method with step halving."""
    coefficients = PRIOR_MEAN.copy()
    value = _penalty(coefficients, inputs, right, weights)
    for _ in range(STEPS):
        probability = _logistic(inputs @ coefficients)
        gradient = inputs.T @ (weights * (probability - right)) + PRIOR_PRECISION * (coefficients - PRIOR_MEAN)
        curvature = (weights * probability * (1.0 - probability))[:, None] * inputs
        step = np.linalg.solve(inputs.T @ curvature + np.diag(PRIOR_PRECISION), gradient)
        while (new := _penalty(coefficients - step, inputs, right, weights)) > value and np.abs(step).max() > 1e-9:
            step = step / 2.0
        coefficients, value = coefficients - step, new
        if np.abs(step).max() < 1e-6:
            break
    return coefficients


def _penalty(coefficients: Array, inputs: Array, right: Array, weights: Array) -> float:
    """Negative log posterior, up to a constant."""
    activation = inputs @ coefficients
    misfit = weights * (np.logaddexp(0.0, activation) - right * activation)
    return float(misfit.sum() + 0.5 * (PRIOR_PRECISION * (coefficients - PRIOR_MEAN) ** 2).sum())


def _logistic(x: Any) -> Any:
    return 0.5 * (1.0 + np.tanh(0.5 * x))
