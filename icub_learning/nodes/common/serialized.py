"""Deserialization of messages from bytes that may be malformed."""

import struct
from typing import Any

from rclpy.serialization import deserialize_message

from icub_learning.errors import SampleError
from icub_learning.nodes.common.conversions import NANOSECONDS

MALFORMED = "malformed"  # reason of a refusal: the bytes are no message of the topic's type
HEADER = 4  # bytes of the header before a message: its encoding, and options
LITTLE_ENDIAN = b"\x00\x01"  # first bytes of that header in plain little-endian CDR, the default of ROS 2 middlewares
STAMP_END = 12  # bytes up to the end of the stamp in a message that begins with a std_msgs/Header
# Bits of the header's last byte that hold the number of padding bytes after the message (DDS-XTypes 1.3, 7.6.3.1.2).
PADDING = 0x03
_STAMP = struct.Struct("<iI")


def message_of(data: bytes, kind: type) -> Any:
    """Return the message of type `kind` in serialized `data`.

    Fast CDR does not check the padding that the header names: padding longer than what follows makes it read beyond
    the end, and the process ends with a segmentation fault. Raises SampleError: the bytes are no message of this type;
    its reason is MALFORMED.
    """
    try:
        if len(data) < HEADER or len(data) - HEADER < data[HEADER - 1] & PADDING:
            raise ValueError("they end before the message begins")
        return deserialize_message(data, kind)
    except Exception as error:  # rclpy and the middleware raise errors of many types here
        text = f"{len(data)} bytes are no {kind.__name__}: {error}"
        raise SampleError(MALFORMED, text, name=kind.__name__, value=len(data)) from None


def stamp_in(data: bytes) -> int:
    """Return the stamp [ns] in a message of at least STAMP_END bytes (little-endian CDR) that begins with a header."""
    seconds, nanoseconds = _STAMP.unpack_from(data, HEADER)
    return int(seconds * NANOSECONDS + nanoseconds)
