"""Checks of the timing of messages: stamps, clocks, rates and gaps."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from icub_learning.evaluation.robot_check.observation import OPEN, RIGHT, WRONG, Finding, Observation
from icub_learning.recording.recording import Recording

SHARE = 0.01  # share of stamps that may be no newer than the one before: now and then a message is sent twice
FARTHEST = 1.0  # [s] largest difference between a stamp and the arrival of its message
FARTHEST_APART = 0.05  # [s] largest difference between the clocks of joint states and wrenches
EPOCH = 10**9  # [s] since 1970: stamps before 2001 are those of a clock that started with a simulation
NAMES = {"joint": "joint states", "wrench": "wrenches"}
SLOWEST = 20.0  # [Hz] least rate: below it accelerations of a moving arm are lost
FASTEST = 2e4  # [Hz] highest rate: field buses of robots have at most this
LONGEST_GAP = 0.3  # [s] longest time between messages, or ten periods if they are longer
FEWEST = 20  # fewest messages from which a rate is judged
TOO_LOW = "add a constant to all times of the file: they must be above 0"
COARSE = "arrivals repeat too: write all digits of times (float64, %.9f), or cut where the clock was set back"
JOINED = "sort the rows of the file by time, and write each trial to a file of its own"
LEAST_TOLERANCE = 0.0025  # [s] least tolerance to propose: the node's default


def check_stamps(seen: Observation) -> list[Finding]:
    """Look for stamps that are not set, repeat, or go back."""
    found = []
    for kind, stamps, arrivals in _streams(seen.recording):
        steps, waits = (np.diff(one[np.argsort(arrivals, kind="stable")]) for one in (stamps, arrivals))
        unset, stuck = int((stamps <= 0).sum()), int((steps <= 0).sum())
        helps = bool(arrivals.min() > 0)  # arrivals can stand for the stamps; a file without them has only stamps
        mixed = kind == "wrench" and len(seen.recording.mixed_frames) > 0  # stamps of two sensors may be equal
        if unset:
            name = "stamps_unset"
            text = f"{unset} of {len(stamps)} {NAMES[kind]} have no stamp above 0 (lowest: {stamps.min() * 1e-9:.0f} s)"
            remedy = "take the time of arrival (stamp_source: arrival) until the driver sets some; start a file above 0"
        elif not mixed and (stuck > SHARE * len(stamps) or (steps < 0).any()):
            name = "stamps_order"
            text = f"stamps of {NAMES[kind]} repeat or go back {stuck} times in {len(stamps)}"
            remedy = "let the driver stamp each measurement when it is taken; until then stamp_source: arrival"
            helps = bool(np.median(waits[steps <= 0]) > 0.1 * waits.mean())
            helps &= not 0 < (arrivals == stamps).mean() < 0.5  # a file without arrivals, made up from few stamps
        else:
            continue
        remedy = remedy if helps else TOO_LOW if unset else JOINED if (steps < 0).any() else COARSE
        by_arrival: dict[str, Any] = {f"{kind}_stamps": arrivals}
        seen = replace(seen, recording=replace(seen.recording, **by_arrival))
        helps &= not 0 < unset <= SHARE * len(stamps)  # only these are refused: the first of a file that starts at 0
        found.append(Finding(name, WRONG, text, remedy, {"stamp_source": "arrival"} if helps else {}, seen.recording))
    return found or [Finding("stamps", RIGHT, "all stamps are set and rise")]


def check_clocks(seen: Observation) -> list[Finding]:
    """Compare stamps with the times of arrival, and those of joint states with those of wrenches."""
    delays = {kind: float(np.median(arrivals - stamps)) * 1e-9 for kind, stamps, arrivals in _streams(seen.recording)}
    if not delays:
        return []
    if "wrench" in delays and abs(apart := delays["joint"] - delays["wrench"]) > FARTHEST_APART:
        side = "after" if apart > 0 else "before"
        text = f"wrenches are stamped {abs(apart):.3g} s {side} the joint states that arrive with them"
        remedy = "stamp both with one clock, or synchronize the computers (chrony); until then stamp_source: arrival"
        by_arrival: dict[str, Any] = {f"{kind}_stamps": arrivals for kind, _, arrivals in _streams(seen.recording)}
        corrected = replace(seen.recording, **by_arrival)
        return [Finding("clocks_apart", WRONG, text, remedy, {"stamp_source": "arrival"}, corrected)]
    delay = delays["joint"]
    if abs(delay) <= FARTHEST:
        text = f"stamps lie {1e3 * delay:.1f} ms before arrival (median)"
        return [Finding("clock", RIGHT, text if delay else "the times of arrival are not known; stamps stand for them")]
    if np.median(seen.recording.joint_stamps) < EPOCH * 10**9:
        text = f"stamps {'follow' if seen.clock_published else 'are those of'} a simulated clock"
        if seen.clock_published is False:
            remedy = "bridge the simulation's clock to /clock and start nodes with use_sim_time: true"
            return [Finding("clock", WRONG, f"{text}, but nobody publishes /clock", remedy)]
        text = f"{text}{' on /clock' * bool(seen.clock_published)}; start nodes with use_sim_time: true"
        return [Finding("clock", RIGHT if seen.clock_published else OPEN, text)]
    text = f"stamps lie {abs(delay):.3g} s {'behind' if delay > 0 else 'ahead of'} the clock of this computer"
    remedy = "synchronize the computers (chrony or NTP): learning does without, tf and controllers do not"
    return [Finding("clock", WRONG, text, remedy)]


def _streams(recording: Recording) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield kind, stamps and arrivals [ns] of joint states and of wrenches, where there are any."""
    if len(recording.joint_stamps):
        yield "joint", recording.joint_stamps, recording.joint_arrivals
    if recording.wrench is not None and len(recording.wrench_stamps):
        yield "wrench", recording.wrench_stamps, recording.wrench_arrivals


def check_rates(seen: Observation) -> list[Finding]:
    """Measure rates and gaps of joint states and wrenches."""
    recording = seen.recording
    # Without a regular joint state all messages differ in their joints, which is said already.
    streams = [("joint states", recording.joint_stamps, recording.position)] if len(recording.position) else []
    if recording.wrench is not None:
        streams.append(("wrenches", recording.wrench_stamps, recording.wrench))
    found, joint_period = list[Finding](), 0.0  # [s]; 0 while unknown
    for what, stamps, values in streams:
        steps = np.diff(np.unique(stamps)) * 1e-9  # a message that is sent twice makes the rate no higher
        if len(stamps) < FEWEST:
            text = f"{len(stamps)} {what} came in {recording.duration:.1f} s, too few to judge"
            found.append(Finding("rate", WRONG, text, "check that the driver runs, and the name of the topic"))
            continue
        if not len(steps):  # all stamps are the same, which is said already
            continue
        rate, name, remedy, settings = float(1 / max(np.median(steps), 1e-6)), "rate", "", dict[str, object]()
        joint_period = 1 / rate if what == "joint states" else joint_period
        new = (np.diff(values, axis=0) != 0).any(axis=1)  # whether each message has other numbers than the one before
        fresh = float(new.sum() / len(steps)) * rate if new.any() else rate
        if rate < SLOWEST:
            text = f"{what} come at {rate:.3g} Hz, too slow for accelerations"
            remedy = f"set the driver to 100 Hz or more, at least {SLOWEST:g} Hz"
            for unit, parts in (("microseconds", 10**6), ("milliseconds", 1000)):
                if 2e3 > rate * parts >= SLOWEST:  # usual rates of drivers
                    remedy = f"times are read as seconds: divide them by {parts} if they are {unit}; else {remedy}"
        elif rate > FASTEST:
            text = f"{what} come at {rate:.3g} Hz: their stamps can hardly be nanoseconds"
            remedy = "write stamps in nanoseconds, or in seconds where they are read so"
        elif fresh < SLOWEST and what == "wrenches":
            text = f"{what} come at {rate:.3g} Hz, but their numbers are new at {fresh:.3g} Hz only"
            remedy = "let the driver read its sensor as often as it publishes"
        elif steps.max() > max(LONGEST_GAP, 10 / rate):
            name, text = "gaps", f"{what} stay away for up to {steps.max():.2g} s, {(steps > LONGEST_GAP).sum()} times"
            remedy = "look for a busy computer or network (Wi-Fi, a full queue); the filter starts anew after max_gap"
        else:
            text = f"{what} come at {rate:.4g} Hz, longest gap {1e3 * steps.max():.3g} ms"
            if what == "wrenches" and joint_period:
                # The joint state nearest to a wrench is at most half a period of the joint states away.
                settings["tolerance"] = max(LEAST_TOLERANCE, round(0.6 * joint_period + 0.001, 4))
        found.append(Finding(name, WRONG if remedy else RIGHT, text, remedy, settings))
    return found


CHECKS = (check_stamps, check_clocks, check_rates)
