"""Reading of images from a folder or a camera of this computer, and writing of them to files."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from icub_learning.errors import ParameterError, SampleError
from icub_learning.recognition.vision.images import Pixels, decode_compressed
from icub_learning.recognition.vision.opencv import cv2
from icub_learning.reporting.tables import replacing_for

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".webp", ".tif", ".tiff", ".ppm")


@dataclass(frozen=True)
class Source:
    """A source of images: `read` returns the next one, or raises ParameterError if there is none."""

    read: Callable[[], Pixels]
    period: float  # time between two images [s]
    files: Sequence[Path] = ()  # all images of a folder; () for a camera


@contextmanager
def open_source(text: str | None, rate: float) -> Iterator[Source | None]:
    """Yield a camera for a device such as /dev/video0, else the images of a folder again and again, `rate` of them a
    second; None for no text. Raises ParameterError: there is no such camera or folder, or no image in it."""
    if not text:
        yield None
        return
    path = Path(os.path.expanduser(text))
    if path.is_char_device() or text.startswith("/dev/video"):
        capture = cv2.VideoCapture(str(path), cv2.CAP_V4L2)
        if not capture.isOpened():
            raise ParameterError("--source", str(path), "a camera that this user may open and no other program uses")
        capture.set(cv2.CAP_PROP_BUFFERSIZE, 1)  # so that the newest image is read, not one that waited in a buffer
        try:
            yield Source(lambda: _rgb(capture.read()[1], "--source", path, "a camera that gives images"), 1.0 / rate)
        finally:
            capture.release()
        return
    if not path.is_dir():
        raise ParameterError("--source", str(path), "a folder of images, a camera (/dev/video0), or left out")
    if not (files := image_files(path)):
        raise ParameterError("--source", str(path), "a folder with images in it: " + ", ".join(SUFFIXES))
    following = cycle(files)
    yield Source(lambda: read_image(next(following)), 1.0 / rate, files)


def image_files(folder: Path) -> list[Path]:
    """Return the images of a folder, sorted by name, but no hidden ones; none where it is no folder."""
    files = folder.glob("[!.]*") if folder.is_dir() else ()
    return sorted(file for file in files if file.suffix.lower() in SUFFIXES and file.is_file())


def read_image(file: Path) -> Pixels:
    """Return the image in a file, turned as its EXIF data say. Raises ParameterError: it holds none, or was cut off."""
    try:
        content = file.read_bytes()
        decode_compressed(file.suffix[1:], content)  # OpenCV fills the rest of a file that was cut off with grey
        picture = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_COLOR)
    except (OSError, SampleError, cv2.error) as error:
        raise ParameterError("file", str(file), f"an image that can be read ({error})") from None
    return _rgb(picture, "file", file, "an image that can be read")


def _rgb(picture: Any, name: str, path: Path, bound: str) -> Pixels:
    """Return an image of OpenCV (H, W, 3), whose channels are BGR, as RGB. Raises ParameterError: it is None."""
    if picture is None:
        raise ParameterError(name, str(path), bound)
    return np.ascontiguousarray(picture[:, :, ::-1], dtype=np.uint8)


def write_image(path: Path, image: Pixels) -> None:
    """Write an RGB image (H, W, 3); the file appears complete or not at all. Raises ParameterError if that fails."""
    good, content = cv2.imencode(path.suffix, image[:, :, ::-1])
    if not good:
        raise ParameterError("--output", str(path), "a file that can be written (OpenCV cannot encode it)")
    with replacing_for("--output", path, "wb") as file:
        file.write(content.tobytes())
