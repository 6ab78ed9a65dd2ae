"""Faults of drivers, planted into sound recordings of a robot with a force/torque sensor.
Each function takes a recording whose stamps are its times of arrival, and returns the fields that the fault changes, as
the faulty driver would have sent them. The names that a check gives to the fault stand before the function."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from helpers.sound_robots import during, rows

from icub_learning.recording import JointStateEvent, Recording

Fields = dict[str, Any]
Table = dict[str, tuple[set[str], Callable[[Recording], Fields]]]


def planted(fault: str, recording: Recording) -> Recording:
    """Return a recording with a fault."""
    return replace(recording, **(FAULTS | EFFORT_FAULTS)[fault][1](recording))


def every(recording: Recording, n: int) -> Recording:
    """Keep every n-th message."""
    kept = slice(None, None, n)
    return replace(recording, **rows(recording, "joint", kept), **rows(recording, "wrench", kept))


def column(values: np.ndarray, index: int, number: Callable[[np.ndarray], Any]) -> np.ndarray:
    """Return a copy in which one column is replaced by `number` of it."""
    changed = values.copy()
    changed[:, index] = number(changed[:, index])
    return changed


def among(recording: Recording, step: int, delay: int, names: tuple[str, ...], *arrays: np.ndarray) -> Fields:
    """Return messages that come `delay` nanoseconds after every `step`-th joint state."""
    stamps = [int(at) + delay for at in recording.joint_arrivals[step // 5 :: step]]
    return {"irregular": tuple(JointStateEvent(at, at, names, *arrays, np.empty(0)) for at in stamps)}


FAULTS: Table = {
    # Messages at a tenth of their rate, 10 Hz; for wrenches this is the default of a driver of the iCub.
    "slow_joint_states": ({"rate"}, lambda r: rows(r, "joint", slice(None, None, 10))),
    "slow_wrenches": ({"rate"}, lambda r: rows(r, "wrench", slice(None, None, 10))),
    # A sensor that is read at a tenth of the rate at which its numbers are published.
    "stale_wrenches": ({"rate"}, lambda r: {"wrench": np.repeat(r.wrench[::10], 10, axis=0)[: len(r.wrench)]}),
    "away": ({"gaps"}, lambda r: during(r, lambda seconds: (seconds < 1.0) | (seconds > 1.8))),
    "prefixed": ({"prefix"}, lambda r: {"joint_names": tuple(f"left/{name}" for name in r.joint_names)}),
    "other_names": ({"names"}, lambda r: {"joint_names": tuple(f"axis{n}" for n in range(len(r.joint_names)))}),
    "degrees": ({"degrees"}, lambda r: {"position": np.degrees(r.position)}),
    "velocity_degrees": ({"degrees"}, lambda r: {"velocity": np.degrees(r.velocity)}),
    "no_velocity": (set(), lambda r: {"velocity": None}),
    "zero_velocity": (set(), lambda r: {"velocity": np.zeros_like(r.position)}),
    "zero_velocity_of_one": (set(), lambda r: {"velocity": column(r.velocity, 0, np.zeros_like)}),
    "backward_velocity": ({"velocities"}, lambda r: {
        "velocity": column(r.velocity, np.argmax(np.ptp(r.position, axis=0)), np.negative)}),
    "unset_stamps": ({"stamps_unset"}, lambda r: {"wrench_stamps": np.full(len(r.wrench), -(2**31) * 10**9)}),  # iCub's
    "repeated_stamps": ({"stamps_order"}, lambda r: {
        "joint_stamps": np.repeat(r.joint_stamps[::2], 2)[: len(r.joint_stamps)]}),
    # Stamps of a computer whose clock is 100 s ahead, and wrenches of one whose clock is 0.4 s behind.
    "other_clock": ({"clock"}, lambda r: {
        name: getattr(r, name) + 100 * 10**9 for name in ("joint_stamps", "wrench_stamps")}),
    "two_clocks": ({"clocks_apart"}, lambda r: {"wrench_stamps": r.wrench_stamps - 400_000_000}),
    "frozen_axis": ({"frozen"}, lambda r: {"wrench": column(r.wrench, 1, lambda force: force[0])}),
    "swapped_forces": ({"axes"}, lambda r: {"wrench": r.wrench[:, [2, 1, 0, 3, 4, 5]]}),
    # Torques read one index too far, and the last one never written: a known fault of a driver of the iCub.
    "shifted_torques": ({"frozen", "axes"}, lambda r: {
        "wrench": column(r.wrench[:, [0, 1, 2, 4, 5, 5]], 5, lambda torque: 0.0)}),
    "reaction": ({"gravity"}, lambda r: {"wrench": -r.wrench}),
    "millimetres": ({"lever"}, lambda r: {"wrench": r.wrench * np.array([1, 1, 1, 1e3, 1e3, 1e3])}),
    "far": ({"out_of_range"}, lambda r: {"position": r.position + 2e4 * (np.arange(len(r.position)) == 5)[:, None]}),
    "not_numbers": ({"not_finite"}, lambda r: {
        "position": column(r.position, 0, lambda q: np.where(np.arange(len(q)) % 50 == 5, np.nan, q))}),
    # From time to time a message with an array that does not fit its names; joint states of another robot.
    "too_short": ({"array_size"}, lambda r: among(r, 50, 1, r.joint_names, r.position[0, :-1], r.position[0])),
    "two_senders": ({"publishers"}, lambda r: among(r, 2, 1000, ("left", "right"), np.zeros(2), np.zeros(2))),
    "no_frame": ({"frame"}, lambda r: {"wrench_frame": ""}),
}  # fmt: skip
EFFORT_FAULTS: Table = {
    # Efforts with the sign of the load on the joints; one effort of the wrong sign; one never filled in; no efforts.
    "turned_efforts": ({"gravity"}, lambda r: {"effort": -r.effort}),
    "turned_joint": ({"gravity"}, lambda r: {"effort": column(r.effort, 1, np.negative)}),
    "frozen_effort": ({"frozen"}, lambda r: {"effort": column(r.effort, 2, lambda effort: 0.0)}),
    "raw": ({"out_of_range"}, lambda r: {"effort": r.effort - 1e10 * (np.arange(len(r.effort)) % 50 == 5)[:, None]}),
    "no_effort": ({"outputs"}, lambda r: {"effort": None}),
}
