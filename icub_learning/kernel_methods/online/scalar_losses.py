"""Convex loss functions l(y, a) of a target y and a score a, by their derivatives in a (thesis 1.2)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from icub_learning.arrays import Array


@dataclass(frozen=True)
class Loss:
    """A convex loss."""

    slope: Callable[[Array, Array], Array]  # derivative in a, elementwise; at a kink the one of least magnitude
    curvature: float | None  # the largest second derivative, None if unbounded
    margin: bool  # whether targets must be -1 and +1


def losses(epsilon: float) -> dict[str, Loss]:
    """Return all losses by name; epsilon is half the width in which "epsilon_insensitive" is zero."""
    return {
        "square": Loss(lambda y, a: a - y, 1.0, False),
        "absolute": Loss(lambda y, a: np.sign(a - y), None, False),
        "epsilon_insensitive": Loss(lambda y, a: np.sign(a - y) * (np.abs(a - y) > epsilon), None, False),
        "hinge": Loss(lambda y, a: -y * (y * a < 1), None, True),
        "exponential": Loss(lambda y, a: -y * np.exp(-y * a), None, True),
        "logistic": Loss(lambda y, a: -y * expit(-y * a), 0.25, True),
    }


LOSSES = tuple(losses(0.0))  # names; 0 stands for any width
