"""Convex losses of online learners and their derivatives by the scores, for several scores at once and for one."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from icub_learning.arrays import Array

Codes = NDArray[np.intp]
Loss = Callable[[Array, Codes], tuple[Array, Array]]


def square(scores: Array, targets: Array) -> tuple[Array, Array]:
    """Return the losses (n,) |f - y|^2 / 2 of scores and targets (n, C), and their derivatives (n, C)."""
    difference = scores - targets
    return 0.5 * np.einsum("ij,ij->i", difference, difference), difference


def logistic(scores: Array, codes: Codes) -> tuple[Array, Array]:
    """Return log(1 + exp(-y f)), or minus the logarithm of the class's softmax probability."""
    if scores.shape[1] == 1:
        sign, margin = _margin(scores, codes)
        slope = -0.5 * (1.0 - np.tanh(0.5 * margin))  # -1 / (1 + exp(margin)), without overflow
        return np.logaddexp(0.0, -margin), (slope * sign)[:, None]
    rows = np.arange(len(scores))
    shifted = scores - scores.max(axis=1, keepdims=True)
    probabilities = np.exp(shifted)
    total = probabilities.sum(axis=1, keepdims=True)
    probabilities /= total
    losses = np.log(total[:, 0]) - shifted[rows, codes]
    probabilities[rows, codes] -= 1.0
    return losses, probabilities


def hinge(scores: Array, codes: Codes, power: int = 1) -> tuple[Array, Array]:
    """Return powers of max(0, 1 - margin), the margin y f or f_y minus the best other score (Crammer, Singer 2001)."""
    derivatives, rows = np.zeros_like(scores), np.arange(len(scores))
    if scores.shape[1] == 1:
        sign, margin = _margin(scores, codes)
        slack = np.maximum(0.0, 1.0 - margin)
        derivatives[:, 0] = -sign * _slope(slack, power)
        return slack**power, derivatives
    others = scores.copy()
    others[rows, codes] = -np.inf
    rival = others.argmax(axis=1)
    slack = np.maximum(0.0, 1.0 + scores[rows, rival] - scores[rows, codes])
    slope = _slope(slack, power)
    derivatives[rows, rival] = slope
    derivatives[rows, codes] = -slope
    return slack**power, derivatives


def _slope(slack: Array, power: int) -> Array:
    return (slack > 0).astype(np.float64) if power == 1 else 2.0 * slack


def _margin(scores: Array, codes: Codes) -> tuple[Array, Array]:
    sign = np.where(codes == 1, 1.0, -1.0)
    return sign, sign * scores[:, 0]


# From scores, (n, 1) for two classes, positive for the second, or (n, C), and codes (n,): losses (n,) and derivatives.
MARGIN_LOSSES: dict[str, Loss] = {"logistic": logistic, "hinge": hinge, "squared_hinge": partial(hinge, power=2)}


@dataclass(frozen=True)
class ScalarLoss:
    """A convex loss l(y, a) of a target y and a score a (thesis 1.4)."""

    slope: Callable[[Array, Array], Array]  # derivative in a, elementwise; at a kink the subgradient of least magnitude
    curvature: float | None  # the largest second derivative, None if unbounded
    margin: bool  # whether targets must be -1 and +1


def scalar_losses(epsilon: float) -> dict[str, ScalarLoss]:
    """Return all losses by name; epsilon is half the width in which "epsilon_insensitive" is zero."""
    return {
        "square": ScalarLoss(lambda y, a: a - y, 1.0, False),
        "absolute": ScalarLoss(lambda y, a: np.sign(a - y), None, False),
        "epsilon_insensitive": ScalarLoss(lambda y, a: np.sign(a - y) * (np.abs(a - y) > epsilon), None, False),
        "hinge": ScalarLoss(lambda y, a: -y * (y * a < 1), None, True),
        "exponential": ScalarLoss(lambda y, a: -y * np.exp(-y * a), None, True),
        "logistic": ScalarLoss(lambda y, a: -y * expit(-y * a), 0.25, True),
    }
