"""Probability that a label is right, for a view of a known object."""

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array

MAX_STEPS = 20  # of Newton's method
# Normal prior of the three coefficients: mean and inverse variance.
PRIOR_MEAN = np.array([-1.0, 4.0, 1.0])
PRIOR_PRECISION = np.array([0.1, 0.1, 0.1])


class Confidence:
    """Bayesian logistic regression for the probability that the class with the largest score is right.

    Inputs, of recoded scores s_1 >= s_2 >= ...: the relative margin (s_1 - s_2) / s_1, which is small where two known
    classes are confused, and the unrecoded score of the first class, which is near 1 for a view similar to those
    learned. The coefficients maximize the posterior of the outcomes: views that were held back, and whether the class
    with their largest score was right. Before `fit` it is the prior.
    """

    def __init__(self) -> None:
        self._coefficients = PRIOR_MEAN.copy()
        self.recall = np.zeros(0)  # (T,) of each class, see Classifier.recall

    def fit(
        self, scores: Array, factors: Array, targets: NDArray[np.intp], weights: Array | None = None
    ) -> "Confidence":
        """Fit to recoded scores (n, T) of held-back views, which contain the recoding factors (T,), indices (n,) of
        their true classes and their weights (n,), by default 1; return self.
        """
        self.recall = np.full(scores.shape[1], np.nan)
        if not len(scores):
            return self
        weights = np.ones(len(scores)) if weights is None else weights
        correct = (scores.argmax(axis=1) == targets).astype(float)
        right, judged = (np.bincount(targets, each, len(self.recall)) for each in (weights * correct, weights))
        self.recall[judged > 0] = ((right + np.average(correct, weights=weights)) / (judged + 1.0))[judged > 0]
        if scores.shape[1] > 1:  # with one class every label is right
            inputs = np.array([_regressors(row, factors) for row in scores])
            self._coefficients = _fit(inputs, correct, weights)
        return self

    def __call__(self, scores: Array, factors: Array) -> float:
        """Return the probability for recoded scores (T,) and their recoding factors (T,); 0 without classes."""
        if not len(scores):
            return 0.0
        return float(_logistic(_regressors(scores, factors) @ self._coefficients))


def _regressors(scores: Array, factors: Array) -> Array:
    """Return 1, the relative margin, and the unrecoded score of the first class, at most 2."""
    first = int(np.argmax(scores))
    best = scores[first]
    if best <= 0.0:  # the scores support no class
        return np.array([1.0, 0.0, 0.0])
    second = max(0.0, float(np.partition(scores, -2)[-2])) if len(scores) > 1 else 0.0
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
