"""Pushes on a simulated arm: the contact test of this package beside the generalized momentum observer."""

from dataclasses import replace
from typing import Any

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics import assembly
from icub_learning.dynamics.regressors.link_effects import LinkEffects
from icub_learning.dynamics.regressors.regressor import Regressor
from icub_learning.dynamics.settings import Settings
from icub_learning.recording.recording import JointStateEvent, Recording
from icub_learning.reporting.tables import number
from icub_learning.simulation.zoo import ZOO
from icub_learning.simulation.zoo.sensing import Clock

ROBOT, RATE = "panda_1khz", 250.0  # robot, and rate of its joint torques [Hz], at which our monitor works
LEARNED, QUIET = 30.0, 30.0  # time to learn, and time without pushes after it, which sets thresholds [s]
FORCES = (2.0, 5.0, 10.0)  # magnitudes of the pushes [N]
HELD, PAUSE = 0.5, 2.0  # duration of a push, and of the pause after it [s]
PUSHES = 3  # pushes with each force in each draw
GAINS = (5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0)  # candidate gains of the observer [1/s]
STEP = 1e-4  # step along the velocity [s] of the central difference for dM/dt
SECOND = 1_000_000_000  # one second [ns]
SHIPPED, TEST = "contact test, 0.1 alarms in an hour", "contact test, as many alarms"
LEARNED_OBSERVER, URDF_OBSERVER = "momentum observer, learned parameters", "momentum observer, URDF's parameters"


def measure(seed: int, draws: int) -> dict[str, Any]:
    """Return the detection delays of our test and of the observers, as tables for the page."""
    quiet, count = QUIET * draws, PUSHES * draws
    rng = np.random.default_rng([seed, 34])
    begins = LEARNED + quiet + (HELD + PAUSE) * np.arange(count * len(FORCES))
    forces = rng.permutation(np.repeat(FORCES, count))
    found = replace(ZOO[ROBOT], clock=Clock(RATE, irregularity=0.05)).record(float(begins[-1]) + HELD + PAUSE, seed)
    settings = Settings(**found.settings, watch="always")
    effects = LinkEffects(assembly.make_regressor(settings))
    recording = found.recording
    times = recording.joint_stamps * 1e-9
    assert recording.effort is not None and recording.joint_arrivals is not None
    effort = recording.effort.copy()
    for begin, force in zip(begins, forces, strict=True):
        direction = rng.standard_normal(3)
        wrench = np.concatenate([force * direction / np.linalg.norm(direction), np.zeros(3)])
        for row in np.flatnonzero((times >= begin) & (times < begin + HELD)):
            effort[row] += effects(found.position[row], found.velocity[row], found.acceleration[row])[1] @ wrench
    later = {name: getattr(recording, name) + SECOND for name in ("joint_stamps", "joint_arrivals")}  # no stamp is 0
    pushed = replace(recording, effort=effort, **later)
    seen, momenta = _follow(pushed, settings, observe=True)
    still = (times >= LEARNED) & (times < begins[0])
    # One false alarm in the quiet time, as of an observer whose threshold is just above its residuals in that time.
    test, _ = _follow(pushed, replace(settings, contact_false_alarms=3600.0 / quiet), observe=False)
    detected = {SHIPPED: (seen, "-"), TEST: (test, "-")}  # when each sees a contact, and its gain
    alarms = count_alarms(test[still])  # as many are allowed to the observers
    settled = times >= LEARNED / 2  # before, parameters move too much for an observer
    for name, followed in momenta.items():
        momentum, rate = followed[settled].swapaxes(0, 1)
        choices = []
        for gain in GAINS:
            residual = np.zeros_like(effort)
            residual[settled] = residuals(gain, momentum, rate, effort[settled], times[settled])
            values = np.abs(residual) / np.maximum(np.abs(residual[still]).max(axis=0), 1e-12)
            shown = values.max(axis=1) > threshold(values[still].max(axis=1), alarms)
            choices.append((shown, number(gain)))
        detected[name] = min(choices, key=lambda one: np.minimum(delays(one[0], times, begins), 2 * HELD).sum())
    rows = []
    for name, (shown, best_gain) in detected.items():
        cells = [name]
        for force in FORCES:
            own = delays(shown, times, begins[forces == force])
            middle = float(np.median(own))
            cells += [number(1e3 * middle) if np.isfinite(middle) else "missed", str(int(np.isfinite(own).sum()))]
        rows.append([*cells, str(count_alarms(shown[still])), best_gain])
    columns = (f"{force:g} N: {what}" for force in FORCES for what in ("delay [ms]", f"seen of {count}"))
    head = ["", *columns, "alarms", "gain [1/s]"]
    text = (
        f"Simulated Panda, joint torques at {RATE:g} Hz; pushes of {HELD:g} s at the hand, in any direction, after "
        f"{LEARNED:g} s of learning. Median delay; each observer with the gain that is best here, and with thresholds "
        f"that make as many alarms in {quiet:g} s without pushes as the test that allows itself one in that time."
    )
    return {"tables": [["Contacts", text, head, rows]]}


def _follow(recording: Recording, settings: Settings, observe: bool) -> tuple[np.ndarray, dict[str, Array]]:
    """Return, for each joint state, whether our test sees a contact, and momentum and its rate by both parameters,
    (n, 2, n_joints) each if `observe`."""
    regressor = assembly.make_regressor(settings)
    own = assembly.make_regressor(settings)  # a second one, whose friction stays as sharp as at the start
    estimator: Any = assembly.make_estimator(settings, regressor)
    stream = assembly.make_stream(settings, regressor, estimator)
    watch: Any = stream.watch
    seen = []
    found: dict[str, list[Array]] = {LEARNED_OBSERVER: [], URDF_OBSERVER: []}
    for event in recording.events():
        assert isinstance(event, JointStateEvent)  # joint torques come with joint states
        known = stream.joint_state(event.stamp, event.names, event.position, event.velocity, event.effort).known
        stream.pair()
        seen.append(watch.contact)
        if observe:
            rows = momentum_rows(own, known.position, known.velocity)
            found[LEARNED_OBSERVER].append(np.array([one @ estimator.parametric.parameters for one in rows]))
            found[URDF_OBSERVER].append(np.array([one @ own.nominal_parameters for one in rows]))
        stream.learn()
    return np.array(seen), {name: np.array(each) for name, each in found.items()}


def threshold(values: Array, alarms: int) -> float:
    """Return the smallest threshold down to which values (n,) exceed it in at most `alarms` separate intervals."""
    levels = np.unique(values)[::-1]
    lower = (k for k, level in enumerate(levels) if count_alarms(values > level) > alarms)
    return float(levels[next(lower, len(levels)) - 1])


def count_alarms(seen: np.ndarray) -> int:
    return int(np.sum(np.diff(np.append(0, seen.astype(int))) > 0))


def delays(seen: np.ndarray, times: Array, begins: np.ndarray) -> Array:
    """Return for each push the time [s] from its beginning until it is detected; inf if it ends undetected."""
    when = times[seen]
    after = [when[(when >= begin) & (when < begin + HELD)] - begin for begin in begins]
    return np.array([one[0] if len(one) else np.inf for one in after])


def momentum_rows(regressor: Regressor, q: Array, v: Array) -> tuple[Array, Array]:
    """Return rows (n, n_parameters) of the momentum M v and of its rate without joint torques, dM/dt v - n(q, v).

    n holds Coriolis and gravity terms and friction. Since dM/dt v - C v = C' v, the rate is the observer's model term.
    Both are linear in the parameters.
    """
    zero = np.zeros_like(v)

    def momentum(at: Array) -> Array:
        return np.asarray(regressor(at, zero, v) - regressor(at, zero, zero))

    return momentum(q), (momentum(q + STEP * v) - momentum(q - STEP * v)) / (2.0 * STEP) - regressor(q, v, zero)


def residuals(gain: float, momentum: Array, rate: Array, torque: Array, times: Array) -> Array:
    """Return r = K (p(t) - p(0) - integral of (torque + model term + r)), external torques low-passed by K = `gain`.

    This is the generalized momentum observer of De Luca and others (IROS 2006). Residuals and torques (n, n_joints)
    are in N m, the gain in 1/s; `momentum` and `rate` (n, n_joints) are rows times parameters, `times` (n,) is in s.
    """
    force, found = torque + rate, np.zeros_like(momentum)
    total = np.zeros(momentum.shape[1])
    for k, step in enumerate(np.diff(times), start=1):
        total = total + 0.5 * (force[k - 1] + force[k]) * step
        # With r taken at the end of the step (implicitly), the observer is stable for every gain.
        found[k] = gain * (momentum[k] - momentum[0] - total) / (1.0 + gain * step)
        total = total + found[k] * step
    return found
