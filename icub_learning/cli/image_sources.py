"""Images from a folder of files or a camera of this computer, and to a file."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icub_learning.errors import ParameterError
from icub_learning.recognition.vision.opencv import cv2
from icub_learning.reporting.tables import replacing_for

Image = NDArray[np.uint8]  # (H, W, 3), RGB
SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".webp", ".tif", ".tiff", ".ppm")


class Folder:
    """The images of a folder, sorted by name (`names`), again and again, `rate` of them a second (`period` [s]).

    Raises ParameterError: there is no such folder, or no image in it.
    """

    def __init__(self, path: Path, rate: float) -> None:
        self.period = 1.0 / rate
        if not path.is_dir():
            raise ParameterError("--source", str(path), "a folder of images, a camera (/dev/video0), or left out")
        files = sorted(file for file in path.iterdir() if file.suffix.lower() in SUFFIXES)
        if not files:
            raise ParameterError("--source", str(path), "a folder with images in it: " + ", ".join(SUFFIXES))
        self.names = [file.name for file in files]
        self._files = cycle(files)

    def read(self) -> Image:
        """Return the next image. Raises ParameterError if the file is none."""
        file = next(self._files)
        picture = cv2.imread(str(file), cv2.IMREAD_COLOR)
        if picture is None:
            raise ParameterError("--source", str(file), "an image that can be read")
        return rgb(picture)


class Camera:
    """The camera /dev/videoN, through Video for Linux, at most `rate` images a second. Raises ParameterError."""

    def __init__(self, path: Path, rate: float) -> None:
        self.period = 1.0 / rate
        self._path = path
        self._capture = cv2.VideoCapture(str(path), cv2.CAP_V4L2)
        if not self._capture.isOpened():
            raise ParameterError("--source", str(path), "a camera that this user may open and no other program uses")
        self._capture.set(cv2.CAP_PROP_BUFFERSIZE, 1)  # the newest image, not one that waited

    def read(self) -> Image:
        """Wait for the newest image and return it. Raises ParameterError if none comes."""
        good, picture = self._capture.read()
        if not good:
            raise ParameterError("--source", str(self._path), "a camera that gives images")
        return rgb(picture)

    def close(self) -> None:
        """Release the camera."""
        self._capture.release()


@contextmanager
def open_source(text: str | None, rate: float) -> Iterator[Folder | Camera | None]:
    """Yield a camera for a device such as /dev/video0, else the images of a folder; None for no text."""
    path = Path(text or "").expanduser()
    if text and (path.is_char_device() or text.startswith("/dev/video")):
        with closing(Camera(path, rate)) as camera:
            yield camera
    else:
        yield Folder(path, rate) if text else None


def write_image(path: Path, image: Image) -> None:
    """Write RGB (H, W, 3) as a picture; it appears complete or not at all. Raises ParameterError if that fails."""
    good, content = cv2.imencode(path.suffix, image[:, :, ::-1])
    if not good:
        raise ParameterError("--output", str(path), "a file that can be written (OpenCV cannot encode it)")
    with replacing_for("--output", path, "wb") as file:
        file.write(content.tobytes())


def rgb(picture: Any) -> Image:
    """Return an image of OpenCV (H, W, 3), whose channels are BGR, as RGB."""
    return np.ascontiguousarray(picture[:, :, ::-1], dtype=np.uint8)
