"""Checks of wrenches and efforts against motion and URDF: frozen axes, levers, frames, axes and sign of gravity."""

from itertools import permutations, product

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics import TorqueRegressor, WrenchRegressor
from icub_learning.dynamics.regressors.robot_model import RobotModel
from icub_learning.dynamics.settings import Settings
from icub_learning.dynamics.stream.sensor_faults import LONGEST_LEVER
from icub_learning.errors import ModelError, RecordingError
from icub_learning.evaluation.motions import resample, zero_phase
from icub_learning.evaluation.robot_check.observation import OPEN, RIGHT, WRONG, Finding, Observation
from icub_learning.recording.recording import AXES
from icub_learning.robots import link_at

MOVED = 0.05  # [rad] range through which a joint must have moved for sensors to be judged
LEAST_CHANGE = 1e-12  # [N, N m] smaller changes are remains in uninitialized memory, not measurements
BANDWIDTH = 2.0  # [Hz] bandwidth of the filter of motions and measurements: gravity changes slowly
ROWS = 500  # samples that are predicted, approximately
EDGE = 0.25  # [s] time left out at both ends, where derivatives of filtered signals are poor
EXPLAINED = 0.25  # largest mean share of the variance that another order of axes may leave unexplained
LEAST_OPEN, TIMES_MORE = 0.1, 3.0  # least share that a wrong plain order leaves open; least ratio to the right order's
STATIC = 0.02  # [rad/s] velocity scale over which Coulomb friction changes its sign
SURE = 0.85  # least partial correlation of an effort with the URDF's torque that counts as clear
LEAST_TORQUE = 0.2  # [N m] standard deviation of the URDF's torque with which a joint is judged in any case
OF_LARGEST, OF_MEASURED = 0.03, 0.2  # shares of the largest and of the measured one with which it is, too
COMPARE = "compare signs and zeros of the joints, and masses, with the URDF's; see whether gravity is compensated"
NO_REASON = "too little is known to compare measurements with gravity"
Order = tuple[tuple[int, ...], tuple[int, ...]]  # sign of each measured axis, and the true axis that it shows
ORDERS: tuple[Order, ...] = tuple(product(product((1, -1), repeat=3), permutations(range(3))))  # all possible ones
STRAIGHT, REACTION = ((1, 1, 1), (0, 1, 2)), ((-1, -1, -1), (0, 1, 2))  # right axes; right axes, opposite sign


def check_frozen(seen: Observation) -> list[Finding]:
    """Look for axes of the wrench, or efforts, that stay at one number while the robot moves."""
    moved = np.ptp(seen.recording.position, axis=0) if len(seen.recording.position) else np.zeros(1)
    if moved.max() < MOVED:
        return [Finding("frozen", OPEN, "the robot hardly moved: whether sensors answer cannot be judged")]
    values, names = seen.recording.effort, seen.recording.joint_names
    if seen.has_wrench:
        values, names = seen.recording.wrench, AXES
    if values is None:
        return []
    still = np.ptp(values, axis=0) < LEAST_CHANGE
    if not seen.has_wrench:
        still &= moved >= MOVED  # the effort of a joint at rest may stay as it is
    if not (frozen := [name for name, one in zip(names, still, strict=True) if one]):
        return [Finding("frozen", RIGHT, "all measured outputs change while the robot moves")]
    text = f"{', '.join(frozen)} never changed while joints moved by up to {moved.max():.2g} rad"
    return [Finding("frozen", WRONG, text, "look for a wrong index in the driver, or a sensor that is not connected")]


def check_lever(seen: Observation) -> list[Finding]:
    """Look for torques that are larger than the forces times the longest lever of an arm."""
    if not seen.has_wrench or seen.recording.wrench is None:
        return []
    force, torque = np.abs(seen.recording.wrench[:, :3]), np.abs(seen.recording.wrench[:, 3:])
    limit = LONGEST_LEVER * max(float(np.linalg.norm(force.max(axis=0))), 1.0)
    if not (beyond := [name for name, largest in zip(AXES[3:], torque.max(axis=0), strict=True) if largest > limit]):
        return [Finding("lever", RIGHT, "torques are of a size that the forces explain")]
    text = f"{', '.join(beyond)} up to {torque.max():.3g}, more than {LONGEST_LEVER:g} m times the forces"
    return [Finding("lever", WRONG, text, "publish N m, not N mm; look for numbers that nobody wrote")]


def check_frame(seen: Observation) -> list[Finding]:
    """Compare the frame of the wrenches with the links of the URDF."""
    if not seen.has_wrench or seen.wrench_frame is None:
        return []
    links = [link_at(joint, "child") for joint in seen.root.findall("joint") if joint.get("name") == seen.sensor]
    settings: dict[str, object] = {"frame_id": links[0]} if links else {}
    if not seen.wrench_frame:
        return [Finding("frame", WRONG, "wrenches name no frame", "set frame_id of the node, as below", settings)]
    if seen.wrench_frame.lstrip("/") not in {element.get("name") for element in seen.root.findall("link")}:
        text = f"the frame of the wrenches, {seen.wrench_frame!r}, is no link of the URDF"
        return [Finding("frame", WRONG, text, "set frame_id of the node to the sensor's link, as below", settings)]
    return [Finding("frame", RIGHT, f"wrenches are given in the frame {seen.wrench_frame}")]


def check_gravity(seen: Observation) -> list[Finding]:
    """Compare wrenches, or efforts, with those that the URDF's masses cause, if a model can be built from it."""
    try:
        bodies = RobotModel(seen.urdf, seen.joints).model.inertias
    except ModelError as error:
        return [Finding("urdf", WRONG, f"no model can be built from the URDF: {error}", "correct it, or give another")]
    if not any(body.mass for body in bodies):
        return [Finding("gravity", OPEN, f"{NO_REASON}: the URDF gives the links that move no mass")]
    try:
        return _wrench(seen) if seen.has_wrench else _efforts(seen)
    except (ModelError, RecordingError) as error:
        return [Finding("gravity", OPEN, f"{NO_REASON}: {error}")]


def _wrench(seen: Observation) -> list[Finding]:
    settings = Settings(urdf=seen.urdf, joints=seen.joints, output="wrench", sensor=seen.sensor)
    regressor = WrenchRegressor.from_urdf(seen.urdf, seen.joints, seen.sensor, offset=False)
    expected, measured, _ = _compared(seen, settings, regressor)
    parts = {"force": slice(0, 3), "torque": slice(3, 6)}
    verdicts = {what: _order(measured[:, part], expected[:, part]) for what, part in parts.items()}
    if not (known := {what: verdict for what, verdict in verdicts.items() if verdict}) and () in verdicts.values():
        text = "the wrench does not follow the weight that the URDF says, in any order of its axes"
        return [Finding("gravity", OPEN, text, COMPARE)]
    if not known:
        return [Finding("gravity", OPEN, f"{NO_REASON}: the wrench hardly changes, or should not by the URDF")]
    if set(known.values()) == {STRAIGHT}:
        return [Finding("gravity", RIGHT, "the wrench follows the weight that the URDF says, axis by axis and in sign")]
    if set(known.values()) == {REACTION}:
        text = "the wrench has the opposite sign of the URDF's weight: the sensor shows the reaction (child to parent)"
        remedy = "set wrench_direction: child_to_parent, as below; check that the base is not mounted upside down"
        return [Finding("gravity", WRONG, text, remedy, {"wrench_direction": "child_to_parent"})]
    differing = []
    for what, verdict in known.items():
        shown = ["-" * (sign < 0) + "xyz"[axis] for sign, axis in zip(*verdict, strict=True)]
        if turned := [(own, axis) for own, axis in zip("xyz", shown, strict=True) if own != axis]:
            differing.append(", ".join(f"{what}.{own} shows {axis}" for own, axis in turned))
    text = f"axes of the wrench are swapped or turned against the URDF: {'; '.join(differing)}"
    remedy = "correct the order in the driver, or the rotation of the sensor's joint in the URDF"
    return [Finding("axes", WRONG, text, remedy)]


def _order(measured: Array, expected: Array) -> Order | tuple[()] | None:
    """Return which expected axes the measured ones show, (n, 3) each; () if none do, None if they hardly change."""
    measured, expected = measured - measured.mean(axis=0), expected - expected.mean(axis=0)
    lively = (np.ptp(measured, axis=0) > 1e-9) & (np.abs(measured).max(axis=0) > 0)
    if lively.sum() < 2 or (expected.std(axis=0) > 0.02).sum() < 2:
        return None
    spread = np.outer(measured.std(axis=0), expected.std(axis=0))
    correlation = measured.T @ expected / len(measured) / np.maximum(spread, 1e-9)
    open_share = {order: _open_share(correlation, order, lively) for order in ORDERS}
    best = min(open_share, key=lambda order: open_share[order])
    # Another order must explain much more: with few postures axes change alike, and cables change them too.
    if open_share[best] < EXPLAINED and open_share[STRAIGHT] > max(LEAST_OPEN, TIMES_MORE * open_share[best]):
        return best
    return STRAIGHT if open_share[STRAIGHT] < 2 * EXPLAINED else ()


def _open_share(correlation: Array, order: Order, lively: np.ndarray) -> float:
    """Return the mean share of variance of lively axes that an order leaves unexplained; above 1 for a wrong sign."""
    found = [sign * correlation[own, axis] for own, (sign, axis) in enumerate(zip(*order, strict=True)) if lively[own]]
    return float(np.mean([1 - value * abs(value) for value in found]))


def _efforts(seen: Observation) -> list[Finding]:
    settings = Settings(urdf=seen.urdf, joints=seen.joints, output="joint_torque")
    if seen.recording.effort is None:
        return []
    regressor = TorqueRegressor.from_urdf(seen.urdf, seen.joints, friction=False)
    expected, measured, velocity = _compared(seen, settings, regressor)
    spread, likeness = expected.std(axis=0), dict[str, float]()  # partial correlations where the URDF's torques change
    least = np.minimum(LEAST_TORQUE, np.maximum(OF_LARGEST * spread.max(), OF_MEASURED * measured.std(axis=0)))
    for index, name in enumerate(seen.joints):
        friction = np.column_stack([np.ones(len(velocity)), velocity[:, index], np.tanh(velocity[:, index] / STATIC)])
        values = np.column_stack([expected[:, index], measured[:, index]])
        own, shown = (values - friction @ np.linalg.lstsq(friction, values, rcond=None)[0]).T
        if spread[index] >= least[index]:
            likeness[name] = float(own @ shown / max(np.sqrt((own @ own) * (shown @ shown)), 1e-12))
    told = [name for name, one in likeness.items() if abs(one) >= SURE]
    reversed_ = [name for name in told if likeness[name] < 0]
    unlike = f"efforts do not follow the URDF's torques: {', '.join(name for name in likeness if name not in told)}"
    found = [Finding("gravity", OPEN, unlike, COMPARE)] if len(told) < len(likeness) else []
    if not told:
        return found or [Finding("gravity", OPEN, f"{NO_REASON}: the URDF's torques hardly change")]
    if not reversed_:
        others = ", ".join(name for name in seen.joints if name not in likeness)
        text = f"efforts follow the URDF's torques in sign ({', '.join(told)})"
        return [Finding("gravity", RIGHT, text + (f"; those at {others} hardly change" if others else "")), *found]
    if len(reversed_) == len(told) > 1:
        text = "efforts have the opposite sign of the URDF's torques: they are what the load does to the joints"
    else:
        text = f"the effort of {', '.join(reversed_)} has the opposite sign of the URDF's torque"
    return [Finding("gravity", WRONG, text, "turn the sign in the driver, or the joint's axis in the URDF"), *found]


def _compared(seen: Observation, settings: Settings, regressor: WrenchRegressor | TorqueRegressor) -> tuple[Array, ...]:
    """Return expected and measured outputs (n, n_outputs) and velocities (n, n_joints), low-pass filtered."""
    signals = resample(seen.recording, settings)
    filtered = zero_phase(signals, min(BANDWIDTH, 0.4 / signals.step), False)
    edge = min(int(EDGE / signals.step), len(signals.times) // 8)
    inside = slice(edge, len(signals.times) - edge, max(1, len(signals.times) // ROWS))
    motion = [values[inside] for values in filtered.motion]
    expected = np.array([regressor(*state) @ regressor.nominal_parameters for state in zip(*motion, strict=True)])
    return expected, filtered.outputs[inside], motion[1]


CHECKS = (check_frame, check_frozen, check_lever, check_gravity)
