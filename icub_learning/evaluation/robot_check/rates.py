"""How often messages come, how often their numbers are new, and how long they stay away."""

import numpy as np

from icub_learning.arrays import Array
from icub_learning.evaluation.robot_check.observation import OPEN, RIGHT, WRONG, Finding, Observation

SLOWEST = 20.0  # [Hz] below which accelerations of a moving arm are lost
LONGEST_GAP = 0.3  # [s]
FEWEST = 20  # messages that tell a rate
LEAST_TOLERANCE = 0.0025  # [s], the node's own


def check_rates(seen: Observation) -> list[Finding]:
    """Measure rates and gaps of joint states and wrenches."""
    recording = seen.recording
    streams = [("joint states", recording.joint_stamps, recording.position)]
    if recording.wrench is not None:
        streams.append(("wrenches", recording.wrench_stamps, recording.wrench))
    found, periods = [], []
    for what, stamps, values in streams:
        times = np.sort(stamps) * 1e-9
        if len(times) < FEWEST:
            text = f"{len(times)} {what} came in {recording.duration:.1f} s, too few to judge"
            found.append(Finding("rate", WRONG, text, "check that the driver runs, and the name of the topic"))
            continue
        steps = np.diff(times)
        rate = float(1 / max(np.median(steps), 1e-6))
        periods.append(1 / rate)
        fresh = min(rate, _fresh(values) * rate)
        if rate < SLOWEST:
            text = f"{what} come at {rate:.3g} Hz, too slow for accelerations"
            found.append(Finding("rate", WRONG, text, f"set the driver to 100 Hz or more, at least {SLOWEST:g} Hz"))
        elif fresh < SLOWEST and what == "wrenches":
            text = f"{what} come at {rate:.3g} Hz, but their numbers are new at {fresh:.3g} Hz only"
            found.append(Finding("rate", WRONG, text, "let the driver read its sensor as often as it publishes"))
        elif steps.max() > max(LONGEST_GAP, 10 / rate):
            text = f"{what} stay away for up to {steps.max():.2g} s, {int((steps > LONGEST_GAP).sum())} times"
            remedy = "look for a busy computer or network (Wi-Fi, a full queue); the filter starts anew after max_gap"
            found.append(Finding("gaps", WRONG, text, remedy))
        else:
            text = f"{what} come at {rate:.4g} Hz, longest gap {1e3 * steps.max():.3g} ms"
            # A wrench lies at most half a period of the joint states from one of them.
            tolerance = max(LEAST_TOLERANCE, round(0.6 * periods[0] + 0.001, 4))
            settings: dict[str, object] = {"tolerance": tolerance} if what == "wrenches" else {}
            found.append(Finding("rate", RIGHT, text, settings=settings))
    return found


def check_motion(seen: Observation) -> list[Finding]:
    """Check that the robot moved: at rest it shows neither signs nor units nor axes."""
    if not len(seen.recording.position):
        return []
    way = np.ptp(seen.recording.position, axis=0)
    still = [name for name, distance in zip(seen.recording.joint_names, way, strict=True) if distance < 1e-3]
    if len(still) == len(way):
        text = "the robot stood still: signs, units and axes cannot be judged"
        return [Finding("motion", OPEN, text, "move all joints by some tenths of a radian and check again")]
    if still:
        return [
            Finding("motion", OPEN, f"these joints stood still: {', '.join(still)}", "move them to learn about them")
        ]
    return [Finding("motion", RIGHT, f"all joints moved, by {np.median(way):.2g} rad (median)")]


def _fresh(values: Array) -> float:
    """Share of the messages that show other numbers than the one before."""
    return float((np.diff(values, axis=0) != 0).any(axis=1).mean()) if np.ptp(values, axis=0).any() else 1.0
