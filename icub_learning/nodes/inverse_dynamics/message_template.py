"""Messages that are sent again and again with other numbers: serialized once, the numbers written into the bytes."""

import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from rclpy.serialization import serialize_message

from icub_learning.arrays import Array
from icub_learning.nodes.common.conversions import NANOSECONDS

# What no other part of a message looks like: it shows where stamp and numbers lie, whatever the encoding.
_SECONDS, _NANOSECONDS = 0x5EC0_1D5A, 0x2A5C_0DE5
_FIRST = 1.0e-250
_STAMP = struct.Struct("=iI")


class MessageTemplate:
    """A message with a header, whose stamp and numbers change and nothing else.

    Args:
        message: everything else is taken from it as it is.
        sizes: how many numbers each group of `bytes_of` has.
        fill: writes groups of numbers into the message; it is called once, with numbers that show where they go.

    Raises:
        ValueError: the numbers of a group do not lie side by side in the serialized message.
    """

    def __init__(self, message: Any, sizes: Sequence[int], fill: Callable[..., None]) -> None:
        marks = [_FIRST * (1.0 + group + np.arange(size) / 1024.0) for group, size in enumerate(sizes)]
        message.header.stamp.sec, message.header.stamp.nanosec = _SECONDS, _NANOSECONDS
        fill(message, *marks)
        self._data = bytearray(serialize_message(message))
        self._stamp = self._place(_STAMP.pack(_SECONDS, _NANOSECONDS))
        view, places = memoryview(self._data), [self._place(mark.tobytes()) for mark in marks]
        self._numbers = [view[place : place + mark.nbytes].cast("d") for place, mark in zip(places, marks, strict=True)]

    def bytes_of(self, stamp: int, *groups: Array) -> bytes:
        """The serialized message with this stamp [ns] and these groups of float64. Raises ValueError for others."""
        _STAMP.pack_into(self._data, self._stamp, *divmod(stamp, NANOSECONDS))
        for place, values in zip(self._numbers, groups, strict=True):
            place[:] = values.data
        return bytes(self._data)

    def _place(self, mark: bytes) -> int:
        """Where a mark lies. Raises ValueError unless it is there, once."""
        place = self._data.index(mark)
        if self._data.find(mark, place + 1) >= 0:
            raise ValueError("the mark comes twice")
        return place
