"""What controllers take from learned dynamics: feed-forward efforts along a trajectory, gravity compensation."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicHermiteSpline, CubicSpline

from icub_learning.arrays import Array, finite
from icub_learning.dynamics.changes.monitor import ChangeMonitor
from icub_learning.dynamics.estimators.prediction import Prediction, Predictor
from icub_learning.dynamics.joint.experts import ExpertPredictor
from icub_learning.dynamics.motion.motion import Motion
from icub_learning.dynamics.motion.motion_filter import UNUSUAL
from icub_learning.dynamics.motion.stamps import NEAREST
from icub_learning.errors import ParameterError, ShapeError
from icub_learning.robots import read_urdf

SHARE = 0.02  # weight of each new variance in the usual one, a running mean
MOST_POINTS = 100_000  # largest number of points of a trajectory: an hour at 28 Hz
NEAR_REST = 2.5  # a path is at rest at an end where it is slower than this many mean speeds over its number of steps


@dataclass(frozen=True)
class Effort:
    """Efforts of one motion."""

    values: Array  # (n_joints,), within the limits
    deviation: Array  # (n_joints,) standard deviations
    rigid: bool  # whether rigid bodies alone were used, because features know too little there
    limited: bool  # whether a limit was reached


class FeedForward:
    """Makes efforts of predictions: rigid bodies alone where the variance is high, and within limits (n_joints,)."""

    def __init__(self, limits: Array) -> None:
        self.limits = limits
        self._usual: Array | None = None

    def follow(self, variance: Array) -> None:
        """Learn what variance (n_joints,) is usual, from a prediction of the motion that the robot makes."""
        if np.isfinite(variance).all():
            self._usual = variance.copy() if self._usual is None else self._usual + SHARE * (variance - self._usual)

    def effort(
        self, predictor: Predictor, watch: ChangeMonitor | None, motion: Motion, correction: Array | None = None,
        ahead: float = 0.0,
    ) -> Effort:  # fmt: skip
        """Return the effort for a motion, with the load where one is carried.

        Args:
            predictor: predicts by what has been learned.
            watch: monitor that knows the load, or None.
            motion: the wanted one, or the measured one with the wanted acceleration.
            correction: (n_joints,) further acceleration [rad/s^2] that a feedback asks for (computed torque). Rigid
                bodies alone answer it: features know accelerations of motions, and those of a feedback are others.
            ahead: time from now to the motion [s]; infinite for a motion that is not planned.

        Raises:
            ShapeError, NotFiniteError: the motion does not fit the joints, or is not finite.
        """
        made = self._predict(predictor, watch, motion, ahead)
        unusual = self._usual is None or bool((made.variance > UNUSUAL**2 * self._usual).any())
        rigid = unusual and bool(made.parametric.any())  # otherwise there is nothing to fall back on
        wanted = made.parametric if rigid else made.total
        if correction is not None:
            more = motion._replace(acceleration=motion.acceleration + correction)
            wanted = wanted + self._predict(predictor, watch, more, ahead).parametric - made.parametric
        values = np.clip(wanted, -self.limits, self.limits)
        return Effort(values, np.sqrt(made.variance), rigid, bool((values != wanted).any()))

    @staticmethod
    def _predict(predictor: Predictor, watch: ChangeMonitor | None, motion: Motion, ahead: float) -> Prediction:
        state = motion.position, motion.velocity, motion.acceleration
        made = predictor.predict(*state, ahead) if isinstance(predictor, ExpertPredictor) else predictor.predict(*state)
        return made if watch is None else watch.compensated(made, motion)[0]


def effort_limits(urdf: str, joints: Sequence[str]) -> Array:
    """Return the limits (n_joints,) of the efforts in a URDF (path or XML text); infinite where it gives none, or 0.
    Raises ModelError if the URDF cannot be read."""
    found = {joint.get("name"): joint.find("limit") for joint in read_urdf(urdf).findall("joint")}
    values = []
    for name in joints:
        limit = found.get(name)
        try:
            value = float(limit.get("effort", "0")) if limit is not None else 0.0
        except ValueError:
            value = 0.0
        values.append(value if value > 0.0 else np.inf)
    return np.array(values)


def complete(
    times: Array, positions: Array, velocities: Array | None = None, accelerations: Array | None = None
) -> tuple[Array, Array]:
    """Return velocities and accelerations (n, n_joints) at the points of a trajectory; those given stay as they are.

    Without velocities, a cubic spline through the positions gives both. It begins and ends in motion, as the spline
    with not-a-knot ends does, or at rest where all joints of that are nearly at rest. With velocities, each point's
    acceleration is the mean of those of the cubic polynomials before and after it.

    Args:
        times: (n,) from 0 on, rising [s].
        positions: (n, n_joints).
        velocities, accelerations: (n, n_joints) or None.

    Raises:
        ParameterError: there is no point, there are more than MOST_POINTS, or times do not rise from 0 on.
        ShapeError, NotFiniteError: an array is of another size, or not finite.
    """
    times, positions = finite("times", times), finite("positions", positions)
    n = len(times)
    if not 1 <= n <= MOST_POINTS:
        raise ParameterError("points", n, f"from 1 to {MOST_POINTS}")
    if positions.ndim != 2 or len(positions) != n:
        raise ShapeError("positions", positions.shape, f"({n}, n_joints)")
    nearest = np.concatenate([[0.0], times[:-1] + NEAREST * 1e-9])  # in time, of the first point and the others
    for place in np.flatnonzero(times < nearest)[:1]:
        bound = f"at least {nearest[place]:.9g}: 0 or more, and {NEAREST} ns after the point before"
        raise ParameterError(f"points[{place}].time_from_start", float(times[place]), bound)
    given = {"velocities": velocities, "accelerations": accelerations}
    v, a = (None if values is None else finite(name, values) for name, values in given.items())
    for name, values in zip(given, (v, a), strict=True):
        if values is not None and values.shape != positions.shape:
            raise ShapeError(name, values.shape, f"{positions.shape}")
    v, a = (np.zeros_like(positions) if n == 1 and values is None else values for values in (v, a))
    if v is None:
        ends = CubicSpline(times, positions)(times[[0, -1]], 1)
        shares = np.diff(times)[[0, -1], None] / (times[-1] - times[0]) ** 2
        slow = NEAR_REST * shares * np.abs(np.diff(positions, axis=0)).sum(axis=0)
        moving = (np.abs(ends) > slow + 1e-6).any(axis=1, keepdims=True)  # more than positions are rounded
        spline = CubicSpline(times, positions, bc_type=tuple((1, end) for end in np.where(moving, ends, 0.0)))
        return spline(times, 1), (spline(times, 2) if a is None else a)
    if a is not None:
        return v, a
    cubic, square = CubicHermiteSpline(times, positions, v).c[:2]  # coefficients of each polynomial
    first, last = 2.0 * square, 6.0 * cubic * np.diff(times)[:, None] + 2.0 * square  # accelerations at its ends
    return v, (np.concatenate([first[:1], last]) + np.concatenate([first, last[-1:]])) / 2.0
