"""Measured outputs against those that the URDF predicts: swapped axes, and the sign of gravity."""

from collections.abc import Iterator
from itertools import permutations, product

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics.regressors.torque_regressor import TorqueRegressor
from icub_learning.dynamics.regressors.wrench_regressor import WrenchRegressor
from icub_learning.dynamics.settings import Settings
from icub_learning.errors import ModelError, RecordingError
from icub_learning.evaluation.robot_check.observation import OPEN, RIGHT, WRONG, Finding, Observation
from icub_learning.evaluation.zero_phase import resample, zero_phase

BANDWIDTH = 2.0  # [Hz] of motions and measurements: gravity changes slowly
ROWS = 500  # samples that are predicted
EDGE = 0.25  # [s] left out at both ends, where filtered derivatives are poor
EXPLAINED = 0.25  # largest mean share of the variance that another order of axes may leave open, to be believed
LEAST_OPEN, TIMES_MORE = 0.1, 3.0  # what the plain order must leave open: at least, and relative to the other one
STATIC = 0.02  # [rad/s] over which Coulomb friction changes its sign
SURE = 0.85  # partial correlation of an effort with the URDF's torque
LEAST_TORQUE = 0.2  # [N m] standard deviation of the URDF's torque of a joint that tells
NO_REASON = "too little is known to compare measurements with gravity"


def check_gravity(seen: Observation) -> list[Finding]:
    """Compare wrenches, or efforts, with those of the URDF's masses."""
    try:
        return _wrench(seen) if seen.has_wrench else _efforts(seen)
    except (ModelError, RecordingError) as error:
        return [Finding("gravity", OPEN, f"{NO_REASON}: {error}")]


def _wrench(seen: Observation) -> list[Finding]:
    settings = Settings(urdf=seen.urdf, joints=seen.joints, output="wrench", sensor=seen.sensor)
    regressor = WrenchRegressor.from_urdf(seen.urdf, seen.joints, seen.sensor, offset=False)
    expected, measured, _ = _compared(seen, settings, regressor)
    verdicts = [_order(measured[:, part], expected[:, part]) for part in (slice(0, 3), slice(3, 6))]
    if all(verdict is None for verdict in verdicts):
        return [Finding("gravity", OPEN, f"{NO_REASON}: the wrench hardly changed")]
    straight = (1, 1, 1), (0, 1, 2)
    reaction = (-1, -1, -1), (0, 1, 2)
    known = [verdict for verdict in verdicts if verdict is not None]
    if all(verdict == straight for verdict in known):
        return [Finding("gravity", RIGHT, "the wrench follows the weight that the URDF says, axis by axis and in sign")]
    if all(verdict == reaction for verdict in known):
        text = "the wrench has the opposite sign of the URDF's weight: the sensor shows the reaction (child to parent)"
        remedy = "set wrench_direction: child_to_parent, as below; check that the base is not mounted upside down"
        return [Finding("gravity", WRONG, text, remedy, {"wrench_direction": "child_to_parent"})]
    parts = []
    for what, verdict in zip(("force", "torque"), verdicts, strict=True):
        if verdict not in (None, straight):
            signs, order = verdict
            shown = ", ".join(
                f"{what}.{own} shows {'-' if sign < 0 else ''}{'xyz'[axis]}"
                for own, sign, axis in zip("xyz", signs, order, strict=True)
                if sign < 0 or "xyz"[axis] != own
            )
            parts.append(shown)
    text = f"axes of the wrench are swapped or turned against the URDF: {'; '.join(parts)}"
    remedy = "correct the order in the driver, or the rotation of the sensor's joint in the URDF"
    return [Finding("axes", WRONG, text, remedy)]


Order = tuple[tuple[int, ...], tuple[int, ...]]  # sign of each measured axis, and which true axis it shows


def _order(measured: Array, expected: Array) -> Order | None:
    """Return which axes three measured ones show, (n, 3) each; None where they do not tell.

    Each order and choice of signs leaves open some of the measured variance. The plain order is believed unless another
    one leaves open much less: with few postures axes move alike, and cables move them too.
    """
    measured, expected = measured - measured.mean(axis=0), expected - expected.mean(axis=0)
    lively = (np.ptp(measured, axis=0) > 1e-9) & (np.abs(measured).max(axis=0) > 0)
    if lively.sum() < 2 or (expected.std(axis=0) > 0.02).sum() < 2:
        return None
    spread = np.outer(measured.std(axis=0), expected.std(axis=0))
    correlation = measured.T @ expected / len(measured) / np.maximum(spread, 1e-9)
    open_share = {order: _open_share(correlation, order, lively) for order in _orders()}
    plain = (1, 1, 1), (0, 1, 2)
    best = min(open_share, key=lambda order: open_share[order])
    if open_share[best] < EXPLAINED and open_share[plain] > max(LEAST_OPEN, TIMES_MORE * open_share[best]):
        return best
    return plain if open_share[plain] < 2 * EXPLAINED else None


def _orders() -> Iterator[Order]:
    yield from product(product((1, -1), repeat=3), permutations(range(3)))


def _open_share(correlation: Array, order: Order, lively: np.ndarray) -> float:
    """Mean share of the variance of the lively axes that an order leaves open; more than 1 for a wrong sign."""
    found = [sign * correlation[own, axis] for own, (sign, axis) in enumerate(zip(*order, strict=True)) if lively[own]]
    return float(np.mean([1 - value * abs(value) for value in found]))


def _efforts(seen: Observation) -> list[Finding]:
    settings = Settings(urdf=seen.urdf, joints=seen.joints, output="joint_torque")
    if seen.recording.effort is None:
        return []
    regressor = TorqueRegressor.from_urdf(seen.urdf, seen.joints, friction=False)
    expected, measured, velocity = _compared(seen, settings, regressor)
    told, reversed_ = [], []
    for index, name in enumerate(seen.joints):
        friction = np.column_stack([np.ones(len(velocity)), velocity[:, index], np.tanh(velocity[:, index] / STATIC)])
        own, shown = (_without(values[:, index], friction) for values in (expected, measured))
        size = np.sqrt((own @ own) * (shown @ shown))
        if expected[:, index].std() < LEAST_TORQUE or size < 1e-12 or abs(own @ shown) < SURE * size:
            continue
        told.append(name)
        if own @ shown < 0:
            reversed_.append(name)
    if not told:
        return [Finding("gravity", OPEN, f"{NO_REASON}: no effort follows the URDF's torques clearly")]
    if not reversed_:
        return [Finding("gravity", RIGHT, f"efforts follow the URDF's gravity in sign ({', '.join(told)})")]
    if len(reversed_) == len(told) > 1:
        text = "efforts have the opposite sign of the URDF's gravity: they are what the load does to the joints"
    else:
        text = f"the effort of {', '.join(reversed_)} has the opposite sign of the URDF's gravity"
    return [Finding("gravity", WRONG, text, "turn the sign in the driver, or the axis of the joint in the URDF")]


def _without(values: Array, columns: Array) -> Array:
    """Return values (n,) less what columns (n, k) explain."""
    found: Array = values - columns @ np.linalg.lstsq(columns, values, rcond=None)[0]
    return found


def _compared(
    seen: Observation, settings: Settings, regressor: WrenchRegressor | TorqueRegressor
) -> tuple[Array, Array, Array]:
    """Return expected and measured outputs (n, n_outputs) and velocities (n, n_joints), slow parts alone.

    Raises RecordingError if there are too few samples.
    """
    signals = resample(seen.recording, settings)
    filtered = zero_phase(signals, min(BANDWIDTH, 0.4 / signals.step), False)
    edge = min(int(EDGE / signals.step), len(signals.times) // 8)
    inside = slice(edge, len(signals.times) - edge, max(1, len(signals.times) // ROWS))
    motion = (filtered.position[inside], filtered.velocity[inside], filtered.acceleration[inside])
    expected = np.array([regressor(*state) @ regressor.nominal_parameters for state in zip(*motion, strict=True)])
    return expected, filtered.outputs[inside], filtered.velocity[inside]
