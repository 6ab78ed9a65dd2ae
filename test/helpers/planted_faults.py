"""Faults of drivers, planted into sound recordings of a robot with a force/torque sensor.

Each takes a recording whose stamps are its times of arrival, and returns what the faulty driver would have sent. What a
check calls the fault stands beside it in FAULTS.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from icub_learning.recording import JointStateEvent, Recording

Plant = Callable[[Recording], Recording]
UNSET = -2147483648 * 10**9  # [ns], as a driver of the iCub stamps wrenches


def every(recording: Recording, n: int, kinds: str = "joint wrench") -> Recording:
    """Keep every n-th message."""
    fields = {
        "joint": ("joint_stamps", "joint_arrivals", "position", "velocity", "effort"),
        "wrench": ("wrench_stamps", "wrench_arrivals", "wrench"),
    }
    thinned = {
        name: values[::n]
        for kind in kinds.split()
        for name in fields[kind]
        if (values := getattr(recording, name)) is not None
    }
    return replace(recording, **thinned)


def slow_joint_states(recording: Recording) -> Recording:
    """Joint states at a tenth of their rate, 10 Hz."""
    return every(recording, 10, "joint")


def slow_wrenches(recording: Recording) -> Recording:
    """Wrenches at a tenth of their rate, 10 Hz: the default of a driver of the iCub."""
    return every(recording, 10, "wrench")


def stale_wrenches(recording: Recording) -> Recording:
    """A sensor that is read ten times more seldom than its numbers are published."""
    return replace(recording, wrench=np.repeat(recording.wrench[::10], 10, axis=0)[: len(recording.wrench)])


def away(recording: Recording) -> Recording:
    """No message for 0.8 s."""
    times = (recording.joint_arrivals - recording.joint_arrivals[0]) * 1e-9
    kept = (times < 1.0) | (times > 1.8)
    other = (recording.wrench_arrivals - recording.joint_arrivals[0]) * 1e-9
    also = (other < 1.0) | (other > 1.8)
    joint = {
        name: getattr(recording, name)[kept] for name in ("joint_stamps", "joint_arrivals", "position", "velocity")
    }
    wrench = {name: getattr(recording, name)[also] for name in ("wrench_stamps", "wrench_arrivals", "wrench")}
    return replace(recording, **joint, **wrench)


def prefixed(recording: Recording) -> Recording:
    """Names with a prefix that the URDF has not."""
    return replace(recording, joint_names=tuple(f"left/{name}" for name in recording.joint_names))


def other_names(recording: Recording) -> Recording:
    """Names of another robot."""
    return replace(recording, joint_names=tuple(f"axis{n}" for n in range(len(recording.joint_names))))


def degrees(recording: Recording) -> Recording:
    """Positions in degrees."""
    return replace(recording, position=np.degrees(recording.position))


def velocity_degrees(recording: Recording) -> Recording:
    """Velocities in degrees per second beside positions in radians."""
    return replace(recording, velocity=np.degrees(recording.velocity))


def no_velocity(recording: Recording) -> Recording:
    """No velocities."""
    return replace(recording, velocity=None)


def zero_velocity(recording: Recording) -> Recording:
    """Velocities that are never filled in."""
    return replace(recording, velocity=np.zeros_like(recording.position))


def backward_velocity(recording: Recording) -> Recording:
    """Velocities of one joint with the wrong sign."""
    velocity = recording.velocity.copy()
    velocity[:, np.argmax(np.ptp(recording.position, axis=0))] *= -1
    return replace(recording, velocity=velocity)


def unset_stamps(recording: Recording) -> Recording:
    """Wrenches without a stamp."""
    return replace(recording, wrench_stamps=np.full(len(recording.wrench), UNSET))


def repeated_stamps(recording: Recording) -> Recording:
    """Joint states in pairs of equal stamps."""
    return replace(recording, joint_stamps=np.repeat(recording.joint_stamps[::2], 2)[: len(recording.joint_stamps)])


def other_clock(recording: Recording) -> Recording:
    """Stamps of a computer whose clock is 100 s ahead."""
    ahead = 100 * 10**9
    return replace(
        recording, joint_stamps=recording.joint_stamps + ahead, wrench_stamps=recording.wrench_stamps + ahead
    )


def two_clocks(recording: Recording) -> Recording:
    """Wrenches from a computer whose clock is 0.4 s behind."""
    return replace(recording, wrench_stamps=recording.wrench_stamps - 400_000_000)


def frozen_axis(recording: Recording) -> Recording:
    """A force axis that is not read."""
    wrench = recording.wrench.copy()
    wrench[:, 1] = wrench[0, 1]
    return replace(recording, wrench=wrench)


def swapped_forces(recording: Recording) -> Recording:
    """The axes x and z of the force in each other's place."""
    return replace(recording, wrench=recording.wrench[:, [2, 1, 0, 3, 4, 5]])


def shifted_torques(recording: Recording) -> Recording:
    """Torques read one index too far, and the last one never written: a known fault of a driver of the iCub."""
    wrench = recording.wrench[:, [0, 1, 2, 4, 5, 5]].copy()
    wrench[:, 5] = 0.0
    return replace(recording, wrench=wrench)


def reaction(recording: Recording) -> Recording:
    """The reaction to the wrench."""
    return replace(recording, wrench=-recording.wrench)


def millimetres(recording: Recording) -> Recording:
    """Torques in N mm."""
    return replace(recording, wrench=recording.wrench * np.array([1, 1, 1, 1e3, 1e3, 1e3]))


def not_numbers(recording: Recording) -> Recording:
    """NaN in one position now and then."""
    position = recording.position.copy()
    position[5::50, 0] = np.nan
    return replace(recording, position=position)


def too_short(recording: Recording) -> Recording:
    """Now and then a message with an array that does not fit its names."""
    row = recording.position[0]
    events = [
        JointStateEvent(int(at) + 1, int(at) + 1, recording.joint_names, row[:-1], row, np.empty(0))
        for at in recording.joint_arrivals[10::50]
    ]
    return replace(recording, irregular=tuple(events))


def two_senders(recording: Recording) -> Recording:
    """Joint states of another robot among them."""
    row = np.zeros(2)
    events = [
        JointStateEvent(int(at) + 1000, int(at) + 1000, ("gripper_left", "gripper_right"), row, row, np.empty(0))
        for at in recording.joint_arrivals[::2]
    ]
    return replace(recording, irregular=tuple(events))


def no_frame(recording: Recording) -> Recording:
    """Wrenches that name no frame."""
    return replace(recording, wrench_frame="")


# Plant: what a check calls it.
FAULTS: dict[Plant, set[str]] = {
    slow_joint_states: {"rate"}, slow_wrenches: {"rate"}, stale_wrenches: {"rate"}, away: {"gaps"},
    prefixed: {"prefix"}, other_names: {"names"}, degrees: {"degrees"}, velocity_degrees: {"degrees"},
    no_velocity: {"velocity_missing"}, zero_velocity: {"velocity_missing"}, backward_velocity: {"velocities"},
    unset_stamps: {"stamps_unset"}, repeated_stamps: {"stamps_order"}, other_clock: {"clock"},
    two_clocks: {"clocks_apart"}, frozen_axis: {"frozen"}, swapped_forces: {"axes"},
    shifted_torques: {"frozen", "axes"}, reaction: {"gravity"}, millimetres: {"lever"}, not_numbers: {"not_finite"},
    too_short: {"array_size"}, two_senders: {"publishers"}, no_frame: {"frame"},
}  # fmt: skip


def turned_efforts(recording: Recording) -> Recording:
    """Efforts as the load on the joints."""
    return replace(recording, effort=-recording.effort)


def turned_joint(recording: Recording) -> Recording:
    """The effort of the second joint with the wrong sign."""
    effort = recording.effort.copy()
    effort[:, 1] *= -1
    return replace(recording, effort=effort)


def frozen_effort(recording: Recording) -> Recording:
    """The effort of the third joint is never filled in."""
    effort = recording.effort.copy()
    effort[:, 2] = 0.0
    return replace(recording, effort=effort)


def no_effort(recording: Recording) -> Recording:
    """No efforts."""
    return replace(recording, effort=None)


EFFORT_FAULTS: dict[Plant, set[str]] = {
    turned_efforts: {"gravity"},
    turned_joint: {"gravity"},
    frozen_effort: {"frozen"},
    no_effort: {"outputs"},
}
