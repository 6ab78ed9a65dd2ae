"""A commanded joint trajectory: checked points, joined by quintics with continuous acceleration."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from icub_learning import arrays
from icub_learning.arrays import Array
from icub_learning.errors import SimulationError
from icub_learning.simulation.arm.arm_model import ArmModel
from icub_learning.simulation.arm.motions import Reference
from icub_learning.simulation.arm.quintic import QuinticSpline, hermite_accelerations, spline_velocities
from icub_learning.simulation.arm.settings import TIME_STEP

START_TOLERANCE = 0.01  # [rad] largest distance between a first point at time 0 and the position of the arm
MAX_VELOCITY = 10.0  # [rad/s] limit of velocities; the URDF contains no realistic limits
MAX_ACCELERATION = 300.0  # [rad/s^2] limit of accelerations
MAX_TIME = 1e5  # [s] longest trajectory
STOP_TIME = 1.0  # [s] time in which the arm stops if its only point is at time 0


class TrajectoryMotion:
    """A motion through given points that ends and stays at the last one.

    Velocities that are not given are those of the cubic spline through the points, and such accelerations are those of
    the cubics between the points; both are zero at the last point. Quintic pieces join these states.

    Args:
        arm: the arm, with its joints and the limits of their positions.
        start: time of the command [s].
        position: (7,) joint positions of the arm at `start` [rad].
        joint_names: joints of the columns of the arrays below; the other joints keep their positions.
        times: (n,) times of the points after `start` [s], increasing and at most MAX_TIME.
        positions: (n, len(joint_names)) joint positions [rad].
        velocities, accelerations: arrays of that shape [rad/s, rad/s^2] or None; values at the last point are unused.

    Raises:
        SimulationError: no points; unknown or repeated joints; times that do not increase; a motion beyond the limits;
            a first point at time 0 away from the arm's position.
        ShapeError, NotFiniteError: points of the wrong size, NaN or infinite.
    """

    def __init__(
        self, arm: ArmModel, start: float, position: Array, joint_names: Sequence[str], times: ArrayLike,
        positions: ArrayLike, velocities: ArrayLike | None = None, accelerations: ArrayLike | None = None,
    ) -> None:  # fmt: skip
        columns, knots = columns_of(joint_names, arm.joint_names), checked_times(times)
        size = len(knots), len(columns)
        commanded: dict[int, Array] = {0: checked_points("positions", positions, *size)}
        for order, name, values in ((1, "velocities", velocities), (2, "accelerations", accelerations)):
            if values is not None:
                commanded[order] = checked_points(name, values, *size)
        if knots[0] == 0:
            _check_first_point(commanded[0][0], position[columns], joint_names)
            knots, commanded = knots[1:], {order: points[1:] for order, points in commanded.items()}
        if not len(knots):  # the only point is the position of the arm: stop there
            knots, commanded = np.array([STOP_TIME]), {0: position[None, columns]}
        self._start = start
        self.first_point = float(knots[0])  # time of the first point after `start` [s]
        knots = np.concatenate([[0.0], knots])
        with np.errstate(over="ignore", invalid="ignore"):  # overflows are beyond the limits, too
            self._spline = QuinticSpline(knots, _states(knots, position, columns, commanded))
            self._check_limits(knots, arm)

    def __call__(self, times: Array) -> Reference:
        """Return the reference at `times` (n,) [s]."""
        return self._spline(times - self._start)

    def _check_limits(self, knots: Array, arm: ArmModel) -> None:
        times = (knots[:-1, None] + np.linspace(0, 1, 51) * np.diff(knots)[:, None]).ravel()
        positions, velocities, accelerations = self._spline(times)
        for name, unit, values, low, high in (
            ("position", "rad", positions, *arm.limits), ("velocity", "rad/s", velocities, -MAX_VELOCITY, MAX_VELOCITY),
            ("acceleration", "rad/s^2", accelerations, -MAX_ACCELERATION, MAX_ACCELERATION),
        ):  # fmt: skip
            beyond = np.nan_to_num(np.maximum(low - values, values - high), nan=np.inf)
            row, column = divmod(int(np.argmax(beyond)), values.shape[1])
            if beyond[row, column] > 0:
                value, low, high = (np.broadcast_to(x, values.shape)[row, column] for x in (values, low, high))
                bound = f"[{low:g}, {high:g}] {unit}"
                where = f"the {name} of joint '{arm.joint_names[column]}' to {value:g} {unit} at {times[row]:.3f} s"
                message = f"the trajectory takes {where}: not within {bound}"
                raise SimulationError(message, name=arm.joint_names[column], value=float(value), bound=bound)


def _states(knots: Array, position: Array, columns: list[int], commanded: dict[int, Array]) -> Array:
    """Return positions, velocities and accelerations (3, n, 7) of all joints at the knots, including the start."""
    states = np.zeros((3, len(knots), len(position)))
    states[0] = position  # kept by joints that are not commanded
    states[0][1:, columns] = commanded[0]
    states[1] = spline_velocities(knots, states[0])
    if 1 in commanded:
        states[1][1:, columns] = commanded[1]
    states[2][1:-1] = hermite_accelerations(knots, states[0], states[1])
    if 2 in commanded:
        states[2][1:, columns] = commanded[2]
    states[1:, -1] = 0.0  # the arm stays at the last point
    return states


def columns_of(joint_names: Sequence[str], arm_joints: Sequence[str]) -> list[int]:
    """Return the places of `joint_names` among `arm_joints`. Raises SimulationError: a name is unknown or repeated."""
    unknown = [name for name in joint_names if name not in arm_joints]
    if unknown:
        message = f"the trajectory names unknown joints: {', '.join(map(repr, unknown))}"
        raise SimulationError(message, name="joint_names", value=unknown, bound=", ".join(arm_joints))
    if not joint_names or len(set(joint_names)) != len(joint_names):
        message = "the trajectory must name at least one joint, and each once"
        raise SimulationError(message, name="joint_names", value=list(joint_names), bound="each once")
    return [list(arm_joints).index(name) for name in joint_names]


def checked_times(times: ArrayLike) -> Array:
    """Return times (n,) [s], the first at least 0, the others a time step apart or more. Raises SimulationError."""
    knots = arrays.finite("times", times)
    if knots.ndim != 1 or len(knots) == 0:
        raise SimulationError("the trajectory has no points", name="times", value=0, bound="at least one point")
    if knots[-1] > MAX_TIME:
        message = f"the trajectory lasts {knots[-1]:g} s"
        raise SimulationError(message, name="times", value=float(knots[-1]), bound=f"at most {MAX_TIME:g} s")
    # The first point may be at time 0; the others must be at least one time step apart.
    steps = np.diff(knots, prepend=-TIME_STEP if knots[0] == 0 else 0.0)
    bad = np.flatnonzero(steps < TIME_STEP * (1 - 1e-6))
    if bad.size:
        number = int(bad[0])
        message = f"the trajectory's times do not increase (by 1 ms or more) at point {number}: {knots[number]:g} s"
        raise SimulationError(message, name="times", value=float(knots[number]), bound="at least 0 and increasing")
    return knots


def checked_points(name: str, values: ArrayLike, n_points: int, n_joints: int) -> Array:
    """Return points (n_points, n_joints). Raises SimulationError, ShapeError, NotFiniteError."""
    points, single = arrays.rows(name, values, n_joints)
    if single or len(points) != n_points:
        message = f"the trajectory has {n_points} times but {len(points)} {name}"
        raise SimulationError(message, name=name, value=len(points), bound=str(n_points))
    return points


def _check_first_point(point: Array, position: Array, names: Sequence[str]) -> None:
    far = np.abs(point - position)
    worst = int(np.argmax(far))
    if far[worst] > START_TOLERANCE:
        message = f"the trajectory starts at time 0 with joint '{names[worst]}' {far[worst]:.3f} rad from its position"
        raise SimulationError(message, name=names[worst], value=float(point[worst]), bound=f"{position[worst]:.4f} rad")
