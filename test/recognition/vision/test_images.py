"""Images in every encoding of sensor_msgs, packed here byte by byte, come out as the colours that went in."""

import io
import re
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from icub_learning.errors import SampleError
from icub_learning.recognition.vision.images import DEPTH, ENCODINGS, decode, decode_compressed

HEIGHT, WIDTH = 10, 14
SAMPLES = {"rgb": "RGB", "bgr": "BGR", "rgba": "RGBA", "bgra": "BGRA"}


@pytest.fixture
def picture():
    """Smooth, so that shared and interpolated colours are nearly those of each pixel."""
    y, x = np.mgrid[:HEIGHT, :WIDTH] / 14.0
    channels = (60 + 100 * x, 200 - 120 * y, 90 + 50 * x + 50 * y)
    return np.stack(channels, axis=2).round().astype(np.uint8)


def yuv(rgb):
    """ITU-R BT.601, limited range, from its definition."""
    kr, kg, kb = 0.299, 0.587, 0.114
    r, g, b = np.moveaxis(rgb / 255.0, 2, 0)
    brightness = kr * r + kg * g + kb * b
    u, v = (b - brightness) / (2 * (1 - kb)), (r - brightness) / (2 * (1 - kr))
    planes = (16 + 219 * brightness, 128 + 224 * u, 128 + 224 * v)
    return [plane.round().astype(np.uint8) for plane in planes]


def rows_of(encoding, rgb, wide=None):
    """Rows of bytes of an image in `encoding`; `wide` turns numbers of 8 bits into two bytes of 16."""
    wide = wide or (lambda values: np.stack([values, values], axis=-1).reshape(len(values), -1))
    alpha = np.full(rgb.shape[:2], 77, np.uint8)
    planes = dict(zip("RGBA", [*np.moveaxis(rgb, 2, 0), alpha], strict=True))
    depth = 16 if encoding.endswith("16") else 8
    name = encoding.removesuffix(str(depth))
    if name in SAMPLES:
        values = np.stack([planes[c] for c in SAMPLES[name]], axis=2).reshape(len(rgb), -1)
    elif encoding in ("8UC3", "8UC4"):
        values = np.stack([planes[c] for c in "BGRA"[: int(encoding[-1])]], axis=2).reshape(len(rgb), -1)
    elif name == "mono" or encoding == "8UC1":
        values = rgb[:, :, 1]
    elif name.startswith("bayer_"):
        pattern = name.removeprefix("bayer_").upper()
        values = np.empty(rgb.shape[:2], np.uint8)
        for index, colour in enumerate(pattern):
            at = (slice(index // 2, None, 2), slice(index % 2, None, 2))
            values[at] = planes[colour][at]
    else:
        y, u, v = yuv(rgb)
        if encoding in ("uyvy", "yuv422"):
            values = np.stack([u[:, ::2], y[:, ::2], v[:, ::2], y[:, 1::2]], axis=2).reshape(len(rgb), -1)
        elif encoding in ("yuyv", "yuv422_yuy2"):
            values = np.stack([y[:, ::2], u[:, ::2], y[:, 1::2], v[:, ::2]], axis=2).reshape(len(rgb), -1)
        elif encoding in ("nv12", "nv21"):
            pair = (u, v) if encoding == "nv12" else (v, u)
            colour = np.stack([plane[::2, ::2] for plane in pair], axis=2).reshape(len(rgb) // 2, -1)
            values = np.concatenate([y, colour])
        else:
            assert encoding == "nv24"
            colour = np.stack([u, v], axis=2).reshape(2 * len(rgb), -1)  # two rows of bytes for one of pixels
            values = np.concatenate([y, colour])
    return wide(values) if depth == 16 else values


def message(encoding, rgb, padding=0, wide=None):
    """step and data of an image message whose rows are followed by `padding` bytes."""
    rows = rows_of(encoding, rgb, wide)
    if encoding == "nv24" and padding:
        y, colour = rows[: len(rgb)], rows[len(rgb) :].reshape(len(rgb), -1)
        y = np.pad(y, ((0, 0), (0, padding)), constant_values=255)
        colour = np.pad(colour, ((0, 0), (0, 2 * padding)), constant_values=255)
        return y.shape[1], y.tobytes() + colour.tobytes()
    rows = np.pad(rows, ((0, 0), (0, padding)), constant_values=255)
    return rows.shape[1], rows.tobytes()


def tolerance(encoding):
    """Most that a colour may be off: nothing but where it is shared, interpolated or rounded."""
    if encoding.startswith("bayer"):
        return 13  # at the border colours are taken from the neighbours inside
    if encoding.startswith(("nv12", "nv21")):
        return 13
    if encoding.startswith(("y", "u")):
        return 9
    return 3 if encoding == "nv24" else 0


def expected(encoding, rgb):
    grey = encoding.startswith("mono") or encoding == "8UC1"
    return np.repeat(rgb[:, :, 1:2], 3, axis=2) if grey else rgb


@pytest.mark.parametrize("padding", [0, 6])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_colours_come_out_as_they_went_in(picture, encoding, padding):
    step, data = message(encoding, picture, padding)
    out = decode(encoding, HEIGHT, WIDTH, step, data)
    assert out.dtype == np.uint8
    assert out.shape == (HEIGHT, WIDTH, 3)
    difference = np.abs(out.astype(int) - expected(encoding, picture))
    assert difference.max() <= tolerance(encoding)


@pytest.mark.parametrize("encoding", [name for name in ENCODINGS if name.endswith("16")])
def test_byte_order_of_16_bit_numbers(picture, encoding):
    for big_endian in (False, True):
        order = [0, 1] if big_endian else [1, 0]

        def wide(values, order=order):
            both = np.stack([values, np.full_like(values, 200)], axis=-1)  # the upper byte counts, the lower does not
            return both[..., order].reshape(len(values), -1)

        step, data = message(encoding, picture, wide=wide)
        out = decode(encoding, HEIGHT, WIDTH, step, data, big_endian).astype(int)
        assert np.abs(out - expected(encoding, picture)).max() <= tolerance(encoding)
        other = decode(encoding, HEIGHT, WIDTH, step, data, not big_endian).astype(int)
        assert np.abs(other - 200).max() <= 1


@pytest.mark.parametrize("encoding", [name for name in ENCODINGS if name.startswith("bayer")])
def test_bayer_patterns_of_one_colour_are_exact(encoding):
    rgb = np.broadcast_to(np.uint8([10, 120, 250]), (6, 8, 3))
    step, data = message(encoding, rgb)
    out = decode(encoding, 6, 8, step, data)
    assert (out == rgb).all()


def test_every_encoding_of_sensor_msgs_is_read_or_refused_with_a_reason():
    hpp = re.compile(r'const char \w+\[\] = "(\w+)";')
    sensor_msgs = pytest.importorskip("sensor_msgs")
    headers = [
        path for parent in Path(sensor_msgs.__file__).parents for path in parent.glob(
            "include/sensor_msgs/sensor_msgs/image_encodings.hpp")
    ]  # fmt: skip
    if not headers:
        pytest.skip("no headers of sensor_msgs here")
    names = hpp.findall(headers[0].read_text())
    assert len(names) > 40
    assert set(ENCODINGS) <= set(names)
    for name in set(names) - set(ENCODINGS):
        with pytest.raises(SampleError) as caught:
            decode(name, 4, 4, 64, bytes(256))
        assert caught.value.reason == "encoding_without_color"


REFUSED = {
    "no rows": (("rgb8", 0, 4, 12, b""), "image_empty"),
    "no columns": (("rgb8", 4, 0, 0, b""), "image_empty"),
    "no data": (("rgb8", 4, 4, 12, b""), "image_data_length"),
    "short data": (("rgb8", 4, 4, 12, bytes(47)), "image_data_length"),
    "long data": (("rgb8", 4, 4, 12, bytes(49)), "image_data_length"),
    "short step": (("rgb8", 4, 4, 11, bytes(44)), "image_step"),
    "no step": (("rgb8", 4, 4, 0, b""), "image_step"),
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
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_an_image_is_refused(case):
    arguments, reason = REFUSED[case]
    with pytest.raises(SampleError) as caught:
        decode(*arguments)
    assert caught.value.reason == reason
    assert len(str(caught.value)) < 500
    assert ("depth" in str(caught.value)) == (case in DEPTH)


@given(
    encoding=st.sampled_from(ENCODINGS) | st.text(max_size=12),
    sizes=st.tuples(*[st.integers(0, 9) | st.integers(0, 2**32 - 1)] * 3),
    data=st.binary(max_size=300),
    big_endian=st.booleans(),
)
@settings(max_examples=300, deadline=None)
def test_any_message_gives_an_image_or_a_refusal(encoding, sizes, data, big_endian):
    height, width, step = sizes
    try:
        out = decode(encoding, height, width, step, data, big_endian)
    except SampleError:
        return
    assert out.shape == (height, width, 3)
    assert out.dtype == np.uint8


def compress(array, name, **options):
    file = io.BytesIO()
    Image.fromarray(array).save(file, name, **options)
    return file.getvalue()


@pytest.fixture(scope="module")
def photograph():
    datasets = pytest.importorskip("sklearn.datasets")
    return datasets.load_sample_image("flower.jpg")[100:300, 200:500]


@pytest.mark.parametrize("description", ["jpeg", "", "rgb8; jpeg compressed bgr8", "bgr8; jpeg compressed bgr8"])
def test_jpeg(photograph, description):
    content = compress(photograph, "JPEG", quality=95)
    reference = np.asarray(Image.open(io.BytesIO(content)).convert("RGB")).astype(int)
    assert np.abs(decode_compressed(description, content) - reference).max() <= 2
    grey = compress(photograph[:, :, 0], "JPEG", quality=95)
    out = decode_compressed("mono8; jpeg compressed mono8", grey).astype(int)
    assert np.abs(out[:, :, 2] - np.asarray(Image.open(io.BytesIO(grey)))).max() <= 2


def test_png_of_all_kinds(photograph):
    alpha = np.dstack([photograph, photograph[:, :, 0]])
    grey = photograph[:, :, 1]
    wide = grey.astype(np.uint16) * 256 + 99
    for array, expected in (
        (photograph, photograph),
        (alpha, photograph),
        *((one, grey[..., None]) for one in (grey, wide)),
    ):
        assert (decode_compressed("png", compress(array, "PNG")) == expected).all()
    swapped = np.ascontiguousarray(photograph[:, :, ::-1])  # as OpenCV writes RGB that it takes for BGR
    assert (decode_compressed("rgb8; png compressed rgb8", compress(swapped, "PNG")) == photograph).all()


def test_compressed_mosaics(picture):
    for pattern in ("bayer_rggb8", "bayer_gbrg8"):
        mosaic = rows_of(pattern, picture)
        out = decode_compressed(f"{pattern}; png compressed {pattern}", compress(mosaic, "PNG"))
        assert (out == decode(pattern, HEIGHT, WIDTH, WIDTH, mosaic.tobytes())).all()


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def broken(photograph):
    """Name and bytes of what is not a complete image."""
    jpeg, png = compress(photograph, "JPEG"), compress(photograph, "PNG")
    noise = np.random.default_rng(0).bytes(3000)
    half = len(jpeg) // 2
    yield "empty", b""
    yield "text", b"this is not an image"
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
    yield "a small file of a huge image", b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IEND", b"")
    huge = bytearray(jpeg)
    at = jpeg.index(b"\xff\xc0") + 5
    huge[at : at + 4] = b"\xff\xff\xff\xff"
    yield "a small JPEG of a huge image", bytes(huge)
    place = png.index(b"IDAT") - 4
    yield "a PNG with a chunk of 1.9 GB", png[:place] + b"\x70\x49\x41\x54" + png[place + 4 :]


def test_damaged_files_are_refused(photograph):
    for name, content in broken(photograph):
        with pytest.raises(SampleError) as caught:
            decode_compressed("jpeg", content)
        assert caught.value.reason == ("image_empty" if name == "empty" else "image_compressed"), name
        assert len(str(caught.value)) < 500
    with pytest.raises(SampleError) as caught:
        decode_compressed("16UC1; compressedDepth png", compress(photograph[:, :, 0], "PNG"))
    assert caught.value.reason == "encoding_without_color"


def test_bytes_too_many_before_the_end_as_of_cheap_cameras_do_no_harm(photograph):
    content = compress(photograph, "JPEG")
    out = decode_compressed("jpeg", content[:-2] + bytes(12) + content[-2:])
    assert (out == decode_compressed("jpeg", content)).all()


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_any_change_of_a_file_gives_an_image_or_a_refusal(photograph, data):
    name = data.draw(st.sampled_from(["JPEG", "PNG"]))
    content = bytearray(compress(photograph[:40, :50], name))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    try:
        out = decode_compressed(name.lower(), bytes(content))
    except SampleError:
        return
    assert out.dtype == np.uint8
    assert out.ndim == 3
    assert out.shape[2] == 3
