"""Convex losses for a dual solver: value, conjugate and proximal step, elementwise."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import entr, expit

from icub_learning.arrays import Array
from icub_learning.errors import DataError, ParameterError


class DualLoss(Protocol):
    """A convex loss L(y, f).

    `dual(y, a, gamma)` is gamma L*(y, -a / gamma), L* the convex conjugate in f, infinite outside its domain, and
    `prox(y, a, tau, gamma)` is the b that minimizes dual(y, b, gamma) + (b - a)^2 / (2 tau).
    """

    def value(self, y: Array, f: Array) -> Array:
        """Return L(y, f), elementwise."""

    def dual(self, y: Array, a: Array, gamma: float) -> Array:
        """Return gamma L*(y, -a / gamma), elementwise."""

    def prox(self, y: Array, a: Array, tau: float, gamma: float) -> Array:
        """Return the proximal point, elementwise."""


@dataclass(frozen=True)
class EpsilonInsensitive:
    """max(0, |y - f| - epsilon); epsilon = 0 is the absolute loss."""

    epsilon: float = 0.1

    def value(self, y: Array, f: Array) -> Array:
        return np.maximum(0.0, np.abs(y - f) - self.epsilon)

    def dual(self, y: Array, a: Array, gamma: float) -> Array:
        return np.where(np.abs(a) <= gamma, self.epsilon * np.abs(a) - y * a, np.inf)

    def prox(self, y: Array, a: Array, tau: float, gamma: float) -> Array:
        moved = a + tau * y
        shrunk: Array = np.sign(moved) * np.maximum(0.0, np.abs(moved) - tau * self.epsilon)
        return np.clip(shrunk, -gamma, gamma)


@dataclass(frozen=True)
class Huber:
    """(y - f)^2 / 2 up to |y - f| = delta, and linear beyond."""

    delta: float = 1.0

    def value(self, y: Array, f: Array) -> Array:
        size = np.abs(y - f)
        return np.where(size <= self.delta, 0.5 * size**2, self.delta * (size - 0.5 * self.delta))

    def dual(self, y: Array, a: Array, gamma: float) -> Array:
        return np.where(np.abs(a) <= gamma * self.delta, a * (a / (2.0 * gamma) - y), np.inf)

    def prox(self, y: Array, a: Array, tau: float, gamma: float) -> Array:
        bound = gamma * self.delta
        return np.clip((a + tau * y) / (1.0 + tau / gamma), -bound, bound)


@dataclass(frozen=True)
class Square(Huber):
    """(y - f)^2 / 2."""

    delta: float = np.inf


@dataclass(frozen=True)
class SmoothHinge:
    """The hinge loss, a parabola within `width` of its kink (Zhang 2004); with width 1 that of Rennie (2005).

    With z = y f for y = -1, 1: max(0, 1 - z)^2 / (2 width) where z >= 1 - width, else 1 - width / 2 - z.
    """

    width: float = 1.0

    def value(self, y: Array, f: Array) -> Array:
        z = y * f
        curved = np.maximum(0.0, 1.0 - z) ** 2 / (2.0 * self.width)
        return np.where(z >= 1.0 - self.width, curved, 1.0 - self.width / 2.0 - z)

    def dual(self, y: Array, a: Array, gamma: float) -> Array:
        signed = y * a
        inside = (signed >= 0.0) & (signed <= gamma)
        return np.where(inside, signed * (self.width * signed / (2.0 * gamma) - 1.0), np.inf)

    def prox(self, y: Array, a: Array, tau: float, gamma: float) -> Array:
        return y * np.clip((y * a + tau) / (1.0 + tau * self.width / gamma), 0.0, gamma)


@dataclass(frozen=True)
class Hinge(SmoothHinge):
    """max(0, 1 - y f) for y = -1, 1."""

    width: float = 0.0

    def value(self, y: Array, f: Array) -> Array:
        return np.maximum(0.0, 1.0 - y * f)


@dataclass(frozen=True)
class Logistic:
    """log(1 + exp(-y f)) for y = -1, 1."""

    def value(self, y: Array, f: Array) -> Array:
        return np.logaddexp(0.0, -y * f)

    def dual(self, y: Array, a: Array, gamma: float) -> Array:
        s = y * a / gamma
        return np.asarray(-gamma * (entr(s) + entr(1.0 - s)))  # entr(s) is -s log(s), and -inf below 0

    def prox(self, y: Array, a: Array, tau: float, gamma: float) -> Array:
        # With b = y gamma / (1 + exp(-t)) the minimum is where t + (gamma sigmoid(t) - y a) / tau = 0, increasing in t.
        goal = y * a
        low, high = (goal - gamma) / tau, goal / tau
        for _ in range(64):  # bisection: the root is bracketed, and halving ends at rounding
            middle = 0.5 * (low + high)
            above = middle + (gamma * expit(middle) - goal) / tau > 0.0
            high, low = np.where(above, middle, high), np.where(above, low, middle)
        return np.asarray(y * gamma * expit(0.5 * (low + high)))


MARGINS = (SmoothHinge, Logistic)  # losses for targets -1 and 1
LOSSES: dict[str, DualLoss] = {
    "square": Square(), "absolute": EpsilonInsensitive(0.0), "epsilon_insensitive": EpsilonInsensitive(),
    "huber": Huber(), "hinge": Hinge(), "smooth_hinge": SmoothHinge(), "logistic": Logistic(),
}  # fmt: skip


def find_loss(loss: str | DualLoss, y: Array) -> DualLoss:
    """Return the loss of this name, or `loss` itself. Raises ParameterError, DataError: targets are not -1 and 1."""
    found = LOSSES.get(loss) if isinstance(loss, str) else loss
    if found is None or not all(hasattr(found, part) for part in ("value", "dual", "prox")):
        raise ParameterError("loss", loss, f"one of {', '.join(LOSSES)}, or an object with value, dual and prox")
    if isinstance(found, MARGINS) and not np.isin(y, (-1.0, 1.0)).all():
        raise DataError("y: the loss needs targets -1 and 1", name="y", bound="-1 or 1")
    return found
