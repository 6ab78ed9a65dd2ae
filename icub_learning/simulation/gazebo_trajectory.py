"""Trajectories for Gazebo: a few points become a target for each step of the physics, within limits of velocity.

Gazebo's controller targets each point until its time has come, so that points far apart are jumps: one 1 rad away
throws an arm at 30 rad/s. Here quintics join the points, slowed down where they exceed the limits of the joints.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import make_interp_spline

from icub_learning.arrays import Array
from icub_learning.errors import SimulationError
from icub_learning.robots import of_type, read_urdf
from icub_learning.simulation.arm.quintic import QuinticSpline, hermite_accelerations, spline_velocities
from icub_learning.simulation.arm.trajectory import checked_points, checked_times, columns_of
from icub_learning.simulation.gazebo_model import STEP_NS, robot_of

STEP = STEP_NS * 1e-9  # [s] step of the physics
LONGEST = 600.0  # [s] longest trajectory: 600 000 points, a message of 80 MB
LONGEST_BRAKING = 20.0  # [s] longest time of braking; only an arm thrown far faster than it can move would need more
UNEVEN = 3.0  # ratio of neighbouring durations above which a quintic spline would swing
N_SAMPLES = 100  # largest number of samples of a piece, at which limits are checked
# Shares of the limits that are used by a path followed more slowly: of velocities, of accelerations where the path
# itself is too fast, and of accelerations elsewhere. The simulated arm lags behind its targets by an angle proportional
# to their acceleration: with 0.8 of all limits it went a tenth of the way too far.
VELOCITY_SHARE, GENTLE, FIRM = 0.8, 0.25, 0.8
LEAST_SQUARED = 1e-12  # square of the slowest speed at which a trajectory is followed, relative to the requested speed
INSIDE = 1e-6  # [rad] angle by which a point may lie beyond a limit
AT_START = 0.01  # [rad] distance up to which a first point at time 0 counts as the arm's position


@dataclass(frozen=True)
class Joints:
    """Joints and their limits, which trajectories respect; arrays are (n_joints,)."""

    names: tuple[str, ...]  # the joints, in the order of all arrays
    lower: Array  # lower limit of position [rad]
    upper: Array  # upper limit of position [rad]
    velocity: Array  # largest velocity [rad/s]
    acceleration: Array  # largest acceleration [rad/s^2]


@dataclass(frozen=True)
class Commands:
    """Targets for each step of the physics after the start."""

    positions: Array  # (n_steps, n_joints) [rad]
    slower: float = 1.0  # duration over the requested duration; 1 if it is not slowed down
    reason: str = ""  # what would exceed a limit at the requested speed, in words; "" if nothing


def joints_of(config: str | os.PathLike[str], velocity: float, acceleration: float) -> Joints:
    """Return the joints of a parameter file's robot with these limits of velocity [rad/s] and acceleration [rad/s^2];
    the URDF may limit velocities further. Raises what gazebo_model.robot_of does."""
    urdf, names, _ = robot_of(config)
    joints = {joint.get("name"): joint for joint in read_urdf(urdf).findall("joint")}
    limits = [joints[name].find("limit") if name in joints else None for name in names]
    endless = np.isin(names, of_type(joints.values(), ("continuous",)))  # limits written there do not count

    def numbers(kind: str, otherwise: float) -> Array:
        return np.array([otherwise if limit is None else float(limit.get(kind, otherwise)) for limit in limits])

    given = numbers("velocity", np.inf)
    lower, upper = (np.where(endless, one, numbers(kind, one)) for kind, one in (("lower", -np.inf), ("upper", np.inf)))
    largest = np.minimum(np.where(given > 0.0, given, np.inf), velocity)  # 0, as some exporters write, is no limit
    return Joints(names, lower, upper, largest, np.full(len(names), acceleration))


def follow(
    joints: Joints, start: Array, joint_names: Sequence[str], times: ArrayLike, positions: ArrayLike,
    velocities: ArrayLike | None = None,
) -> Commands:  # fmt: skip
    """Return commands for a trajectory that begins and ends at rest.

    Quintic pieces join the points. Velocities that are not given are those of the spline through the points, quintic if
    they are about evenly spaced and otherwise cubic; they are 0 for a joint that it would take beyond its limits. Where
    the path exceeds the largest velocity or acceleration, it is followed more slowly, and all that follows is delayed.

    The arm stands at `start` (n_joints,) [rad]; other arguments and errors are those of TrajectoryMotion. A trajectory
    longer than LONGEST raises SimulationError, too.
    """
    columns = columns_of(joint_names, joints.names)
    knots = np.append(0.0, checked_times(times))
    size = len(knots) - 1, len(columns)
    points = np.tile(start, (len(knots), 1))
    points[1:, columns] = checked_points("positions", positions, *size)
    given = None
    if velocities is not None:
        given = np.zeros_like(points)
        given[1:, columns] = checked_points("velocities", velocities, *size)
        given[-1] = 0.0
    _check_inside(joints, points[1:], columns)
    if knots[1] == 0.0:
        if len(knots) > 2 and np.abs(points[1] - start).max() <= AT_START:
            knots, points = np.delete(knots, 1), np.delete(points, 1, axis=0)
            given = None if given is None else np.delete(given, 1, axis=0)
        else:
            knots[1:] += STEP  # followed more slowly, the way there takes the time that it needs
    spline = _spline(joints, knots, points, given)
    path = _Path(joints, spline, _samples(joints, knots, *spline(knots)[:2]))
    reason = path.reason()
    passed = path.slowed() if reason else path.places
    if passed[-1] > LONGEST:
        text = f"the trajectory lasts {passed[-1]:.4g} s, at most {LONGEST:g} s: send it in pieces"
        raise SimulationError(text, name="times", value=float(passed[-1]), bound=f"at most {LONGEST:g} s")
    return path.commands(passed, reason)


def brake(joints: Joints, position: Array, velocity: Array) -> Commands:
    """Return commands that bring an arm at `position` [rad] with `velocity` [rad/s], (n_joints,) each, to rest.

    They stay within the largest acceleration, unless braking would then take more than LONGEST_BRAKING.
    """
    duration = float(np.clip(np.max(2.0 * np.abs(velocity) / joints.acceleration), 0.1, LONGEST_BRAKING))
    lower, upper = np.minimum(joints.lower, position), np.maximum(joints.upper, position)
    end = np.clip(position + velocity * duration / 2.0, lower, upper)
    states = np.zeros((3, 2, len(position)))
    states[0], states[1, 0] = [position, end], velocity
    knots = np.array([0.0, duration])
    path = _Path(joints, QuinticSpline(knots, states), knots)  # samples at its ends suffice: nothing is slowed down
    return path.commands(path.places, "")


def _check_inside(joints: Joints, points: Array, columns: list[int]) -> None:
    beyond = np.maximum(joints.lower - points, points - joints.upper)[:, columns]
    row, column = divmod(int(np.argmax(beyond)), len(columns))
    if beyond[row, column] > INSIDE:
        joint = columns[column]
        name, value = joints.names[joint], float(points[row, joint])
        bound = f"[{joints.lower[joint]:g}, {joints.upper[joint]:g}] rad"
        text = f"point {row} of the trajectory has joint '{name}' at {value:g} rad: not within {bound}"
        raise SimulationError(text, name=name, value=value, bound=bound)


def _spline(joints: Joints, knots: Array, points: Array, given: Array | None) -> QuinticSpline:
    """Join points at rest at both ends, within the joints' limits."""
    durations = np.diff(knots)
    slopes = np.diff(points, axis=0) / durations[:, None]
    too_fast = np.abs(slopes) > joints.velocity
    even = np.maximum(durations[1:], durations[:-1]) <= UNEVEN * np.minimum(durations[1:], durations[:-1])
    if given is None and len(knots) > 2 and even.all() and not too_fast.any():
        # Its snap is continuous; a cubic one's jerk jumps at each point, which the learner's filter does not expect.
        rest = [(order, np.zeros(points.shape[1])) for order in (1, 2)]
        quintic = make_interp_spline(knots, points, k=5, bc_type=(rest, rest))
        velocities, accelerations = quintic(knots, 1), quintic(knots, 2)
    else:
        velocities = spline_velocities(knots, points) if given is None else given
        # Beside a piece that is too fast a spline swings out: its slopes are bounded as by Fritsch and Carlson (1980).
        beside = too_fast[:-1] | too_fast[1:]
        most = np.where(beside, 3.0 * np.minimum(np.abs(slopes[:-1]), np.abs(slopes[1:])), np.inf)
        velocities[1:-1] = np.clip(velocities[1:-1], -most, most)
        accelerations = np.zeros_like(points)
        accelerations[1:-1] = np.where(beside, 0.0, hermite_accelerations(knots, points, velocities))
    states = np.stack([points, velocities, accelerations])
    spline = QuinticSpline(knots, states)
    lower = np.minimum(joints.lower, points.min(axis=0)) - INSIDE
    upper = np.maximum(joints.upper, points.max(axis=0)) + INSIDE
    positions = spline(_samples(joints, knots, points, velocities))[0]
    outside = ((positions < lower) | (positions > upper)).any(axis=0)
    if outside.any():  # at rest at each point, a quintic stays between the points
        states[1:, :, outside] = 0.0
        spline = QuinticSpline(knots, states)
    return spline


def _samples(joints: Joints, knots: Array, points: Array, velocities: Array) -> Array:
    """Return sample times (n,) [s] from the first knot to the last: N_SAMPLES in a piece that is long or too fast."""
    durations = np.diff(knots)
    needed = np.maximum(  # [s] time that each piece needs within the limits
        np.abs(np.diff(points, axis=0)) / joints.velocity, np.abs(np.diff(velocities, axis=0)) / joints.acceleration
    ).max(axis=1)
    number = np.clip(np.ceil(2.0 * np.maximum(durations, needed) / STEP), 2, N_SAMPLES).astype(int)
    piece = np.repeat(np.arange(len(durations)), number)
    place = np.arange(len(piece)) - np.repeat(np.cumsum(number) - number, number)
    return np.append(knots[piece] + durations[piece] * place / number[piece], knots[-1])


class _Path:
    """A path p(u) that is followed at u' <= 1: u is time where nothing is too fast.

    Then velocities are p' u' and accelerations p'' u'^2 + p' u''. With x = u'^2, whose slope over u is 2 u'', they stay
    within their limits if x <= (v / p')^2, x <= a / (2 p'') and |dx/du| <= a / p' for every joint: the largest such x
    is found in one pass forward and one backward (Bobrow, Dubowsky and Gibson 1985, with half of a for each term).
    """

    def __init__(self, joints: Joints, spline: QuinticSpline, places: Array) -> None:
        self._joints, self._spline, self.places = joints, spline, places
        _, self._slope, self._curvature = spline(self.places)
        self._rate = np.ones(len(self.places))  # u'

    def reason(self) -> str:
        """Return what is beyond a limit at u' = 1, in words; "" if nothing is."""
        joints = self._joints
        for name, unit, values, most in (
            ("velocity", "rad/s", self._slope, joints.velocity),
            ("acceleration", "rad/s^2", self._curvature, joints.acceleration),
        ):
            row, column = divmod(int(np.argmax(np.abs(values) / most)), values.shape[1])
            value = abs(float(values[row, column]))
            if value > most[column] * (1.0 + 1e-6):
                return f"joint '{joints.names[column]}' would need a {name} of {value:.3g} {unit}"
        return ""

    def slowed(self) -> Array:
        """Find u' and return the times (n,) [s] at which the path passes `places`."""
        joints = self._joints
        slope, curvature = np.abs(self._slope), np.abs(self._curvature)
        with np.errstate(divide="ignore", over="ignore"):
            too_fast = ((slope > joints.velocity) | (curvature > joints.acceleration / 2.0)).any(axis=1)
            share = np.where(too_fast, GENTLE, FIRM)[:, None]
            velocity, acceleration = VELOCITY_SHARE * joints.velocity, share * joints.acceleration
            most = np.minimum((velocity / slope) ** 2, acceleration / (2.0 * curvature)).min(axis=1)
            change = (acceleration / slope).min(axis=1)
        most[1:-1] = np.minimum.reduce([most[:-2], most[1:-1], most[2:]])  # limits hold between the samples, too
        steps = np.diff(self.places)
        change = (np.minimum(change[:-1], change[1:]) * steps).tolist()
        squared = np.clip(most, LEAST_SQUARED, 1.0).tolist()
        for k in range(1, len(squared)):
            squared[k] = min(squared[k], squared[k - 1] + change[k - 1])
        for k in range(len(squared) - 1, 0, -1):
            squared[k - 1] = min(squared[k - 1], squared[k] + change[k - 1])
        rate = self._rate = np.sqrt(squared)
        return np.concatenate([[0.0], np.cumsum(2.0 * steps / (rate[1:] + rate[:-1]))])

    def commands(self, times: Array, reason: str) -> Commands:
        """Return the commands at each step of the physics, given the times of `places`; the last one is the end."""
        steps = np.arange(1, int(np.ceil(times[-1] / STEP - 1e-6)) + 1) * STEP
        k = np.clip(np.searchsorted(times, steps, side="right") - 1, 0, len(times) - 2)
        since = np.minimum(steps, times[-1]) - times[k]
        rate = self._rate
        faster = (rate[k + 1] - rate[k]) / (times[k + 1] - times[k])  # u'', constant between two places
        positions, _, _ = self._spline(self.places[k] + rate[k] * since + faster * since**2 / 2.0)
        return Commands(positions, float(times[-1] / self.places[-1]), reason)
