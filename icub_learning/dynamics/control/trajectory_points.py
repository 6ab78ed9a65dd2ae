"""Velocities and accelerations at the points of a trajectory that gives positions alone, or no accelerations."""

import numpy as np
from scipy.interpolate import CubicHermiteSpline, CubicSpline

from icub_learning.arrays import Array, finite
from icub_learning.errors import ParameterError, ShapeError

MOST_POINTS = 100_000  # of one request: an hour at 28 Hz


def complete(
    times: Array, positions: Array, velocities: Array | None = None, accelerations: Array | None = None
) -> tuple[Array, Array]:
    """Return velocities and accelerations (n, n_joints) at the points; those that are given stay as they are.

    Without velocities, a cubic spline through the positions that begins and ends at rest gives both. With velocities,
    each point's acceleration is the mean of those of the cubic polynomials before and after it.

    Args:
        times: (n,) rising [s].
        positions: (n, n_joints).
        velocities, accelerations: (n, n_joints) or None.

    Raises:
        ParameterError: there is no point, there are more than MOST_POINTS, or times do not rise.
        ShapeError, NotFiniteError: an array is of another size, or not finite.
    """
    times, positions = finite("times", times), finite("positions", positions)
    n = len(times)
    if not 1 <= n <= MOST_POINTS:
        raise ParameterError("points", n, f"from 1 to {MOST_POINTS}")
    if (np.diff(times) <= 0).any():
        raise ParameterError("time_from_start", times.tolist()[:8], "rising")
    given: list[Array | None] = []
    for name, values in (("velocities", velocities), ("accelerations", accelerations)):
        values = None if values is None else finite(name, values)
        if values is not None and values.shape != positions.shape:
            raise ShapeError(name, values.shape, f"{positions.shape}")
        given.append(values)
    v, a = given
    if n == 1:
        zero = np.zeros_like(positions)
        return (zero if v is None else v), (zero if a is None else a)
    if v is None:
        spline = CubicSpline(times, positions, bc_type="clamped")
        return spline(times, 1), (spline(times, 2) if a is None else a)
    if a is not None:
        return v, a
    hermite = CubicHermiteSpline(times, positions, v)
    step = 1e-9 * np.diff(times).min()
    before, after = hermite(times - step, 2), hermite(times + step, 2)
    before[0], after[-1] = after[0], before[-1]
    return v, (before + after) / 2.0
