"""How sure to be of a label: the probability that it is right, learned from examples scored before being learned."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from icub_learning.arrays import Array, finite, vector
from icub_learning.errors import StateError

WINDOW = 512  # newest outcomes that count
STEPS = 20  # of Newton's method, at most
# Coefficients before any outcome, and the precision of that guess in outcomes' worth of curvature.
PRIOR_MEAN = np.array([-3.0, 4.0, 3.0])
PRIOR_PRECISION = np.array([0.1, 0.1, 0.1])


class Confidence:
    """Probability that the class with the largest score is the right one, as a logistic function of two numbers.

    Of recoded scores s_1 >= s_2 >= ...: the relative margin (s_1 - s_2) / s_1, which tells apart known classes that are
    mistaken for each other, and the uncoded score of the first class, which is 1 for an example like those that were
    learned and falls towards 0 for what is like none of them. The three coefficients are the maximum a posteriori of a
    Bayesian logistic regression on the newest 512 outcomes, starting from a guess. An outcome is an example scored
    before it was learned, and whether its label came first; one whose label was not known yet counts as wrong, so that
    every new class teaches what an unknown object looks like.
    """

    def __init__(self) -> None:
        self._inputs = np.zeros((WINDOW, 3))
        self._right = np.zeros(WINDOW)
        self.n_outcomes = 0
        self._coefficients: Array | None = PRIOR_MEAN.copy()

    def add(self, scores: Array, factors: Array, place: int | None) -> None:
        """Take in one outcome.

        Args:
            scores: (T,), recoded, T >= 1.
            factors: (T,), by which recoding multiplied them.
            place: of the right class among them; None if it is none of them.
        """
        row = self.n_outcomes % WINDOW
        self._inputs[row] = _inputs(scores, factors)
        self._right[row] = place is not None and int(np.argmax(scores)) == place
        self.n_outcomes += 1
        self._coefficients = None

    def __call__(self, scores: Array, factors: Array) -> float:
        """Probability in [0, 1] that the class with the largest of the scores (T,) is right; 0 if there is none."""
        if not len(scores):
            return 0.0
        if self._coefficients is None:
            known = min(self.n_outcomes, WINDOW)
            self._coefficients = _fit(self._inputs[:known], self._right[:known])
        return float(_logistic(_inputs(scores, factors) @ self._coefficients))

    def state(self) -> dict[str, Array]:
        """All outcomes, as a dict of arrays."""
        return {
            "inputs": self._inputs.copy(),
            "right": self._right.copy(),
            "n_outcomes": np.asarray(self.n_outcomes),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "Confidence":
        """Rebuild from `state`. Raises StateError, KeyError, NotFiniteError, ShapeError."""
        confidence = cls()
        inputs, right = finite("inputs", state["inputs"]), vector("right", state["right"], WINDOW)
        n_outcomes = int(state["n_outcomes"])
        if inputs.shape != (WINDOW, 3) or n_outcomes < 0 or not np.isin(right, (0.0, 1.0)).all():
            raise StateError(f"outcomes {inputs.shape} are not {WINDOW} of 3 numbers", name="inputs")
        confidence._inputs[:], confidence._right[:], confidence.n_outcomes = inputs, right, n_outcomes
        confidence._coefficients = None
        return confidence


def _inputs(scores: Array, factors: Array) -> Array:
    """What the probability depends on: 1, relative margin, uncoded score of the first class."""
    first = int(np.argmax(scores))
    best = scores[first]
    if best <= 0.0:  # no class has anything for it
        return np.array([1.0, 0.0, 0.0])
    second = max(0.0, float(np.max(np.delete(scores, first)))) if len(scores) > 1 else 0.0
    return np.array([1.0, (best - second) / best, min(best / factors[first], 2.0)])


def _fit(inputs: Array, right: Array) -> Array:
    """Maximum a posteriori of the coefficients, by Newton's method with step halving."""
    coefficients = PRIOR_MEAN.copy()
    value = _penalty(coefficients, inputs, right)
    for _ in range(STEPS):
        probability = _logistic(inputs @ coefficients)
        gradient = inputs.T @ (probability - right) + PRIOR_PRECISION * (coefficients - PRIOR_MEAN)
        curvature = inputs.T @ ((probability * (1.0 - probability))[:, None] * inputs) + np.diag(PRIOR_PRECISION)
        step = np.linalg.solve(curvature, gradient)
        while (new := _penalty(coefficients - step, inputs, right)) > value and np.abs(step).max() > 1e-9:
            step = step / 2.0
        coefficients = coefficients - step
        value = new
        if np.abs(step).max() < 1e-6:
            break
    return coefficients


def _penalty(coefficients: Array, inputs: Array, right: Array) -> float:
    """Negative log posterior, up to a constant."""
    activation = inputs @ coefficients
    misfit = np.logaddexp(0.0, activation) - right * activation
    return float(misfit.sum() + 0.5 * (PRIOR_PRECISION * (coefficients - PRIOR_MEAN) ** 2).sum())


def _logistic(x: Any) -> Any:
    return 0.5 * (1.0 + np.tanh(0.5 * x))
