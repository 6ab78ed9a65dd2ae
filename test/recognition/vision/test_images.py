"""Images in every encoding of sensor_msgs, packed here byte by byte, come out as the colours that went in."""

import io
import re
import struct
import zlib
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from sklearn.datasets import load_sample_image

from icub_learning.errors import SampleError
from icub_learning.recognition.vision.images import DEPTH, ENCODINGS, decode, decode_compressed

HEIGHT, WIDTH = 10, 14
Y, X = np.mgrid[:HEIGHT, :WIDTH] / 14.0
# Smooth, so that shared and interpolated colours are nearly those of each pixel.
PICTURE = np.stack([60 + 100 * X, 200 - 120 * Y, 90 + 50 * X + 50 * Y], axis=2).round().astype(np.uint8)
SAMPLES = {"rgb": "RGB", "bgr": "BGR", "rgba": "RGBA", "bgra": "BGRA", "8UC3": "BGR", "8UC4": "BGRA"}
PHOTOGRAPH = load_sample_image("flower.jpg")[100:300, 200:500]


def interleaved(*planes):
    return np.stack(planes, axis=2).reshape(len(planes[0]), -1)


def parts_of(encoding, wide=lambda values: np.repeat(values, 2, axis=1)):
    """Return PICTURE in `encoding` as rows of bytes, by parts; `wide` turns 8-bit numbers into two bytes of 16 bits."""
    planes = dict(zip("RGBA", [*np.moveaxis(PICTURE, 2, 0), np.full((HEIGHT, WIDTH), 77, np.uint8)], strict=True))
    if (name := encoding.removesuffix("16").removesuffix("8")) in SAMPLES:
        parts = [interleaved(*(planes[colour] for colour in SAMPLES[name]))]
    elif name.startswith("bayer_"):
        parts = [np.empty((HEIGHT, WIDTH), np.uint8)]
        for index, colour in enumerate(name.removeprefix("bayer_").upper()):
            at = (slice(index // 2, None, 2), slice(index % 2, None, 2))
            parts[0][at] = planes[colour][at]
    else:
        kr, kg, kb, (r, g, b) = 0.299, 0.587, 0.114, np.moveaxis(PICTURE / 255.0, 2, 0)  # ITU-R BT.601, limited range
        brightness = kr * r + kg * g + kb * b
        u, v = (b - brightness) / (2 * (1 - kb)), (r - brightness) / (2 * (1 - kr))
        y, u, v = (part.round().astype(np.uint8) for part in (16 + 219 * brightness, 128 + 224 * u, 128 + 224 * v))
        even, odd, shared_u, shared_v = y[:, ::2], y[:, 1::2], u[:, ::2], v[:, ::2]
        parts = {
            **dict.fromkeys(("mono", "8UC1"), (planes["G"],)),
            **dict.fromkeys(("uyvy", "yuv422"), (interleaved(shared_u, even, shared_v, odd),)),
            **dict.fromkeys(("yuyv", "yuv422_yuy2"), (interleaved(even, shared_u, odd, shared_v),)),
            "nv12": (y, interleaved(shared_u[::2], shared_v[::2])),
            "nv21": (y, interleaved(shared_v[::2], shared_u[::2])),
            "nv24": (y, interleaved(u, v)),  # the second part has two rows of bytes per row of pixels
        }[name]
    return [wide(part) for part in parts] if encoding.endswith("16") else parts


def message(encoding, padding=0, **options):
    """Return step and data of an image message whose rows are followed by `padding` bytes."""
    parts = parts_of(encoding, **options)
    width = parts[0].shape[1]
    behind = [((0, 0), (0, padding * part.shape[1] // width)) for part in parts]
    padded = [np.pad(part, more, constant_values=255) for part, more in zip(parts, behind, strict=True)]
    return width + padding, b"".join(part.tobytes() for part in padded)


def tolerance(encoding):
    """Return the largest error of a colour: zero except where colours are shared, interpolated or rounded."""
    if encoding.startswith(("bayer", "nv12", "nv21")):
        return 13  # at the border of a mosaic colours are taken from the neighbours inside
    return 9 if encoding.startswith(("y", "u")) else 3 if encoding == "nv24" else 0


def expected(encoding):
    return np.repeat(PICTURE[:, :, 1:2], 3, axis=2) if (encoding.startswith("mono") or encoding == "8UC1") else PICTURE


@pytest.mark.parametrize("padding", [0, 6])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_colours_come_out_as_they_went_in(encoding, padding):
    step, data = message(encoding, padding)
    out = decode(encoding, HEIGHT, WIDTH, step, data)
    assert (out.dtype, out.shape) == (np.uint8, (HEIGHT, WIDTH, 3))
    assert np.abs(out.astype(int) - expected(encoding)).max() <= tolerance(encoding)


@pytest.mark.parametrize("encoding", [name for name in ENCODINGS if name.endswith("16")])
def test_byte_order_of_16_bit_numbers(encoding):
    for big_endian, order in ((False, [1, 0]), (True, [0, 1])):

        def wide(values, order=order):
            both = np.stack([values, np.full_like(values, 200)], axis=-1)  # the upper byte counts, the lower does not
            return both[..., order].reshape(len(values), -1)

        step, data = message(encoding, wide=wide)
        out = decode(encoding, HEIGHT, WIDTH, step, data, big_endian).astype(int)
        assert np.abs(out - expected(encoding)).max() <= tolerance(encoding)
        assert np.abs(decode(encoding, HEIGHT, WIDTH, step, data, not big_endian).astype(int) - 200).max() <= 1


def test_every_encoding_of_sensor_msgs_is_read_or_refused_with_a_reason():
    hpp, sensor_msgs = re.compile(r'const char \w+\[\] = "(\w+)";'), pytest.importorskip("sensor_msgs")
    header = "include/sensor_msgs/sensor_msgs/image_encodings.hpp"
    if not (found := [parent / header for parent in Path(sensor_msgs.__file__).parents if (parent / header).exists()]):
        pytest.skip("no headers of sensor_msgs here")
    names = hpp.findall(found[0].read_text())
    assert len(names) > 40 and set(ENCODINGS) <= set(names)
    for name in set(names) - set(ENCODINGS):
        with pytest.raises(SampleError) as caught:
            decode(name, 4, 4, 64, bytes(256))
        assert caught.value.reason == "encoding_without_color"


REFUSED = {
    "no rows": (("rgb8", 0, 4, 12, b""), "image_empty"), "no columns": (("rgb8", 4, 0, 0, b""), "image_empty"),
    "no data": (("rgb8", 4, 4, 12, b""), "image_data_length"),
    "short data": (("rgb8", 4, 4, 12, bytes(47)), "image_data_length"),
    "long data": (("rgb8", 4, 4, 12, bytes(49)), "image_data_length"),
    "short step": (("rgb8", 4, 4, 11, bytes(44)), "image_step"), "no step": (("rgb8", 4, 4, 0, b""), "image_step"),
    "step of 8 bits": (("mono16", 4, 4, 4, bytes(16)), "image_step"),
    "gigantic": (("rgb8", 2**32 - 1, 2**32 - 1, 2**32 - 1, bytes(48)), "image_step"),
    "gigantic rows": (("mono8", 2**32 - 1, 4, 2**32 - 1, bytes(48)), "image_data_length"),
    "no encoding": (("", 4, 4, 12, bytes(48)), "encoding_unknown"),
    "unknown encoding": (("rgb9", 4, 4, 12, bytes(48)), "encoding_unknown"),
    "upper case": (("RGB8", 4, 4, 12, bytes(48)), "encoding_unknown"),
    "long encoding": (("x" * 10_000, 4, 4, 12, bytes(48)), "encoding_unknown"),
    **{name: ((name, 4, 4, 16, bytes(64)), "encoding_without_color") for name in DEPTH},
    "odd width": (("uyvy", 4, 5, 10, bytes(40)), "image_size"),
    "odd height": (("nv21", 5, 4, 4, bytes(30)), "image_size"),
    "tiny bayer": (("bayer_rggb8", 2, 2, 2, bytes(4)), "image_size"),
    "nv12 without colour": (("nv12", 4, 4, 4, bytes(16)), "image_data_length"),
    "nv24 of 4:2:0": (("nv24", 4, 4, 4, bytes(24)), "image_data_length"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_an_image_is_refused(case):
    arguments, reason = REFUSED[case]
    with pytest.raises(SampleError) as caught:
        decode(*arguments)
    assert caught.value.reason == reason and len(str(caught.value)) < 500
    assert ("depth" in str(caught.value)) == (case in DEPTH)


@given(
    encoding=st.sampled_from(ENCODINGS) | st.text(max_size=12),
    sizes=st.tuples(*[st.integers(0, 9) | st.integers(0, 2**32 - 1)] * 3), data=st.binary(max_size=300),
    big_endian=st.booleans(),
)  # fmt: skip
@settings(max_examples=300, deadline=None)
def test_any_message_gives_an_image_or_a_refusal(encoding, sizes, data, big_endian):
    height, width, step = sizes
    try:
        out = decode(encoding, height, width, step, data, big_endian)
    except SampleError:
        return
    assert (out.dtype, out.shape) == (np.uint8, (height, width, 3))


def compress(array, name, **options):
    file = io.BytesIO()
    Image.fromarray(array).save(file, name, **options)
    return file.getvalue()


@pytest.mark.parametrize("description", ["jpeg", "", "rgb8; jpeg compressed bgr8", "bgr8; jpeg compressed bgr8"])
def test_jpeg(description):
    content = compress(PHOTOGRAPH, "JPEG", quality=95)
    reference = np.asarray(Image.open(io.BytesIO(content)).convert("RGB")).astype(int)
    assert np.abs((out := decode_compressed(description, content)) - reference).max() <= 2
    more = content[:-2] + bytes(12) + content[-2:]  # as of cheap cameras, and no harm
    assert (decode_compressed(description, more) == out).all()
    grey = compress(PHOTOGRAPH[:, :, 0], "JPEG", quality=95)
    out = decode_compressed("mono8; jpeg compressed mono8", grey).astype(int)
    assert np.abs(out[:, :, 2] - np.asarray(Image.open(io.BytesIO(grey)))).max() <= 2


def test_png_of_all_kinds():
    alpha, grey = np.dstack([PHOTOGRAPH, PHOTOGRAPH[:, :, 0]]), PHOTOGRAPH[:, :, 1]
    wide, shown = grey.astype(np.uint16) * 256 + 99, grey[..., None]
    for array, expected in ((PHOTOGRAPH, PHOTOGRAPH), (alpha, PHOTOGRAPH), (grey, shown), (wide, shown)):
        assert (decode_compressed("png", compress(array, "PNG")) == expected).all()
    swapped = np.ascontiguousarray(PHOTOGRAPH[:, :, ::-1])  # OpenCV writes this for RGB that it takes for BGR
    assert (decode_compressed("rgb8; png compressed rgb8", compress(swapped, "PNG")) == PHOTOGRAPH).all()
    for array in (swapped, alpha[:, :, [2, 1, 0, 3]]):  # OpenCV writes 16 bits of each colour, too
        content = cv2.imencode(".png", array.astype(np.uint16) * 256 + 99)[1].tobytes()
        assert (decode_compressed("png", content) == PHOTOGRAPH).all()
    for pattern in ("bayer_rggb8", "bayer_gbrg8"):
        (mosaic,) = parts_of(pattern)
        out = decode_compressed(f"{pattern}; png compressed {pattern}", compress(mosaic, "PNG"))
        assert (out == decode(pattern, HEIGHT, WIDTH, WIDTH, mosaic.tobytes())).all()


def broken():
    """Yield name and bytes of files that are not complete images."""
    jpeg, png = compress(PHOTOGRAPH, "JPEG"), compress(PHOTOGRAPH, "PNG")
    noise, half = np.random.default_rng(0).bytes(3000), len(jpeg) // 2
    yield "empty", b""
    yield "noise", noise
    yield "only a start", jpeg[:3]
    yield "half a JPEG", jpeg[:half]
    yield "JPEG without its end", jpeg[:-2]
    yield "JPEG with noise inside", jpeg[:half] + noise + jpeg[half + len(noise) :]
    yield "JPEG with zeros inside", jpeg[:half] + bytes(3000) + jpeg[half + 3000 :]
    yield "JPEG header and noise", jpeg[:700] + noise
    yield "half a PNG", png[: len(png) // 2]
    yield "PNG with a wrong bit", png[:2000] + bytes([png[2000] ^ 1]) + png[2001:]
    header = struct.pack(">IIBBBBB", 30_000, 30_000, 8, 2, 0, 0, 0)
    kinds = {b"IHDR" + header: len(header), b"IEND": 0}
    chunks = [struct.pack(">I", size) + kind + struct.pack(">I", zlib.crc32(kind)) for kind, size in kinds.items()]
    yield "a small file of a huge image", b"\x89PNG\r\n\x1a\n" + b"".join(chunks)
    huge, at = bytearray(jpeg), jpeg.index(b"\xff\xc0") + 5
    huge[at : at + 4] = b"\xff\xff\xff\xff"
    yield "a small JPEG of a huge image", bytes(huge)
    place = png.index(b"IDAT") - 4
    yield "a PNG with a chunk of 1.9 GB", png[:place] + b"\x70\x49\x41\x54" + png[place + 4 :]


def test_damaged_files_are_refused():
    for name, content in broken():
        with pytest.raises(SampleError) as caught:
            decode_compressed("jpeg", content)
        assert caught.value.reason == ("image_empty" if name == "empty" else "image_compressed"), name
        assert len(str(caught.value)) < 500 and (name[:12] != "a small file" or "more than 671" in str(caught.value))
    for depth in ("16UC1; compressedDepth png", "16UC1; png compressed "):  # of both kinds of image_transport
        with pytest.raises(SampleError) as caught:
            decode_compressed(depth, compress(PHOTOGRAPH[:, :, 0], "PNG"))
        assert caught.value.reason == "encoding_without_color"


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_any_change_of_a_file_gives_an_image_or_a_refusal(data):
    name = data.draw(st.sampled_from(["JPEG", "PNG"]))
    content = bytearray(compress(PHOTOGRAPH[:40, :50], name))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    try:
        out = decode_compressed(name.lower(), bytes(content))
    except SampleError:
        return
    assert (out.dtype, out.ndim, out.shape[2]) == (np.uint8, 3, 3)
