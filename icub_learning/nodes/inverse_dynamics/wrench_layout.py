"""Decodes serialized wrenches quickly: all but stamp and numbers is compared with the last one, and read once."""

import numpy as np
from geometry_msgs.msg import WrenchStamped

from icub_learning.arrays import Array
from icub_learning.nodes.common.conversions import stamp_to_ns, wrench_to_array
from icub_learning.nodes.common.serialized import HEADER, LITTLE_ENDIAN, STAMP_END, message_of, stamp_in

_NUMBERS = 6 * 8  # bytes of force and torque, at the end of a message


class WrenchDecoder:
    """Decodes serialized geometry_msgs/WrenchStamped messages, quickly if they have the frame of the last one.

    As in JointStateDecoder, a layout is checked against the middleware's own deserialization of the same message.
    """

    def __init__(self) -> None:
        self._frame: bytes | None = None  # its length and text, with what aligns the numbers behind it

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
