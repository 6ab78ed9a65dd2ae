"""Stamps of messages: set, rising, and of the same clock as this computer and as each other."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from icub_learning.evaluation.robot_check.observation import OPEN, RIGHT, WRONG, Finding, Observation
from icub_learning.recording.recording import Recording

SHARE = 0.01  # of stamps that are not newer than the one before: now and then a message is sent twice
FARTHEST = 1.0  # [s] between a stamp and the arrival of its message
FARTHEST_APART = 0.05  # [s] between the clocks of joint states and wrenches
EPOCH = 10**9  # [s] since 1970: stamps before 2001 are those of a clock that started with a simulation
NAMES = {"joint": "joint states", "wrench": "wrenches"}


def check_stamps(seen: Observation) -> list[Finding]:
    """Look for stamps that are not set, repeat, or go back."""
    found = []
    for kind, stamps, arrivals in _streams(seen.recording):
        steps = np.diff(stamps[np.argsort(arrivals, kind="stable")])
        unset, stuck = int((stamps <= 0).sum()), int((steps <= 0).sum())
        by_arrival: dict[str, Any] = {f"{kind}_stamps": arrivals}
        corrected = replace(seen.recording, **by_arrival)
        if unset:
            text = f"{unset} of {len(stamps)} {NAMES[kind]} have no stamp (it is {stamps.min() * 1e-9:.0f} s)"
            remedy = "take the time of arrival (stamp_source: arrival) until the driver sets stamps"
            found.append(Finding("stamps_unset", WRONG, text, remedy, {"stamp_source": "arrival"}, corrected))
        elif stuck > SHARE * len(stamps) or (steps < 0).any():
            text = f"stamps of {NAMES[kind]} repeat or go back {stuck} times in {len(stamps)}"
            remedy = "let the driver stamp each measurement when it is taken; until then stamp_source: arrival"
            found.append(Finding("stamps_order", WRONG, text, remedy, {"stamp_source": "arrival"}, corrected))
        if found and found[-1].corrected is corrected:
            seen = replace(seen, recording=corrected)
    return found or [Finding("stamps", RIGHT, "all stamps are set and rise")]


def check_clocks(seen: Observation) -> list[Finding]:
    """Compare stamps with the times of arrival, and those of joint states with those of wrenches."""
    delays = {kind: float(np.median(arrivals - stamps)) * 1e-9 for kind, stamps, arrivals in _streams(seen.recording)}
    if not delays:
        return []
    if "wrench" in delays and abs(apart := delays["joint"] - delays["wrench"]) > FARTHEST_APART:
        side = "after" if apart > 0 else "before"
        text = f"wrenches are stamped {abs(apart):.3g} s {side} the joint states that arrive with them"
        remedy = (
            "stamp both with one clock, or synchronize the two computers (chrony); until then stamp_source: arrival"
        )
        corrected = replace(
            seen.recording, joint_stamps=seen.recording.joint_arrivals, wrench_stamps=seen.recording.wrench_arrivals
        )
        return [Finding("clocks_apart", WRONG, text, remedy, {"stamp_source": "arrival"}, corrected)]
    delay = delays["joint"]
    if abs(delay) <= FARTHEST:
        return [Finding("clock", RIGHT, f"stamps lie {1e3 * delay:.1f} ms before arrival (median)")]
    if np.median(seen.recording.joint_stamps) < EPOCH * 10**9:
        return [_simulated(seen)]
    text = f"stamps lie {abs(delay):.3g} s {'behind' if delay > 0 else 'ahead of'} the clock of this computer"
    remedy = "synchronize the computers (chrony or NTP): learning does without, tf and controllers do not"
    return [Finding("clock", WRONG, text, remedy)]


def _simulated(seen: Observation) -> Finding:
    if seen.clock_published:
        return Finding(
            "clock", RIGHT, "stamps follow the simulated clock on /clock; start nodes with use_sim_time: true"
        )
    if seen.clock_published is None:
        return Finding("clock", OPEN, "stamps are those of a simulated clock; start nodes with use_sim_time: true")
    text = "stamps are those of a simulated clock, but nobody publishes /clock"
    remedy = "bridge the simulation's clock to /clock and start nodes with use_sim_time: true"
    return Finding("clock", WRONG, text, remedy)


def _streams(recording: Recording) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Kind, stamps and arrivals [ns] of joint states and of wrenches, where there are any."""
    if len(recording.joint_stamps):
        yield "joint", recording.joint_stamps, recording.joint_arrivals
    if recording.wrench is not None and len(recording.wrench_stamps):
        yield "wrench", recording.wrench_stamps, recording.wrench_arrivals
