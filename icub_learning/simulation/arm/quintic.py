"""Curves with their first two derivatives: piecewise quintics through given states, and sums of sines."""

import numpy as np
from scipy.linalg import solve_banded

from icub_learning.arrays import Array


class QuinticSpline:
    """Quintic pieces between the `states` (3, n, n_joints), positions, velocities and accelerations, at two or more
    knots (n,) [s]. It is constant outside the knots."""

    def __init__(self, knots: Array, states: Array) -> None:
        self._knots = knots
        h = np.diff(knots)[:, None]
        p, v, a = states
        # Differences at the end of each piece from the parabola at its start, with the duration as unit of time.
        gap = p[1:] - (p[:-1] + v[:-1] * h + a[:-1] * h**2 / 2)
        gap_v, gap_a = (v[1:] - v[:-1] - a[:-1] * h) * h, (a[1:] - a[:-1]) * h**2
        cubic = (10 * gap - 4 * gap_v + gap_a / 2) / h**3
        quartic = (-15 * gap + 7 * gap_v - gap_a) / h**4
        quintic = (6 * gap - 3 * gap_v + gap_a / 2) / h**5
        self._coefficients = np.stack([p[:-1], v[:-1], a[:-1] / 2, cubic, quartic, quintic])

    def __call__(self, times: Array) -> tuple[Array, Array, Array]:
        """Return positions, velocities and accelerations at `times` (n,) [s], (n, n_joints) each."""
        inside = np.clip(times, self._knots[0], self._knots[-1])
        piece = np.clip(np.searchsorted(self._knots, inside, side="right") - 1, 0, len(self._knots) - 2)
        s = (inside - self._knots[piece])[:, None]
        c0, c1, c2, c3, c4, c5 = self._coefficients[:, piece]
        p = c0 + s * (c1 + s * (c2 + s * (c3 + s * (c4 + s * c5))))
        v = c1 + s * (2 * c2 + s * (3 * c3 + s * (4 * c4 + s * 5 * c5)))
        a = 2 * c2 + s * (6 * c3 + s * (12 * c4 + s * 20 * c5))
        return p, v, a


def spline_velocities(knots: Array, positions: Array) -> Array:
    """Return the velocities at knots (n,) [s] of the cubic spline through positions (n, n_joints), 0 at its ends."""
    velocities = np.zeros_like(positions)
    if len(knots) > 2:
        # Neighbouring cubics have equal second derivatives at their common knot.
        inverse = 1 / np.diff(knots)
        slopes = np.diff(positions, axis=0) * inverse[:, None] ** 2
        right, bands = 3 * (slopes[:-1] + slopes[1:]), np.zeros((3, len(knots) - 2))
        bands[0, 1:] = inverse[1:-1]
        bands[1] = 2 * (inverse[:-1] + inverse[1:])
        bands[2, :-1] = inverse[1:-1]
        velocities[1:-1] = solve_banded((1, 1), bands, right)
    return velocities


def hermite_accelerations(knots: Array, positions: Array, velocities: Array) -> Array:
    """Return the mean accelerations (n - 2, n_joints) of the cubics before and after each inner knot; both agree for
    `spline_velocities`."""
    h = np.diff(knots)[:, None]
    slopes = np.diff(positions, axis=0) / h
    at_end = (2 * velocities[:-1] + 4 * velocities[1:] - 6 * slopes) / h
    at_start = (6 * slopes - 4 * velocities[:-1] - 2 * velocities[1:]) / h
    return (at_end[:-1] + at_start[1:]) / 2


def sum_of_sines(times: Array, amplitudes: Array, rates: Array, phases: Array) -> tuple[Array, Array, Array]:
    """Return sums over k of amplitudes[k] sin(rates[k] t + phases[k]) at times (n,) [s], with both derivatives.

    Amplitudes, rates [rad/s] and phases [rad] are (n_sines, n_joints), the results (n, n_joints) each.
    """
    position, velocity, acceleration = np.zeros((3, len(times), rates.shape[1]))
    for amplitude, rate, phase in zip(amplitudes, rates, phases, strict=True):
        angle = times[:, None] * rate + phase
        wave = amplitude * np.sin(angle)
        position += wave
        velocity += amplitude * rate * np.cos(angle)
        acceleration -= rate**2 * wave
    return position, velocity, acceleration
