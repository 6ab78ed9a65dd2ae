"""Images that a person shows the robot: a folder of pictures, or a camera of this computer."""

from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from icub_learning.errors import ParameterError
from icub_learning.recognition.vision.opencv import cv2

Image = NDArray[np.uint8]  # (H, W, 3), RGB
SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".webp", ".tif", ".tiff", ".ppm")


class ImageSource(Protocol):
    """Where images come from, at most one for each `period` seconds."""

    period: float

    def read(self) -> Image:
        """The next image."""
        ...

    def close(self) -> None:
        """Give back what is held."""
        ...


class Folder:
    """The pictures of a folder, by name, over and over.

    Args:
        path: of the folder.
        rate: images a second [Hz].

    Attributes:
        names: of the pictures.

    Raises:
        ParameterError: there is no such folder, or no picture in it.
    """

    def __init__(self, path: Path, rate: float) -> None:
        self.period = 1.0 / rate
        if not path.is_dir():
            raise ParameterError("--source", str(path), "a folder of images, a camera (/dev/video0), or left out")
        self._files = sorted(file for file in path.iterdir() if file.suffix.lower() in SUFFIXES)
        if not self._files:
            raise ParameterError("--source", str(path), "a folder with images in it: " + ", ".join(SUFFIXES))
        self.names = [file.name for file in self._files]
        self._next = 0

    def read(self) -> Image:
        """The next picture. Raises ParameterError if it is none."""
        file = self._files[self._next]
        self._next = (self._next + 1) % len(self._files)
        picture = cv2.imread(str(file), cv2.IMREAD_COLOR)
        if picture is None:
            raise ParameterError("--source", str(file), "an image that can be read")
        return rgb(picture)

    def close(self) -> None:
        """Nothing is held."""


class Camera:
    """A camera of this computer, through Video for Linux.

    Args:
        path: /dev/videoN.
        rate: most images a second [Hz].

    Raises:
        ParameterError: it cannot be opened, or gives no image.
    """

    def __init__(self, path: Path, rate: float) -> None:
        self.period = 1.0 / rate
        self._path = path
        self._capture = cv2.VideoCapture(str(path), cv2.CAP_V4L2)
        if not self._capture.isOpened():
            raise ParameterError("--source", str(path), "a camera that this user may open and no one else uses")
        self._capture.set(cv2.CAP_PROP_BUFFERSIZE, 1)  # the newest image, not one that waited

    def read(self) -> Image:
        """The newest image; waits for it. Raises ParameterError if none comes."""
        good, picture = self._capture.read()
        if not good:
            raise ParameterError("--source", str(self._path), "a camera that gives images")
        return rgb(picture)

    def close(self) -> None:
        """Give the camera back."""
        self._capture.release()


def open_source(text: str, rate: float) -> ImageSource:
    """A camera for a device such as /dev/video0, else the pictures of a folder. Raises ParameterError."""
    path = Path(text).expanduser()
    return Camera(path, rate) if path.is_char_device() or text.startswith("/dev/video") else Folder(path, rate)


def rgb(picture: Any) -> Image:
    """An image of OpenCV, (H, W, 3) in the order BGR, in the order RGB."""
    return np.ascontiguousarray(picture[:, :, ::-1], dtype=np.uint8)
