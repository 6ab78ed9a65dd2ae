"""Probability that a label is right, learned from examples that are scored before they are learned."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from icub_learning.arrays import Array, finite
from icub_learning.errors import StateError

MAX_OUTCOMES = {"known": 512, "unknown": 64}  # the newest ones are kept
UNKNOWN_SHARE = 0.2  # assumed share of unknown objects among those shown; the probability depends on it
MAX_WEIGHT = 4.0  # of an outcome with an unknown object, so that a few of them do not outweigh all others
MAX_STEPS = 20  # of Newton's method
# Normal prior of the three coefficients: mean and inverse variance.
PRIOR_MEAN = np.array([-3.0, 4.0, 3.0])
PRIOR_PRECISION = np.array([0.1, 0.1, 0.1])


class Confidence:
    """Bayesian logistic regression for the probability that the class with the largest score is right.

    Inputs, of recoded scores s_1 >= s_2 >= ...: the relative margin (s_1 - s_2) / s_1, which is small where two known
    classes are confused, and the unrecoded score of the first class, which is near 1 for an example similar to those
    learned and near 0 for an unknown object. The coefficients maximize the posterior of the outcomes.

    An outcome is an example scored before it is learned, and whether its class came first. An example of a class that
    is new counts as wrong: it shows how unknown objects score. Such outcomes are weighted as if one in five objects
    shown were unknown, each at most as four others, because how often new classes are taught says nothing about how
    often unknown objects are seen.
    """

    def __init__(self) -> None:
        self._inputs = {kind: np.zeros((0, 3)) for kind in MAX_OUTCOMES}
        self._correct = np.zeros(0)  # 0 or 1 for each "known" outcome
        self._coefficients: Array | None = PRIOR_MEAN.copy()  # None: to be fitted

    def add(self, scores: Array, factors: Array, target: int | None) -> None:
        """Add one outcome.

        Args:
            scores: (T,), recoded, T >= 1.
            factors: (T,), recoding factors that the scores contain.
            target: index of the true class; None if it is new.
        """
        kind = "unknown" if target is None else "known"
        most = MAX_OUTCOMES[kind]
        self._inputs[kind] = np.vstack([self._inputs[kind], _regressors(scores, factors)])[-most:]
        if target is not None:
            self._correct = np.append(self._correct, float(np.argmax(scores) == target))[-most:]
        self._coefficients = None

    def __call__(self, scores: Array, factors: Array) -> float:
        """Return the probability for recoded scores (T,) and their recoding factors (T,); 0 without classes."""
        if not len(scores):
            return 0.0
        if self._coefficients is None:
            known, unknown = self._inputs["known"], self._inputs["unknown"]
            odds = UNKNOWN_SHARE / (1.0 - UNKNOWN_SHARE)
            weight = min(MAX_WEIGHT, max(1.0, odds * len(known) / max(1, len(unknown))))
            inputs = np.concatenate([known, unknown])
            correct = np.concatenate([self._correct, np.zeros(len(unknown))])
            weights = np.concatenate([np.ones(len(known)), np.full(len(unknown), weight)])
            self._coefficients = _fit(inputs, correct, weights)
        return float(_logistic(_regressors(scores, factors) @ self._coefficients))

    def state(self) -> dict[str, Array]:
        """Return all outcomes as a dict of arrays."""
        return {**{kind: inputs.copy() for kind, inputs in self._inputs.items()}, "right": self._correct.copy()}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "Confidence":
        """Rebuild from `state`. Raises StateError, KeyError, NotFiniteError."""
        confidence = cls()
        for kind, most in MAX_OUTCOMES.items():
            inputs = finite(kind, state[kind])
            if inputs.ndim != 2 or inputs.shape[1] != 3 or len(inputs) > most:
                raise StateError(f"{kind} has shape {inputs.shape}, not at most {most} rows of 3", name=kind)
            confidence._inputs[kind] = inputs
        correct = finite("right", state["right"])
        if correct.shape != (len(confidence._inputs["known"]),) or not np.isin(correct, (0.0, 1.0)).all():
            raise StateError("right is not one 0 or 1 for each known outcome", name="right")
        confidence._correct = correct
        confidence._coefficients = None if len(correct) + len(confidence._inputs["unknown"]) else PRIOR_MEAN.copy()
        return confidence


def _regressors(scores: Array, factors: Array) -> Array:
    """Return 1, the relative margin, and the unrecoded score of the first class, at most 2."""
    first = int(np.argmax(scores))
    best = scores[first]
    if best <= 0.0:  # the scores support no class
        return np.array([1.0, 0.0, 0.0])
    second = max(0.0, float(np.max(np.delete(scores, first)))) if len(scores) > 1 else 0.0
    return np.array([1.0, (best - second) / best, min(best / factors[first], 2.0)])


def _fit(inputs: Array, correct: Array, weights: Array) -> Array:
    """Return the maximum a posteriori coefficients, by Newton's method with step halving."""
    coefficients = np.array(PRIOR_MEAN)
    value = _loss(coefficients, inputs, correct, weights)
    for _ in range(MAX_STEPS):
        probability = _logistic(inputs @ coefficients)
        gradient = inputs.T @ (weights * (probability - correct)) + PRIOR_PRECISION * (coefficients - PRIOR_MEAN)
        curvature = (weights * probability * (1.0 - probability))[:, None] * inputs
        step = np.linalg.solve(inputs.T @ curvature + np.diag(PRIOR_PRECISION), gradient)
        while (new := _loss(coefficients - step, inputs, correct, weights)) > value and np.abs(step).max() > 1e-9:
            step = step / 2.0
        coefficients, value = coefficients - step, new
        if np.abs(step).max() < 1e-6:
            break
    return coefficients


def _loss(coefficients: Array, inputs: Array, correct: Array, weights: Array) -> float:
    """Return the negative log posterior, up to a constant."""
    activation = inputs @ coefficients
    misfit = weights * (np.logaddexp(0.0, activation) - correct * activation)
    return float(misfit.sum() + 0.5 * (PRIOR_PRECISION * (coefficients - PRIOR_MEAN) ** 2).sum())


def _logistic(x: Array) -> Array:
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * x)))
