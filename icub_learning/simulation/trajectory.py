"""A commanded joint trajectory: points checked one by one, joined by quintics with continuous acceleration."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import BPoly, CubicSpline

from icub_learning import arrays
from icub_learning.arrays import Array
from icub_learning.errors import SimulationError
from icub_learning.simulation.motions import Reference

AT_ONCE = 0.01  # [rad], a first point at time 0 may be this far from where the arm is


class TrajectoryMotion:
    """Through given points, from a given state of motion to rest at the last point, and hold there.

    Velocities that are not given are those of the cubic spline through the points; accelerations that are not given
    are zero at the last point and those of that spline elsewhere. Each piece is the quintic between two such states.

    Args:
        start: time of the command [s].
        now: reference at `start`: positions, velocities, accelerations, (7,) each.
        joint_names: joints of the columns of the points; joints left out stop where they are.
        times: (n,) times of the points after `start` [s], increasing.
        positions: (n, len(joint_names)) [rad].
        velocities: likewise [rad/s], or None.
        accelerations: likewise [rad/s^2], or None.
        arm_joints: names of the joints of the arm.
        limits: their lowest and highest positions [rad].

    Raises:
        SimulationError: no points; unknown or repeated joints; times not increasing; the motion leaves the limits; a
            first point at time 0 where the arm is not.
        ShapeError, NotFiniteError: points of the wrong size, NaN or infinite.
    """

    def __init__(
        self,
        start: float,
        now: Reference,
        joint_names: Sequence[str],
        times: ArrayLike,
        positions: ArrayLike,
        velocities: ArrayLike | None = None,
        accelerations: ArrayLike | None = None,
        *,
        arm_joints: Sequence[str],
        limits: tuple[Array, Array],
    ) -> None:
        columns = _columns(joint_names, arm_joints)
        knots = _checked_times(times)
        points = [_checked_points("positions", positions, len(knots), len(columns))]
        for name, values in (("velocities", velocities), ("accelerations", accelerations)):
            points.append(None if values is None else _checked_points(name, values, len(knots), len(columns)))
        if knots[0] == 0:
            _check_first_point(points[0][0], now[0][columns], [arm_joints[column] for column in columns])
            knots = knots[1:]
            points = [None if part is None else part[1:] for part in points]
        self._start = start
        self._end = start + knots[-1] if len(knots) else start
        if not len(knots):
            knots, points = np.array([1.0]), [now[0][None, columns], None, None]
        self._pieces = self._interpolate(np.concatenate([[0.0], knots]), now, columns, points)
        self._derivatives = [self._pieces.derivative(1), self._pieces.derivative(2)]
        self._check_limits(arm_joints, limits)

    def __call__(self, times: Array) -> Reference:
        s = np.clip(times - self._start, 0.0, self._pieces.x[-1])
        return self._pieces(s), self._derivatives[0](s), self._derivatives[1](s)

    @staticmethod
    def _interpolate(knots: Array, now: Reference, columns: list[int], points: list[Array | None]) -> BPoly:
        n_joints = len(now[0])
        states = np.zeros((len(knots), 3, n_joints))
        states[:, 0] = now[0]  # joints that are not commanded stop where they are
        states[0] = now
        states[1:, 0, columns] = points[0]
        spline = CubicSpline(knots, states[:, 0], bc_type=((1, now[1]), (1, np.zeros(n_joints))))
        for order in (1, 2):
            states[1:-1, order] = spline(knots[1:-1], order)
            if points[order] is not None:
                states[1:, order, columns] = points[order]
        # After the last point the arm holds.
        states[-1, 1:] = 0.0
        return BPoly.from_derivatives(knots, states)

    def _check_limits(self, names: Sequence[str], limits: tuple[Array, Array]) -> None:
        times = np.concatenate([np.linspace(a, b, 51) for a, b in zip(self._pieces.x, self._pieces.x[1:], strict=False)])
        positions = self._pieces(times)
        beyond = np.maximum(limits[0] - positions, positions - limits[1])
        row, column = np.unravel_index(np.argmax(beyond), beyond.shape)
        if beyond[row, column] > 0:
            value, bound = float(positions[row, column]), f"[{limits[0][column]:.4f}, {limits[1][column]:.4f}] rad"
            message = f"the trajectory takes joint '{names[column]}' to {value:.4f} rad at {times[row]:.3f} s: not within {bound}"
            raise SimulationError(message, name=names[column], value=value, bound=bound)


def _columns(joint_names: Sequence[str], arm_joints: Sequence[str]) -> list[int]:
    unknown = [name for name in joint_names if name not in arm_joints]
    if unknown:
        message = f"the trajectory names unknown joints: {', '.join(map(repr, unknown))}"
        raise SimulationError(message, name="joint_names", value=unknown, bound=", ".join(arm_joints))
    if not joint_names or len(set(joint_names)) != len(joint_names):
        message = "the trajectory must name at least one joint, and each once"
        raise SimulationError(message, name="joint_names", value=list(joint_names), bound="each once")
    return [list(arm_joints).index(name) for name in joint_names]


def _checked_times(times: ArrayLike) -> Array:
    knots = arrays.finite("times", times)
    if knots.ndim != 1 or len(knots) == 0:
        raise SimulationError("the trajectory has no points", name="times", value=0, bound="at least one point")
    bad = np.flatnonzero(np.diff(knots, prepend=-np.inf) <= 0)
    if knots[0] < 0 or bad.size:
        number = int(bad[0]) if bad.size else 0
        message = f"the trajectory's times do not increase at point {number}: {knots[number]:g} s"
        raise SimulationError(message, name="times", value=float(knots[number]), bound="at least 0 and increasing")
    return knots


def _checked_points(name: str, values: ArrayLike, n_points: int, n_joints: int) -> Array:
    points, single = arrays.rows(name, values, n_joints)
    if single or len(points) != n_points:
        message = f"the trajectory has {n_points} times but {len(points)} {name}"
        raise SimulationError(message, name=name, value=len(points), bound=str(n_points))
    return points


def _check_first_point(point: Array, position: Array, names: Sequence[str]) -> None:
    far = np.abs(point - position)
    worst = int(np.argmax(far))
    if far[worst] > AT_ONCE:
        message = f"the trajectory starts at time 0 with joint '{names[worst]}' {far[worst]:.3f} rad from where it is"
        raise SimulationError(message, name=names[worst], value=float(point[worst]), bound=f"{position[worst]:.4f} rad")
