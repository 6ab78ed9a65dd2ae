"""Loss functions l(y, a) of a target y and a score a, with their derivatives in a (thesis 1.2)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from icub_learning.arrays import Array


@dataclass(frozen=True)
class Loss:
    """A convex loss.

    Attributes:
        value: l(y, a), elementwise.
        slope: its derivative in a, at a kink the one of least magnitude.
        curvature: the largest second derivative, None if unbounded.
        margin: whether targets must be -1 and +1.
    """

    value: Callable[[Array, Array], Array]
    slope: Callable[[Array, Array], Array]
    curvature: float | None
    margin: bool


def losses(epsilon: float) -> dict[str, Loss]:
    """Return all losses by name; epsilon is half the width in which "epsilon_insensitive" is zero."""
    return {
        "square": Loss(lambda y, a: (a - y) ** 2 / 2, lambda y, a: a - y, 1.0, False),
        "absolute": Loss(lambda y, a: np.abs(a - y), lambda y, a: np.sign(a - y), None, False),
        "epsilon_insensitive": Loss(
            lambda y, a: np.maximum(np.abs(a - y) - epsilon, 0.0),
            lambda y, a: np.sign(a - y) * (np.abs(a - y) > epsilon),
            None,
            False,
        ),
        "hinge": Loss(lambda y, a: np.maximum(1 - y * a, 0.0), lambda y, a: -y * (y * a < 1), None, True),
        "exponential": Loss(lambda y, a: np.exp(-y * a), lambda y, a: -y * np.exp(-y * a), None, True),
        "logistic": Loss(lambda y, a: np.logaddexp(0.0, -y * a), lambda y, a: -y * expit(-y * a), 0.25, True),
    }


LOSSES = tuple(losses(0.0))
