"""Messages that are serialized once; new stamps and numbers are written into the bytes."""

import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from rclpy.serialization import serialize_message

from icub_learning.arrays import Array
from icub_learning.nodes.common.conversions import NANOSECONDS

# Values that no other part of a message has: their places show where stamp and numbers lie, in any encoding.
_SECONDS, _NANOSECONDS = 0x5EC0_1D5A, 0x2A5C_0DE5
_FIRST = 1.0e-250
_STAMP = struct.Struct("=iI")


class MessageTemplate:
    """A message with a header, of which only the stamp and groups of numbers, of these `sizes`, change; `fill` writes
    them into the message, once. Raises ValueError: the numbers of a group do not lie side by side in it.
    """

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
