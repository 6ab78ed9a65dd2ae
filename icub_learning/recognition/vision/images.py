"""Decoding of images, in all encodings of ROS image messages, to RGB; damaged images are refused."""

import re
import sys
from typing import Any, NoReturn

import numpy as np
import simplejpeg
from numpy.typing import NDArray

from icub_learning.errors import SampleError
from icub_learning.recognition.vision.opencv import cv2

Pixels = NDArray[np.uint8]
Buffer = bytes | bytearray | memoryview | NDArray[np.uint8]

# Channels of a pixel, and which of them are red, green and blue. 8UC1, 8UC3 and 8UC4, which name no colours, are taken
# as OpenCV does: grey, BGR and BGRA.
RGB, BGR = slice(0, 3), slice(2, None, -1)
NAMED = {"rgb": (3, RGB), "rgba": (4, RGB), "bgr": (3, BGR), "bgra": (4, BGR)}
COLOR = {f"{name}{bits}": form for name, form in NAMED.items() for bits in (8, 16)}  # bits of each channel
COLOR |= {"8UC3": (3, BGR), "8UC4": (4, BGR)}
GREY = ("mono8", "mono16", "8UC1")
# The name of a Bayer pattern gives the colours of the first two pixels of the first two rows.
BAYER = {f"bayer_{some}": getattr(cv2, f"COLOR_Bayer{some.upper()}2RGB") for some in ("rggb", "bggr", "gbrg", "grbg")}
# Two neighbouring pixels share their colour.
UYVY, YUYV = cv2.COLOR_YUV2RGB_UYVY, cv2.COLOR_YUV2RGB_YUYV
YUV422 = {"uyvy": UYVY, "yuv422": UYVY, "yuyv": YUYV, "yuv422_yuy2": YUYV}
# Two by two pixels share their colour; the colours follow the brightness of the whole image.
YUV420 = {"nv12": cv2.COLOR_YUV2RGB_NV12, "nv21": cv2.COLOR_YUV2RGB_NV21}
YUV444 = ("nv24",)
SMALLEST_BAYER = 3  # [px] smallest height and width of a Bayer pattern

# All encodings that are read.
ENCODINGS = (*COLOR, *GREY, *(f"{name}{bits}" for name in BAYER for bits in (8, 16)), *YUV422, *YUV420, *YUV444)
DEPTH = ("16UC1", "32FC1")  # encodings of depth images, REP-118
JPEG_START, PNG_START = b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n"
MOST_PIXELS = 2**26  # largest number of pixels of an image: 8192 by 8192
# Some cameras write a few extra bytes before the end of each image, which is complete all the same.
HARMLESS_WARNING = re.compile(r"Corrupt JPEG data: \d{1,2} extraneous bytes before marker 0xd9")
ARRAY_ENCODINGS = {(np.uint8, 1): "mono8", (np.uint8, 3): "bgr8", (np.uint8, 4): "bgra8",
                   (np.uint16, 1): "mono16", (np.uint16, 3): "bgr16", (np.uint16, 4): "bgra16"}  # fmt: skip


def decode(encoding: str, height: int, width: int, step: int, data: Buffer, big_endian: bool = False) -> Pixels:
    """Return an image as RGB (height, width, 3) of uint8, a view of `data` where possible.

    16-bit values are reduced to their upper 8 bits, an alpha channel is dropped, and YUV means ITU-R BT.601 with Y from
    16 to 235. The arguments are the fields of sensor_msgs/Image, with one of ENCODINGS. Raises SampleError:
    image_empty, encoding_unknown, encoding_without_color, image_size, image_step or image_data_length.
    """
    if not height or not width:
        _refuse("image_empty", f"an image of {height} rows and {width} columns has no pixels", (height, width))
    if encoding not in ENCODINGS:
        _refuse_encoding(encoding)
    if encoding in COLOR:
        count, order = COLOR[encoding]
        samples = _upper_bytes(encoding, height, width * count, step, data, big_endian)
        return samples.reshape(height, width, count)[:, :, order]
    if encoding in GREY:
        samples = _upper_bytes(encoding, height, width, step, data, big_endian)
        return np.broadcast_to(samples[:, :, np.newaxis], (height, width, 3))
    if encoding.startswith("bayer"):
        if min(height, width) < SMALLEST_BAYER:
            bound = f"at least {SMALLEST_BAYER} x {SMALLEST_BAYER}"
            _refuse("image_size", f"{encoding}: {width} x {height} pixels must be {bound}", (height, width))
        mosaic = _upper_bytes(encoding, height, width, step, data, big_endian)
        return _convert(mosaic, BAYER[encoding.rstrip("0123456789")])
    if encoding in YUV422:
        _check_even(encoding, width=width)
        rows = _rows(encoding, height, width * 2, height, step, data)
        return _convert(rows.reshape(height, width, 2), YUV422[encoding])
    if encoding in YUV420:
        _check_even(encoding, width=width, height=height)
        return _convert(_rows(encoding, height * 3 // 2, width, height, step, data), YUV420[encoding])
    return _decode_nv24(height, width, step, data)


def decode_compressed(description: str, data: Buffer) -> Pixels:
    """Return a compressed image as RGB (height, width, 3) of uint8, from `format` as image_transport writes it and the
    bytes of a file. Raises SampleError: image_empty, image_compressed, encoding_without_color or encoding_unknown."""
    encoding, array = _decompress(description, data)
    height, width = array.shape[:2]
    flat = np.ascontiguousarray(array).view(np.uint8).reshape(height, -1)
    return decode(encoding, height, width, flat.shape[1], flat.reshape(-1), sys.byteorder == "big")


def _rows(encoding: str, n_rows: int, n_bytes: int, height: int, step: int, data: Buffer) -> Pixels:
    """Return the first `n_bytes` bytes of each of `n_rows` rows, without padding."""
    if step < n_bytes:
        _refuse("image_step", f"{encoding}: a step of {step} bytes is too short for a row of {n_bytes} bytes", step)
    values = np.frombuffer(data, np.uint8) if len(data) else np.empty(0, np.uint8)
    if values.size != n_rows * step:
        wanted = f"{n_rows * step} bytes of data ({n_rows} rows of {step} for {height} rows of pixels)"
        _refuse("image_data_length", f"{encoding}: {values.size} bytes of data came instead of {wanted}", values.size)
    return values.reshape(n_rows, step)[:, :n_bytes]


def _upper_bytes(encoding: str, height: int, n_samples: int, step: int, data: Buffer, big_endian: bool) -> Pixels:
    """Return 8-bit values, or the upper 8 bits of 16-bit values, (height, n_samples)."""
    if not encoding.endswith("16"):
        return _rows(encoding, height, n_samples, height, step, data)
    return _rows(encoding, height, 2 * n_samples, height, step, data)[:, 0 if big_endian else 1 :: 2]


def _decode_nv24(height: int, width: int, step: int, data: Buffer) -> Pixels:
    """Decode brightness of all rows, then colour of all rows, as YUV 4:2:2 in which every pixel is repeated."""
    planes = _rows("nv24", 3 * height, width, height, step, data)  # rows of colour, two bytes a pixel, span two steps
    values = np.frombuffer(data, np.uint8)
    colour = values[height * step :].reshape(height, 2 * step)[:, : 2 * width].reshape(height, width, 2)
    doubled = np.empty((height, 2 * width, 2), np.uint8)
    doubled[:, :, 1] = np.repeat(planes[:height], 2, axis=1)
    doubled[:, 0::2, 0], doubled[:, 1::2, 0] = colour[:, :, 0], colour[:, :, 1]
    return _convert(doubled, UYVY)[:, ::2]


def _convert(pixels: Pixels, code: int) -> Pixels:
    return np.asarray(cv2.cvtColor(np.ascontiguousarray(pixels), code), dtype=np.uint8)


def _check_even(encoding: str, **sizes: int) -> None:
    for name, size in sizes.items():
        if size % 2:
            text = f"{encoding}: neighbouring pixels share colours, so the {name} {size} must be even"
            _refuse("image_size", text, size)


def _refuse_encoding(encoding: str) -> NoReturn:
    known = ", ".join(ENCODINGS)
    if encoding in DEPTH:
        _refuse("encoding_without_color", f"{encoding} is a depth image, but must be one of {known}", encoding)
    bits, kind = encoding[:2].rstrip("USF"), encoding.lstrip("0123456789")
    if bits in ("8", "16", "32", "64") and kind[:2] in ("UC", "SC", "FC"):
        message = f"{encoding} does not say which colours its channels are; it must be one of {known}"
        _refuse("encoding_without_color", message, encoding)
    shown = encoding if len(encoding) <= 40 else encoding[:40] + "..."
    _refuse("encoding_unknown", f"unknown encoding {shown!r}; it must be one of {known}", shown)


def _decompress(description: str, data: Buffer) -> tuple[str, NDArray[Any]]:
    """Return the encoding and the pixels (height, width) or (height, width, channels), uint8 or uint16."""
    content = bytes(data)
    if not content:
        _refuse("image_empty", "a compressed image came without data", description)
    if "compressedDepth" in description or description.partition(";")[0] in DEPTH:
        _refuse("encoding_without_color", f"{description} is a depth image", description)
    packed = description.rpartition("compressed ")[2].strip() if "compressed " in description else ""
    try:
        pixels = _decode_jpeg(content) if content.startswith(JPEG_START) else _decode_other(content)
    except (ValueError, cv2.error) as error:
        shown = description[:40]
        text = f"an image of format {shown!r} ({len(content)} bytes) cannot be read: {error}"
        _refuse("image_compressed", text, shown)
    encoding = ARRAY_ENCODINGS[pixels.dtype.type, pixels.shape[2] if pixels.ndim == 3 else 1]
    if packed.startswith("bayer_") and pixels.ndim == 2:
        return packed, pixels
    # What begins with rgb was compressed without reordering: red is in the place of blue.
    return encoding.replace("bgr", "rgb") if packed.startswith("rgb") else encoding, pixels


def _decode_jpeg(content: bytes) -> NDArray[Any]:
    height, width, space, _ = simplejpeg.decode_jpeg_header(content)
    _check_size(height, width)
    space = "GRAY" if space == "Gray" else "BGR"
    try:
        pixels = simplejpeg.decode_jpeg(content, space)
    except ValueError as error:
        if not HARMLESS_WARNING.search(str(error)):
            raise
        pixels = simplejpeg.decode_jpeg(content, space, strict=False)
    return np.asarray(pixels[:, :, 0] if space == "GRAY" else pixels)


def _check_size(height: int, width: int) -> None:
    if height * width > MOST_PIXELS:
        raise ValueError(f"{width} x {height} pixels are more than {MOST_PIXELS}")


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
        _check_size(int.from_bytes(content[20:24], "big"), int.from_bytes(content[16:20], "big"))  # of its first chunk
    pixels = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_UNCHANGED)
    if pixels is None:
        raise ValueError("it is damaged, or of an unknown format")
    if (pixels.dtype.type, pixels.shape[2] if pixels.ndim == 3 else 1) not in ARRAY_ENCODINGS:
        raise ValueError(f"its pixels are {pixels.dtype} of shape {pixels.shape[2:]}")
    return np.asarray(pixels)


def _refuse(reason: str, message: str, value: object) -> NoReturn:
    raise SampleError(reason, message, name="image", value=value)
