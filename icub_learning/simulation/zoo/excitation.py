"""Random joint motions with exact derivatives: sums of sines, quintics from point to point, trapezoids of velocity.

Each kind is a set of numbers; `path` draws one motion of that kind, a function of time. A joint whose range is a single
position stands still.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from icub_learning.arrays import Array
from icub_learning.simulation.arm.quintic import QuinticSpline, sum_of_sines

Path = Callable[[Array], tuple[Array, Array, Array]]  # times (n,) [s] to q, v, a, (n, n_joints) each

QUINTIC_PEAK = 1.875  # largest velocity of a quintic from rest to rest, relative to distance over time


class Excitation(Protocol):
    """A kind of motion."""

    def path(self, low: Array, high: Array, duration: float, rng: np.random.Generator) -> Path:
        """Draw a motion within [low, high], (n_joints,) each [rad or m], for times from 0 to `duration` [s]."""


@dataclass(frozen=True)
class SumOfSines:
    """Each joint follows a sum of sines of its own frequencies and phases, which swells from rest."""

    speed: float  # bound on the velocity of each joint [rad/s], once the motion has swelled
    # lowest and highest frequency [Hz], drawn uniformly in their logarithm
    frequencies: tuple[float, float] = (0.05, 0.5)
    n_sines: int = 5  # number of sines of each joint
    swell: float = 2.0  # time over which the motion swells from rest [s]

    def path(self, low: Array, high: Array, duration: float, rng: np.random.Generator) -> Path:
        shape = (self.n_sines, len(low))
        slowest, fastest = np.log(self.frequencies).tolist()
        rates = 2 * np.pi * np.exp(rng.uniform(slowest, fastest, size=shape))  # [rad/s]
        phases = rng.uniform(0, 2 * np.pi, size=shape)
        amplitudes = rng.uniform(0.3, 1.0, size=shape) / rates  # all sines move about as fast
        # The bounds hold for any phases: the sum of the sines' own bounds is kept below them.
        by_speed = self.speed / (amplitudes * rates).sum(axis=0)
        by_range = (high - low) / 2 / amplitudes.sum(axis=0)
        amplitudes *= np.minimum(by_speed, by_range)
        ramp = QuinticSpline(np.array([0.0, self.swell]), np.array([[[0.0], [1.0]], [[0.0], [0.0]], [[0.0], [0.0]]]))

        def path(times: Array) -> tuple[Array, Array, Array]:
            position, velocity, acceleration = sum_of_sines(times, amplitudes, rates, phases)
            w, dw, ddw = ramp(times)
            middle = (low + high) / 2
            return (
                middle + w * position, w * velocity + dw * position,
                w * acceleration + 2 * dw * velocity + ddw * position,
            )  # fmt: skip

        return path


@dataclass(frozen=True)
class PointToPoint:
    """Moves from rest to rest between random postures along quintics of time, with pauses: no acceleration jumps."""

    speed: float  # largest velocity of the fastest joint of a move [rad/s]
    pause: float = 0.3  # mean time for which the robot rests after a move [s]

    def path(self, low: Array, high: Array, duration: float, rng: np.random.Generator) -> Path:
        knots, points = _postures(low, high, duration, rng, self.pause, lambda way: QUINTIC_PEAK * way / self.speed)
        states = np.zeros((3, *points.shape))
        states[0] = points
        return QuinticSpline(knots, states)


@dataclass(frozen=True)
class Trapezoids:
    """Moves between random postures with trapezoids of velocity, as simple controllers do: acceleration jumps."""

    speed: float  # largest velocity of the fastest joint of a move [rad/s]
    acceleration: float  # acceleration of the fastest joint while it speeds up and slows down [rad/s^2]
    pause: float = 0.3  # mean time for which the robot rests after a move [s]

    def path(self, low: Array, high: Array, duration: float, rng: np.random.Generator) -> Path:
        knots, points = _postures(low, high, duration, rng, self.pause, self._time)

        def path(times: Array) -> tuple[Array, Array, Array]:
            piece = np.clip(np.searchsorted(knots, times, side="right") - 1, 0, len(knots) - 2)
            way = points[piece + 1] - points[piece]
            longest = np.abs(way).max(axis=1)
            share = way / np.where(longest > 0, longest, 1.0)[:, None]  # each joint's way over the longest
            since = np.clip(times - knots[piece], 0.0, np.diff(knots)[piece])
            ramp = np.minimum(self.speed / self.acceleration, np.sqrt(longest / self.acceleration))  # [s] to speed up
            left = self._time(longest) - since
            rising, falling = since < ramp, (left < ramp) & (since >= ramp)
            along = np.select(
                [rising, falling], [self.acceleration * since**2 / 2, longest - self.acceleration * left**2 / 2],
                self.acceleration * ramp * (since - ramp / 2),
            )  # fmt: skip
            rate = self.acceleration * np.select([rising, falling], [since, left], ramp)
            bend = self.acceleration * (rising.astype(float) - falling) * (longest > 0)
            return points[piece] + share * along[:, None], share * rate[:, None], share * bend[:, None]

        return path

    def _time(self, way: Array) -> Array:
        """Return the duration [s] of a move in which the fastest joint covers `way` [rad]."""
        ramp = np.minimum(self.speed / self.acceleration, np.sqrt(way / self.acceleration))
        return np.divide(way, self.acceleration * ramp, out=np.zeros_like(way), where=ramp > 0) + ramp


def _postures(
    low: Array, high: Array, duration: float, rng: np.random.Generator, pause: float, time_of: Callable[[Array], Array]
) -> tuple[Array, Array]:
    """Return times (k,) [s], beyond `duration`, and postures (k, n_joints); the robot moves and rests in turn."""
    posture = (low + high) / 2
    knots, points = [0.0, 0.5], [posture, posture]  # the robot rests at first
    while knots[-1] <= duration:
        target = rng.uniform(low, high)
        move = max(float(time_of(np.atleast_1d(np.abs(target - posture).max()))[0]), 1e-3)
        rest = pause * rng.uniform(0.2, 1.8) + 1e-3
        knots += [knots[-1] + move, knots[-1] + move + rest]
        points += [target, target]
        posture = target
    return np.array(knots), np.array(points)
