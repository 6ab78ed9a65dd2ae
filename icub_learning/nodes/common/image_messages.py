"""Conversions between image messages and RGB arrays."""

from array import array

import numpy as np
from sensor_msgs.msg import CompressedImage, Image

from icub_learning.nodes.common.conversions import set_stamp
from icub_learning.recognition.vision.images import Pixels, decode, decode_compressed


def rgb_of(message: Image | CompressedImage) -> Pixels:
    """Return the image of a message as RGB (height, width, 3) of uint8. Raises SampleError if it holds none."""
    if isinstance(message, CompressedImage):
        return decode_compressed(message.format, message.data)
    size = (message.height, message.width, message.step)
    return decode(message.encoding, *size, message.data, bool(message.is_bigendian))


def image_message(rgb: Pixels, stamp: int, frame: str = "") -> Image:
    """Return RGB (height, width, 3) of uint8 as a message with a stamp [ns] and the frame of its camera."""
    height, width = rgb.shape[:2]
    message = Image(height=height, width=width, encoding="rgb8", step=3 * width)
    set_stamp(message.header.stamp, stamp)
    message.header.frame_id = frame
    message.data = array("B", np.ascontiguousarray(rgb).tobytes())
    return message
