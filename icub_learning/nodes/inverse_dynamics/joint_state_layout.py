"""Joint states as bytes: what does not change from one message to the next is read once."""

import struct
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from icub_learning.nodes.common.conversions import NANOSECONDS, stamp_to_ns

# Of little-endian CDR (DDSI-RTPS 2.2, 10.5; the plain encoding of version 1), which ROS 2 middlewares send unless they
# are told otherwise. Alignments count from behind these four bytes.
HEADER = b"\x00\x01"
ORIGIN = 4
FIXED = 12  # where the frame begins
_STAMP = struct.Struct("<iI")


class JointStateNumbers(NamedTuple):
    """A joint state as numbers: stamp [ns], names, and float64 of each field, none where it was not measured."""

    stamp: int
    name: tuple[str, ...]
    position: "memoryview[float]"
    velocity: "memoryview[float]"
    effort: "memoryview[float]"


@dataclass(frozen=True)
class _Layout:
    """Where things lie in messages of one frame, one list of names and one number of values in each field."""

    size: int  # of the message, bytes
    fixed: bytes  # the frame and the names, with the number of positions behind them
    velocities: tuple[slice, bytes]  # how many there are
    efforts: tuple[slice, bytes]
    fields: tuple[tuple[int, int], ...]  # where position, velocity and effort begin and end
    names: tuple[str, ...]

    def fits(self, data: bytes) -> bool:
        return (
            len(data) == self.size
            and data[:2] == HEADER
            and data[FIXED : FIXED + len(self.fixed)] == self.fixed
            and data[self.velocities[0]] == self.velocities[1]
            and data[self.efforts[0]] == self.efforts[1]
        )

    def read(self, data: bytes) -> JointStateNumbers:
        seconds, nanoseconds = _STAMP.unpack_from(data, ORIGIN)
        view = memoryview(data)
        (p, p_end), (v, v_end), (e, e_end) = self.fields
        return JointStateNumbers(
            seconds * NANOSECONDS + nanoseconds,
            self.names,
            view[p:p_end].cast("d"),
            view[v:v_end].cast("d"),
            view[e:e_end].cast("d"),
        )


class JointStateDecoder:
    """Reads serialized sensor_msgs/JointState messages, those that look like the last one at little cost.

    Making Python strings of 32 names and lists of numbers takes longer than all else that is done about a joint state
    before its prediction. So a layout is found once; it is used for messages that agree with it in every byte that is
    not a number, and only after it has given for its first message what the middleware's own deserialization gives.
    Everything else goes through that deserialization.
    """

    def __init__(self) -> None:
        self._layout: _Layout | None = None

    def decode(self, data: bytes) -> JointStateNumbers:
        """The message in `data`. Raises what rclpy raises for bytes that are no JointState."""
        if self._layout is not None and self._layout.fits(data):
            return self._layout.read(data)
        message = deserialize_message(data, JointState)
        numbers = JointStateNumbers(
            stamp_to_ns(message.header.stamp),
            tuple(message.name),
            *(
                memoryview(values).cast("B").cast("d")
                for values in (message.position, message.velocity, message.effort)
            ),
        )
        layout = _find_layout(data, numbers)
        self._layout = layout if layout and layout.fits(data) and _same(layout.read(data), numbers) else None
        return numbers


def _find_layout(data: bytes, numbers: JointStateNumbers) -> _Layout | None:
    """Where things lie in `data`; None if it is not encoded as expected."""

    def aligned(place: int, size: int) -> int:
        return place + (ORIGIN - place) % size

    def number(place: int) -> int:
        return int.from_bytes(data[place : place + 4], "little")

    place = FIXED
    place += 4 + number(place)  # the frame
    place = aligned(place, 4)
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
    return _Layout(len(data), data[FIXED : counts[0][0].stop], counts[1], counts[2], tuple(fields), numbers.name)


def _same(one: JointStateNumbers, other: JointStateNumbers) -> bool:
    return one.stamp == other.stamp and all(
        np.array_equal(getattr(one, field), getattr(other, field), equal_nan=True)
        for field in ("position", "velocity", "effort")
    )
