"""Bytes that are no message are refused: none of them ends the process."""

import struct
import subprocess
import sys

import pytest
from rclpy.serialization import serialize_message

from icub_learning.errors import SampleError
from icub_learning.nodes.common.serialized import MALFORMED, message_of
from icub_learning_msgs.msg import FeatureVector

# Runs in a process of its own, which the fault would end: lengths from 0 to 12 bytes, all last bytes of the header.
EVERY_SHORT_MESSAGE = """
from contextlib import suppress
from itertools import product
from icub_learning.errors import SampleError
from icub_learning.nodes.common.serialized import message_of
from icub_learning_msgs.msg import FeatureVector
from sensor_msgs.msg import Image, JointState
from std_msgs.msg import String
for kind in (FeatureVector, JointState, Image, String):
    for length, options, fill in product(range(13), range(256), (b"\\0", b"\\xff")):
        with suppress(SampleError):
            message_of((bytes([0, 1, 0x48, options]) + fill * 12)[:length], kind)
    print(kind.__name__, flush=True)
"""


def test_a_message_comes_back_with_padding_too():
    message = FeatureVector(source="net", values=[1.0, 2.0])
    data = bytes(serialize_message(message))
    assert message_of(data, FeatureVector) == message
    for padding in range(1, 4):
        assert message_of(data[:3] + bytes([padding]) + data[4:] + bytes(padding), FeatureVector) == message


def test_no_short_bytes_end_the_process():
    done = subprocess.run([sys.executable, "-c", EVERY_SHORT_MESSAGE], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split()) == (0, ["FeatureVector", "JointState", "Image", "String"])


@pytest.mark.parametrize("data", [b"", b"\0\1", b"\0\1\0\0", struct.pack("<4sI", b"\0\1\0\0", 2**31)])
def test_what_is_no_message_is_refused_with_a_reason(data):
    with pytest.raises(SampleError, match=f"{len(data)} bytes are no FeatureVector") as refused:
        message_of(data, FeatureVector)
    assert refused.value.reason == MALFORMED
