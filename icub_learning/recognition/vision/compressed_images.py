"""Compressed images, unpacked to arrays with the name of their encoding; damage is refused, not shown as grey areas."""

import re
from typing import Any, NoReturn

import numpy as np
import simplejpeg
from numpy.typing import NDArray

from icub_learning.errors import SampleError
from icub_learning.recognition.vision.opencv import cv2

JPEG_START = b"\xff\xd8\xff"
MOST_PIXELS = 2**26
# Cheap cameras put some bytes too many before the end of each picture, which is complete.
HARMLESS = re.compile(r"Corrupt JPEG data: \d{1,2} extraneous bytes before marker 0xd9")
ARRAY_ENCODINGS = {(np.uint8, 1): "mono8", (np.uint8, 3): "bgr8", (np.uint8, 4): "bgra8",
                   (np.uint16, 1): "mono16", (np.uint16, 3): "bgr16", (np.uint16, 4): "bgra16"}  # fmt: skip


def decompress(description: str, data: Any) -> tuple[str, NDArray[Any]]:
    """Return the encoding and the pixels (height, width) or (height, width, channels), uint8 or uint16.

    Args:
        description: "jpeg", "png", or "ENCODING; jpeg compressed ENCODING" as image_transport writes it.
        data: buffer of bytes.

    Raises:
        SampleError: with the reason image_empty, encoding_without_color or image_compressed.
    """
    content = bytes(data)
    if not content:
        _refuse("image_empty", "a compressed image came without data", description)
    if "compressedDepth" in description:
        _refuse("encoding_without_color", f"{description} is a depth image", description)
    packed = description.rpartition("compressed ")[2].strip() if "compressed " in description else ""
    try:
        array = _jpeg(content) if content.startswith(JPEG_START) else _picture(content)
    except (ValueError, cv2.error) as error:
        shown = description[:40]
        _refuse(
            "image_compressed", f"an image of format {shown!r} ({len(content)} bytes) cannot be read: {error}", shown
        )
    encoding = ARRAY_ENCODINGS[array.dtype.type, array.shape[2] if array.ndim == 3 else 1]
    if packed.startswith("bayer_") and array.ndim == 2:
        return packed, array
    if packed.startswith("rgb"):  # packed without reordering: what should be blue is red
        return encoding.replace("bgr", "rgb"), array
    return encoding, array


def _jpeg(content: bytes) -> NDArray[Any]:
    height, width, space, _ = simplejpeg.decode_jpeg_header(content)
    if height * width > MOST_PIXELS:
        raise ValueError(f"{width} x {height} pixels are too many")
    space = "GRAY" if space == "Gray" else "BGR"
    try:
        array = simplejpeg.decode_jpeg(content, space)
    except ValueError as error:
        if not HARMLESS.search(str(error)):
            raise
        array = simplejpeg.decode_jpeg(content, space, strict=False)
    return array[:, :, 0] if space == "GRAY" else array


def _picture(content: bytes) -> NDArray[Any]:
    array = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_UNCHANGED)
    if array is None:
        raise ValueError("it is damaged, or of no known format")
    if (array.dtype.type, array.shape[2] if array.ndim == 3 else 1) not in ARRAY_ENCODINGS:
        raise ValueError(f"its pixels are {array.dtype} of shape {array.shape[2:]}")
    return np.asarray(array)


def _refuse(reason: str, message: str, value: Any) -> NoReturn:
    raise SampleError(reason, message, name="image", value=value)
