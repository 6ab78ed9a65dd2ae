"""Decoding of images, in all encodings of ROS image messages, to RGB."""

import sys
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from icub_learning.recognition.vision.compressed_images import Buffer, decompress, refuse
from icub_learning.recognition.vision.opencv import cv2

Pixels = NDArray[np.uint8]

# Channels of a pixel, and which of them are red, green and blue. 8UC1, 8UC3 and 8UC4, which name no colours, are taken
# as OpenCV does: grey, BGR and BGRA.
RGB, BGR = slice(0, 3), slice(2, None, -1)
NAMED = {"rgb": (3, RGB), "rgba": (4, RGB), "bgr": (3, BGR), "bgra": (4, BGR)}
COLOR = {f"{name}{bits}": form for name, form in NAMED.items() for bits in (8, 16)}
COLOR |= {"8UC3": (3, BGR), "8UC4": (4, BGR)}
GREY = ("mono8", "mono16", "8UC1")
# The name gives the colours of the first two pixels of the first two rows.
BAYER = {
    "bayer_rggb": cv2.COLOR_BayerRGGB2RGB,
    "bayer_bggr": cv2.COLOR_BayerBGGR2RGB,
    "bayer_gbrg": cv2.COLOR_BayerGBRG2RGB,
    "bayer_grbg": cv2.COLOR_BayerGRBG2RGB,
}
# Two neighbouring pixels share their colour.
YUV422 = {
    "uyvy": cv2.COLOR_YUV2RGB_UYVY,
    "yuv422": cv2.COLOR_YUV2RGB_UYVY,
    "yuyv": cv2.COLOR_YUV2RGB_YUYV,
    "yuv422_yuy2": cv2.COLOR_YUV2RGB_YUYV,
}
# Two by two pixels share their colour; the colours follow the brightness of the whole image.
YUV420 = {"nv12": cv2.COLOR_YUV2RGB_NV12, "nv21": cv2.COLOR_YUV2RGB_NV21}
YUV444 = ("nv24",)
SMALLEST_BAYER = 3  # pixels, height and width

# All that are read.
ENCODINGS = (*COLOR, *GREY, *(f"{name}{bits}" for name in BAYER for bits in (8, 16)), *YUV422, *YUV420, *YUV444)
DEPTH = ("16UC1", "32FC1")  # REP-118


def decode(encoding: str, height: int, width: int, step: int, data: Buffer, big_endian: bool = False) -> Pixels:
    """Return an image as RGB (height, width, 3) of uint8, a view of `data` where possible.

    16-bit values are reduced to their upper 8 bits, an alpha channel is dropped, and YUV means ITU-R BT.601 with Y from
    16 to 235. The arguments are the fields of sensor_msgs/Image: one of ENCODINGS, rows of the image (of its brightness
    where colours are stored separately), pixels of a row, bytes from the start of one row to the next, bytes of all
    rows and the byte order of 16-bit values. Raises SampleError: with reason image_empty, encoding_unknown,
    encoding_without_color, image_size, image_step or image_data_length.
    """
    if not height or not width:
        refuse("image_empty", f"an image of {height} rows and {width} columns has no pixels", (height, width))
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
            refuse("image_size", f"{encoding}: {width} x {height} pixels must be {bound}", (height, width))
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
    """Return a compressed image as RGB (height, width, 3) of uint8, from the field `format` ("jpeg", "png", or as
    image_transport writes it, "rgb8; jpeg compressed bgr8") and the bytes of a JPEG file or another that OpenCV reads.
    Raises SampleError: with reason image_empty, image_compressed, encoding_without_color or encoding_unknown.
    """
    encoding, array = decompress(description, data)
    height, width = array.shape[:2]
    flat = np.ascontiguousarray(array).view(np.uint8).reshape(height, -1)
    return decode(encoding, height, width, flat.shape[1], flat.reshape(-1), sys.byteorder == "big")


def _rows(encoding: str, n_rows: int, n_bytes: int, height: int, step: int, data: Buffer) -> Pixels:
    """Return the first `n_bytes` bytes of each of `n_rows` rows, without padding."""
    if step < n_bytes:
        refuse("image_step", f"{encoding}: a step of {step} bytes is too short for a row of {n_bytes} bytes", step)
    values = np.frombuffer(data, np.uint8) if len(data) else np.empty(0, np.uint8)
    if values.size != n_rows * step:
        wanted = f"{n_rows * step} bytes of data ({n_rows} rows of {step} for {height} rows of pixels)"
        refuse("image_data_length", f"{encoding}: {values.size} bytes of data came instead of {wanted}", values.size)
    return values.reshape(n_rows, step)[:, :n_bytes]


def _upper_bytes(encoding: str, height: int, n_samples: int, step: int, data: Buffer, big_endian: bool) -> Pixels:
    """Return 8-bit values, or the upper 8 bits of 16-bit values, (height, n_samples)."""
    if not encoding.endswith("16"):
        return _rows(encoding, height, n_samples, height, step, data)
    pairs = _rows(encoding, height, 2 * n_samples, height, step, data)
    return pairs[:, 0 if big_endian else 1 :: 2]


def _decode_nv24(height: int, width: int, step: int, data: Buffer) -> Pixels:
    """Decode brightness of all rows, then colour of all rows, as YUV 4:2:2 in which every pixel is repeated."""
    planes = _rows("nv24", 3 * height, width, height, step, data)  # rows of colour, two bytes a pixel, span two steps
    values = np.frombuffer(data, np.uint8)
    colour = values[height * step :].reshape(height, 2 * step)[:, : 2 * width].reshape(height, width, 2)
    doubled = np.empty((height, 2 * width, 2), np.uint8)
    doubled[:, :, 1] = np.repeat(planes[:height], 2, axis=1)
    doubled[:, 0::2, 0], doubled[:, 1::2, 0] = colour[:, :, 0], colour[:, :, 1]
    return _convert(doubled, cv2.COLOR_YUV2RGB_UYVY)[:, ::2]


def _convert(pixels: Pixels, code: int) -> Pixels:
    return np.asarray(cv2.cvtColor(np.ascontiguousarray(pixels), code), dtype=np.uint8)


def _check_even(encoding: str, **sizes: int) -> None:
    for name, size in sizes.items():
        if size % 2:
            text = f"{encoding}: neighbouring pixels share colours, so the {name} {size} must be even"
            refuse("image_size", text, size)


def _refuse_encoding(encoding: str) -> NoReturn:
    known = ", ".join(ENCODINGS)
    if encoding in DEPTH:
        refuse("encoding_without_color", f"{encoding} is a depth image, but must be one of {known}", encoding)
    bits, kind = encoding[:2].rstrip("USF"), encoding.lstrip("0123456789")
    if bits in ("8", "16", "32", "64") and kind[:2] in ("UC", "SC", "FC"):
        message = f"{encoding} does not say which colours its channels are; it must be one of {known}"
        refuse("encoding_without_color", message, encoding)
    shown = encoding if len(encoding) <= 40 else encoding[:40] + "..."
    refuse("encoding_unknown", f"unknown encoding {shown!r}; it must be one of {known}", shown)
