"""A recording in memory: arrays of the regular messages, and all messages as events in the order of arrival."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from heapq import merge
from typing import Any, NamedTuple

import numpy as np

from icub_learning.arrays import Array
from icub_learning.errors import RecordingError

NANOSECONDS = 1_000_000_000  # nanoseconds per second
NO_NUMBERS = np.empty(0)  # value of a field that a message does not carry
FIELDS = ("position", "velocity", "effort", "acceleration")  # fields with one number for each joint
AXES = ("force.x", "force.y", "force.z", "torque.x", "torque.y", "torque.z")


class JointStateEvent(NamedTuple):
    """One joint state message as it was recorded, valid or not."""

    arrival: int  # [ns] when the recorder received it
    stamp: int  # [ns] timestamp in the message, or the arrival with stamp_source="arrival"
    names: tuple[str, ...]
    position: Array  # [rad]; the arrays may differ in length from `names`: JointStateReader refuses those
    velocity: Array  # [rad/s]; empty: not in the message
    effort: Array  # [N m]; empty: not in the message


class WrenchEvent(NamedTuple):
    """One wrench message as it was recorded."""

    arrival: int  # [ns]
    stamp: int  # [ns]
    values: Array  # (6,) force x y z [N], torque x y z [N m]


Event = JointStateEvent | WrenchEvent
_no_stamps = partial(np.zeros, 0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Recording:
    """Joint states and wrenches of one robot. Raises RecordingError: the arrays do not fit each other.

    The arrays hold the regular messages: those with the joint names and fields that most messages have. Messages of
    another layout are in `irregular`; `events` yields all of them in the order of arrival.
    """

    joint_names: tuple[str, ...]  # names of the J joints
    joint_stamps: np.ndarray  # (n,) int64 [ns]
    position: Array  # (n, J) [rad]
    velocity: Array | None = None  # (n, J) [rad/s], None where the messages carry none
    effort: Array | None = None  # (n, J) [N m, or the robot's own unit], None where the messages carry none
    acceleration: Array | None = None  # (n, J) [rad/s^2], None where unknown; only CSV and NPZ can carry it
    wrench_stamps: np.ndarray = field(default_factory=_no_stamps)  # (m,) int64 [ns]
    wrench: Array | None = None  # (m, 6) force x y z [N] and torque x y z [N m], None where there is no wrench
    wrench_frame: str = ""  # frame_id of most wrench messages, empty where unknown
    mixed_frames: Sequence[str] = ()  # all frame_ids where there are several: of sensors that share the topic
    # (n,) and (m,) int64 [ns], when the recorder received each message; if empty, the stamps are used instead
    joint_arrivals: np.ndarray = field(default_factory=_no_stamps)
    wrench_arrivals: np.ndarray = field(default_factory=_no_stamps)
    irregular: tuple[JointStateEvent, ...] = ()  # joint states of another layout

    def __post_init__(self) -> None:
        object.__setattr__(self, "joint_names", tuple(self.joint_names))
        for kind in ("joint", "wrench"):
            stamps, arrivals = getattr(self, f"{kind}_stamps"), getattr(self, f"{kind}_arrivals")
            self._set(f"{kind}_stamps", stamps, np.int64, (len(stamps),))
            self._set(f"{kind}_arrivals", arrivals if len(arrivals) else stamps, np.int64, (len(stamps),))
        for name in FIELDS:
            if getattr(self, name) is not None:
                self._set(name, getattr(self, name), np.float64, (len(self.joint_stamps), len(self.joint_names)))
        if self.wrench is not None:
            self._set("wrench", self.wrench, np.float64, (len(self.wrench_stamps), 6))
        elif len(self.wrench_stamps):
            raise RecordingError("wrench_stamps without wrench", name="wrench", bound="both or neither")
        object.__setattr__(self, "irregular", tuple(sorted(self.irregular, key=lambda event: event.arrival)))

    def _set(self, name: str, values: Any, kind: type, shape: tuple[int, ...]) -> None:
        array: np.ndarray = np.asarray(values, dtype=kind)
        if array.shape != shape:
            text = f"{name} has shape {array.shape}, but must be {shape}"
            raise RecordingError(text, name=name, value=array.shape, bound=str(shape))
        object.__setattr__(self, name, array)  # the dataclass is frozen

    @property
    def duration(self) -> float:
        """Seconds from the first to the last arrival of any message; 0 for fewer than two messages."""
        others = np.array([event.arrival for event in self.irregular], dtype=np.int64)
        arrivals = np.concatenate([self.joint_arrivals, self.wrench_arrivals, others])
        return float(np.ptp(arrivals)) * 1e-9 if len(arrivals) else 0.0

    @property
    def n_joint_states(self) -> int:
        """Number of joint state messages, irregular ones included."""
        return len(self.joint_stamps) + len(self.irregular)

    def events(self) -> Iterator[Event]:
        """Yield all messages in order of arrival, a joint state before a wrench of the same nanosecond.

        These are what a subscribed node would have received: repeated and backward stamps, NaN and irregular messages
        included. The arrays are views: do not write to them.
        """
        return merge(self._joint_state_events(), self.irregular, self._wrench_events(), key=lambda event: event.arrival)

    def _joint_state_events(self) -> Iterator[JointStateEvent]:
        for index in np.argsort(self.joint_arrivals, kind="stable"):
            yield JointStateEvent(
                int(self.joint_arrivals[index]), int(self.joint_stamps[index]), self.joint_names,
                self.position[index], NO_NUMBERS if self.velocity is None else self.velocity[index],
                NO_NUMBERS if self.effort is None else self.effort[index],
            )  # fmt: skip

    def _wrench_events(self) -> Iterator[WrenchEvent]:
        if self.wrench is not None:
            for index in np.argsort(self.wrench_arrivals, kind="stable"):
                yield WrenchEvent(int(self.wrench_arrivals[index]), int(self.wrench_stamps[index]), self.wrench[index])
