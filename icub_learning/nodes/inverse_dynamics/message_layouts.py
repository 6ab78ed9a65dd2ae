"""Fast decoding of joint states and wrenches and encoding of answers: what all messages share is handled once."""

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from icub_learning.arrays import Array
from icub_learning.nodes.common.conversions import NANOSECONDS, stamp_to_ns, wrench_to_array
from icub_learning.nodes.common.serialized import HEADER, LITTLE_ENDIAN, STAMP_END, message_of, stamp_in

_NUMBERS = 6 * 8  # bytes of force and torque, at the end of a WrenchStamped
# Marks that no other part of a message equals: their places show where stamp and numbers lie, in any encoding.
_SECONDS, _NANOSECONDS = 0x5EC0_1D5A, 0x2A5C_0DE5
_FIRST = 1.0e-250
_STAMP = struct.Struct("=iI")


class JointStateNumbers(NamedTuple):
    """A joint state: stamp [ns], names, and float64 of each field, which is empty if it was not measured."""

    stamp: int
    name: tuple[str, ...]
    position: "memoryview[float]"
    velocity: "memoryview[float]"
    effort: "memoryview[float]"


@dataclass(frozen=True)
class _Layout:
    """Offsets in messages with the same frame, names and number of values in each field."""

    size: int  # size of the message [bytes]
    fixed: bytes  # bytes of the frame, the names and the number of positions
    velocities: tuple[slice, bytes]  # place and bytes of the number of velocities
    efforts: tuple[slice, bytes]  # place and bytes of the number of efforts
    fields: tuple[tuple[int, int], ...]  # begin and end of position, velocity and effort
    names: tuple[str, ...]

    def fits(self, data: bytes) -> bool:
        return (
            len(data) == self.size
            and data[:2] == LITTLE_ENDIAN
            and data[STAMP_END : STAMP_END + len(self.fixed)] == self.fixed
            and data[self.velocities[0]] == self.velocities[1]
            and data[self.efforts[0]] == self.efforts[1]
        )

    def read(self, data: bytes) -> JointStateNumbers:
        view = memoryview(data)
        (p, p_end), (v, v_end), (e, e_end) = self.fields
        fields = view[p:p_end].cast("d"), view[v:v_end].cast("d"), view[e:e_end].cast("d")
        return JointStateNumbers(stamp_in(data), self.names, *fields)


class JointStateDecoder:
    """Decodes serialized sensor_msgs/JointState messages, quickly if they have the layout of the last one.

    Making Python strings of 32 names and lists of numbers takes longer than all other work from a joint state to its
    prediction. So a layout is found once, and checked against the middleware's own deserialization of the same message.
    It is used for messages that agree with it in every byte that is not a number. All others are deserialized.
    """

    def __init__(self) -> None:
        self._layout: _Layout | None = None

    def decode(self, data: bytes) -> JointStateNumbers:
        """Return the joint state in `data`. Raises SampleError for bytes that are none."""
        if self._layout is not None and self._layout.fits(data):
            return self._layout.read(data)
        message = message_of(data, JointState)
        fields = (memoryview(one).cast("B").cast("d") for one in (message.position, message.velocity, message.effort))
        numbers = JointStateNumbers(stamp_to_ns(message.header.stamp), tuple(message.name), *fields)
        layout = _find_layout(data, numbers)
        self._layout = layout if layout and layout.fits(data) and _same(layout.read(data), numbers) else None
        return numbers


def _find_layout(data: bytes, numbers: JointStateNumbers) -> _Layout | None:
    """Return the layout of `data`; None if it is not encoded as expected."""

    def aligned(place: int, size: int) -> int:
        return place + (HEADER - place) % size  # counted from the end of the header (DDSI-RTPS 2.2, 10.5)

    def number(place: int) -> int:
        return int.from_bytes(data[place : place + 4], "little")

    place = aligned(STAMP_END + 4 + number(STAMP_END), 4)  # place behind the frame
    n_names = number(place)
    place += 4
    if n_names != len(numbers.name):
        return None
    for _ in range(n_names):
        place = aligned(place, 4)
        place += 4 + number(place)
    counts, fields = [], []
    for values in (numbers.position, numbers.velocity, numbers.effort):
        place = aligned(place, 4)
        count = slice(place, place + 4)
        if number(place) != len(values):
            return None
        place += 4
        if len(values):
            place = aligned(place, 8)
        counts.append((count, data[count]))
        fields.append((place, place + 8 * len(values)))
        place += 8 * len(values)
    if place > len(data):
        return None
    return _Layout(len(data), data[STAMP_END : counts[0][0].stop], counts[1], counts[2], tuple(fields), numbers.name)


def _same(one: JointStateNumbers, other: JointStateNumbers) -> bool:
    return one.stamp == other.stamp and all(
        np.array_equal(getattr(one, field), getattr(other, field), equal_nan=True)
        for field in ("position", "velocity", "effort")
    )


class WrenchDecoder:
    """Decodes serialized geometry_msgs/WrenchStamped as JointStateDecoder does, quickly with an unchanged frame."""

    def __init__(self) -> None:
        self._frame: bytes | None = None  # length and text of the last frame, and the padding behind it

    def decode(self, data: bytes) -> tuple[int, Array]:
        """Return stamp [ns] and wrench (6,) [N, N m] in `data`. Raises SampleError for bytes that are none."""
        if data[:2] == LITTLE_ENDIAN and data[STAMP_END:-_NUMBERS] == self._frame:
            return _read(data)
        message = message_of(data, WrenchStamped)
        found = stamp_to_ns(message.header.stamp), wrench_to_array(message.wrench)
        self._frame = None
        if data[:2] == LITTLE_ENDIAN and len(data) >= STAMP_END + _NUMBERS and (len(data) - HEADER) % 8 == 0:
            read = _read(data)
            if read[0] == found[0] and np.array_equal(read[1], found[1], equal_nan=True):
                self._frame = data[STAMP_END:-_NUMBERS]
        return found


def _read(data: bytes) -> tuple[int, Array]:
    return stamp_in(data), np.frombuffer(data, offset=len(data) - _NUMBERS).copy()


class MessageTemplate:
    """A message with a header, in which only the stamp and groups of numbers, of these `sizes`, change; `fill` writes
    such groups into the message, once. Raises ValueError: the numbers of a group do not lie side by side in it."""

    def __init__(self, message: Any, sizes: Sequence[int], fill: Callable[..., None]) -> None:
        marks = [_FIRST * (1.0 + group + np.arange(size) / 1024.0) for group, size in enumerate(sizes)]
        message.header.stamp.sec, message.header.stamp.nanosec = _SECONDS, _NANOSECONDS
        fill(message, *marks)
        self._data = bytearray(serialize_message(message))
        self._stamp = self._offset(_STAMP.pack(_SECONDS, _NANOSECONDS))
        view, offsets = memoryview(self._data), [self._offset(mark.tobytes()) for mark in marks]
        self._numbers = [view[at : at + mark.nbytes].cast("d") for at, mark in zip(offsets, marks, strict=True)]

    def bytes_of(self, stamp: int, *groups: Array) -> bytes:
        """Return the serialized message with a stamp [ns] and groups of float64; raises ValueError for other sizes."""
        _STAMP.pack_into(self._data, self._stamp, *divmod(stamp, NANOSECONDS))
        for numbers, values in zip(self._numbers, groups, strict=True):
            numbers[:] = values.data
        return bytes(self._data)

    def _offset(self, mark: bytes) -> int:
        """Return the offset of a mark. Raises ValueError unless it is there exactly once."""
        offset = self._data.index(mark)
        if self._data.find(mark, offset + 1) >= 0:
            raise ValueError("the mark comes twice")
        return offset
