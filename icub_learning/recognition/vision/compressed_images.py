"""Decompression of images to arrays and their encoding; damaged images are refused, not shown with grey areas."""

import re
from typing import Any, NoReturn

import numpy as np
import simplejpeg
from numpy.typing import NDArray

from icub_learning.errors import SampleError
from icub_learning.recognition.vision.opencv import cv2

JPEG_START, PNG_START = b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n"
MOST_PIXELS = 2**26  # of an image: 8192 by 8192
Buffer = bytes | bytearray | memoryview | NDArray[np.uint8]
# Some cameras write a few extra bytes before the end of each image, which is complete all the same.
HARMLESS_WARNING = re.compile(r"Corrupt JPEG data: \d{1,2} extraneous bytes before marker 0xd9")
ARRAY_ENCODINGS = {(np.uint8, 1): "mono8", (np.uint8, 3): "bgr8", (np.uint8, 4): "bgra8",
                   (np.uint16, 1): "mono16", (np.uint16, 3): "bgr16", (np.uint16, 4): "bgra16"}  # fmt: skip


def decompress(description: str, data: Buffer) -> tuple[str, NDArray[Any]]:
    """Return the encoding and the pixels (height, width) or (height, width, channels), uint8 or uint16, of a file's
    bytes; see `decode_compressed`. Raises SampleError.
    """
    content = bytes(data)
    if not content:
        refuse("image_empty", "a compressed image came without data", description)
    if "compressedDepth" in description:
        refuse("encoding_without_color", f"{description} is a depth image", description)
    packed = description.rpartition("compressed ")[2].strip() if "compressed " in description else ""
    try:
        pixels = _decode_jpeg(content) if content.startswith(JPEG_START) else _decode_other(content)
    except (ValueError, cv2.error) as error:
        shown = description[:40]
        text = f"an image of format {shown!r} ({len(content)} bytes) cannot be read: {error}"
        refuse("image_compressed", text, shown)
    encoding = ARRAY_ENCODINGS[pixels.dtype.type, pixels.shape[2] if pixels.ndim == 3 else 1]
    if packed.startswith("bayer_") and pixels.ndim == 2:
        return packed, pixels
    if packed.startswith("rgb"):  # compressed without reordering: red is in the place of blue
        return encoding.replace("bgr", "rgb"), pixels
    return encoding, pixels


def _decode_jpeg(content: bytes) -> NDArray[Any]:
    height, width, space, _ = simplejpeg.decode_jpeg_header(content)
    if height * width > MOST_PIXELS:
        raise ValueError(f"{width} x {height} pixels are more than {MOST_PIXELS}")
    space = "GRAY" if space == "Gray" else "BGR"
    try:
        pixels = simplejpeg.decode_jpeg(content, space)
    except ValueError as error:
        if not HARMLESS_WARNING.search(str(error)):
            raise
        pixels = simplejpeg.decode_jpeg(content, space, strict=False)
    return np.asarray(pixels[:, :, 0] if space == "GRAY" else pixels)


def _check_chunks(content: bytes) -> None:
    """Raise ValueError if a chunk of a PNG claims more bytes than there are: OpenCV allocates them, up to 2 GB."""
    place = len(PNG_START)
    while place + 8 <= len(content):
        length = int.from_bytes(content[place : place + 4], "big")
        place += 12 + length  # length, name, and the sum at the end
        if place > len(content):
            raise ValueError(f"a chunk claims {length} bytes, more than there are")


def _decode_other(content: bytes) -> NDArray[Any]:
    if content.startswith(PNG_START):
        _check_chunks(content)
    pixels = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_UNCHANGED)
    if pixels is None:
        raise ValueError("it is damaged, or of an unknown format")
    if (pixels.dtype.type, pixels.shape[2] if pixels.ndim == 3 else 1) not in ARRAY_ENCODINGS:
        raise ValueError(f"its pixels are {pixels.dtype} of shape {pixels.shape[2:]}")
    return np.asarray(pixels)


def refuse(reason: str, message: str, value: object) -> NoReturn:
    """Raise SampleError for an image that cannot be used."""
    raise SampleError(reason, message, name="image", value=value)
