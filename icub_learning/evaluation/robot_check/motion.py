"""Checks of motions against the URDF, and of velocities against positions: units, limits, zeros."""

from dataclasses import replace

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics.stream.sensor_faults import MARGIN, MOST_BEYOND, beyond_limits
from icub_learning.evaluation.robot_check.observation import OPEN, RIGHT, WRONG, Finding, Observation, listed
from icub_learning.robots import of_type, position_limits

REPEATED = 0.2  # share of the stamps in a window that may repeat
WINDOW = 0.25  # [s] window over which velocities are integrated: a delay of some milliseconds counts little
LEAST_WAY = 0.02  # [rad] least displacement in a window, root mean square, of a joint that is judged
NEAR = (0.7, 1.4)  # range of displacement by velocities over displacement by positions that counts as right
IN_DEGREES = (40.0, 80.0)  # range of this ratio, about 180 / pi, that shows degrees per second
TRUSTED = 0.8  # least correlation of the two displacements with which their ratio is judged
LONGEST_WAIT = 0.05  # [s] by which a message may be late beyond three usual periods
TO_RADIANS = "publish radians (REP-103): multiply by pi / 180"
UNMEASURED = "nothing need be done: they come from positions; measured ones help where positions are coarse"
CATCHING_UP = 1.2  # rate over the usual rate, above which delayed messages are arriving


def check_positions(seen: Observation) -> list[Finding]:
    """Compare positions with the URDF's limits."""
    low, high = np.reshape(position_limits(seen.root, seen.joints), (-1, 2)).T
    limited = np.isfinite(low) & np.isfinite(high)
    position = seen.recording.position[:, [seen.recording.joint_names.index(name) for name in seen.joints]][:, limited]
    if not position.size:
        return [Finding("positions", OPEN, "the URDF gives no limits of positions to compare with")]
    low, high = low[limited], high[limited]
    names, turning = np.array(seen.joints)[limited], of_type(seen.root.findall("joint"), ("revolute", "continuous"))
    beyond, turns = beyond_limits(position, low, high).mean(axis=0) > MOST_BEYOND, np.isin(names, turning)
    if not beyond.any():
        return [Finding("positions", RIGHT, "positions are within the URDF's limits")]
    outside = beyond_limits(np.radians(position), low, high).mean(axis=0)
    degrees, found = beyond & turns & (outside < MOST_BEYOND), list[Finding]()
    if degrees.any():
        most, own = 2 * degrees.sum() > turns.sum(), seen.recording.position  # most: the others hardly moved
        chosen = np.isin(seen.recording.joint_names, turning if most else names[degrees])
        which = listed(np.array(seen.recording.joint_names)[chosen].tolist())
        text = f"positions of {which} look like degrees: up to {np.abs(own[:, chosen]).max():.3g}"
        corrected = replace(seen.recording, position=np.where(chosen, np.radians(own), own))
        found = [Finding("degrees", WRONG, text, TO_RADIANS, corrected=corrected)]
    if (rest := beyond & ~degrees).any():
        text = f"{', '.join(names[rest])}: more than {MARGIN:g} rad, or m, beyond the URDF's limits"
        remedy = "compare zero positions with the URDF's, names, and units: metres where a joint slides (REP-103)"
        found.append(Finding("limits", WRONG, text, remedy))
    return found


def check_motion(seen: Observation) -> list[Finding]:
    """Check that the robot moved: at rest neither signs nor units nor axes can be judged."""
    if not len(seen.recording.position):
        return []
    way = np.ptp(seen.recording.position, axis=0)
    still = [name for name, distance in zip(seen.recording.joint_names, way, strict=True) if distance < 1e-3]
    if len(still) == len(way):
        text = "the robot stood still: signs, units and axes cannot be judged"
        return [Finding("motion", OPEN, text, "move all joints by some tenths of a radian and check again")]
    if still:
        return [Finding("motion", OPEN, f"these joints stood still: {', '.join(still)}", "move them to learn of them")]
    return [Finding("motion", RIGHT, f"all joints moved, by {np.median(way):.2g} rad (median)")]


def check_velocities(seen: Observation) -> list[Finding]:
    """Compare velocities, integrated over short windows, with the changes of the positions."""
    if (velocity := seen.recording.velocity) is None or not velocity.size:
        return [Finding("velocity_missing", OPEN, "joint states carry no velocities", UNMEASURED)]
    circular = of_type(seen.root.findall("joint"), ("continuous",))
    endless, position = np.isin(seen.recording.joint_names, circular), seen.recording.position
    times, turns = seen.recording.joint_stamps * 1e-9, np.unwrap(position, axis=0)  # a driver may begin again at -pi
    ratios = _ratios(times, np.where(endless, turns, position), velocity)
    names, moving, measured = np.array(seen.recording.joint_names), np.isfinite(ratios), (velocity != 0.0).any(axis=0)
    if not moving.any():
        return [Finding("velocities", OPEN, "no joint moved far enough to judge its velocities")]
    wrong = moving & measured & (np.digitize(ratios, NEAR) != 1)
    doubted = wrong & endless  # perhaps in degrees, which begin again at -180
    turned = _ratios(times, np.unwrap(np.radians(position), axis=0), velocity) if doubted.any() else ratios
    if (degrees := doubted & (np.digitize(turned, (*NEAR, *IN_DEGREES)) % 2 == 1)).any():
        text = f"positions of {listed(names[degrees].tolist())} fit their velocities once they are taken as degrees"
        corrected = replace(seen.recording, position=np.where(degrees, np.radians(position), position))
        found = Finding("degrees", WRONG, text, TO_RADIANS, corrected=corrected)
        return [found, *check_velocities(replace(seen, recording=corrected))]
    estimated: dict[str, object] = {"velocity_source": "estimated"}
    if not wrong.any() and not measured[moving].all():
        which = listed(names[moving & ~measured].tolist()) if measured.any() else "all joints"
        return [Finding("velocity_missing", OPEN, f"velocities of {which} are 0 while they move", UNMEASURED)]
    if not wrong.any():
        return [Finding("velocities", RIGHT, f"velocities are those of the positions ({moving.sum()} joints moved)")]
    if (np.digitize(ratios[wrong], IN_DEGREES) == 1).all():
        shown = listed(names[wrong].tolist())
        text = f"velocities of {shown} are {ratios[wrong][0]:.1f} times those of the positions, once positions are in"
        text += " radians: degrees per second"
        chosen = wrong | ~moving if (wrong == moving).all() else wrong
        corrected = replace(seen.recording, velocity=np.where(chosen, np.radians(velocity), velocity))
        return [Finding("degrees", WRONG, text, "publish rad/s (REP-103): multiply by pi / 180", estimated, corrected)]
    named = zip(names, ratios, wrong, strict=True)
    shown = ", ".join(f"{name} {f'{one:.2g} times' if one else 'uncorrelated'}" for name, one, bad in named if bad)
    text = f"velocities are not those of the positions: {shown}"
    remedy = "correct sign or scale in the driver; until then velocity_source: estimated"
    return [Finding("velocities", WRONG, text, remedy, estimated, replace(seen.recording, velocity=None))]


def _ratios(times: Array, position: Array, velocity: Array) -> Array:
    """Return displacement by velocities over that by positions, (n_joints,): 0 if uncorrelated, NaN if at rest."""
    steps = np.diff(times)
    good = (steps > 0) & (steps < WINDOW)
    means = np.where(good[:, None], (velocity[1:] + velocity[:-1]) / 2 * steps[:, None], np.diff(position, axis=0))
    summed = np.vstack([np.zeros(position.shape[1]), np.cumsum(means, axis=0)])
    edges = np.flatnonzero(np.diff(np.floor((times - times[0]) / WINDOW), prepend=-1.0) > 0)  # firsts of the windows
    regular = _regular(times, steps, edges)
    by_velocity, by_position = np.diff(summed[edges], axis=0)[regular], np.diff(position[edges], axis=0)[regular]
    if len(by_position) < 4:
        return np.full(position.shape[1], np.nan)
    square, both = (by_position**2).mean(axis=0), (by_velocity * by_position).mean(axis=0)
    correlation = both / np.sqrt(np.maximum(square * (by_velocity**2).mean(axis=0), 1e-12))
    ratio = both / np.maximum(square, 1e-12)
    return np.where(np.sqrt(square) < LEAST_WAY, np.nan, np.where(np.abs(correlation) > TRUSTED, ratio, 0.0))


def _regular(times: Array, steps: Array, edges: np.ndarray) -> np.ndarray:
    """Return in which windows messages came at their usual rate: in others arrival times do not yield velocities."""
    if len(edges) < 2:
        return np.zeros(0, bool)
    held_up = np.maximum.reduceat(steps, edges[:-1]) > LONGEST_WAIT + 3 * np.median(steps)
    after = np.concatenate([[False], held_up[:-1]])
    rates: Array = np.diff(edges) / np.maximum(np.diff(times[edges]), 1e-9)
    repeated = np.add.reduceat((steps <= 0).astype(int), edges[:-1]) > REPEATED * np.diff(edges)  # a clock was set back
    return np.asarray(~(held_up | after | repeated | (rates > CATCHING_UP * np.median(rates))))


CHECKS = (check_positions, check_velocities, check_motion)
