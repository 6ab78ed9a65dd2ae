"""Features of an image: the activations of one layer of a convolutional network, or the features of a user's class."""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import finite, integer, real
from icub_learning.errors import ParameterError, ShapeError
from icub_learning.own_class import OwnClass, running_own
from icub_learning.recognition.feature_window import check_features
from icub_learning.recognition.vision.efficientnet_lite0 import NAME, default_network
from icub_learning.recognition.vision.onnx_network import OnnxNetwork
from icub_learning.recognition.vision.opencv import cv2

MEAN, SCALE, CROP = 127.0, 128.0, 1.0  # preprocessing of the bundled network, for pixel values 0 to 255
OWN_FEATURES = ("transform",)  # methods that a user's class must have
TRIED = (480, 640, 3)  # shape of the grey image on which a user's class is tried at the start: that of most cameras


class CNNFeatures:
    """Computes features of RGB images: vectors of length `n_features`.

    An image is cropped to its centre, in the network's aspect ratio, and resized: by averaging areas where it shrinks,
    which avoids aliasing, by cubic interpolation where it grows. Then pixels become (pixel - mean) / scale. Only
    vectors of equal `source` can be compared: the name of network and layer, with the preprocessing where it is not the
    default.

    Args:
        model: path of an ONNX file; None for EfficientNet-Lite0.
        output: name of the tensor to return, any one of the network. None: the only output of the network; for
            EfficientNet-Lite0 "features", the 1280 values after average pooling (its other output is "logits").
        n_threads: threads that compute one image.
        mean, scale: pixel value that becomes 0, and divisor; one number, or three in `channel_order`.
        crop: share of the shorter side that is kept, in (0, 1].
        channel_order: "rgb" or "bgr", as in the network's training.

    Raises ModelError: the network cannot be used (see OnnxNetwork), or the weights of the bundled one are damaged;
    ParameterError, ShapeError, NotFiniteError: another argument is outside its range.
    """

    def __init__(
        self, model: str | os.PathLike[str] | None = None, *, output: str | None = None, n_threads: int = 1,
        mean: float | Sequence[float] = MEAN, scale: float | Sequence[float] = SCALE, crop: float = CROP,
        channel_order: str = "rgb",
    ) -> None:  # fmt: skip
        self._crop = real("crop", crop, 0.0, 1.0, low_open=True)
        self._mean, self._scale = _per_channel("mean", mean), _per_channel("scale", scale)
        if (self._scale <= 0.0).any():
            raise ParameterError("scale", scale, "positive")
        if channel_order not in ("rgb", "bgr"):
            raise ParameterError("channel_order", channel_order, "rgb or bgr")
        self._reverse = channel_order == "bgr"
        threads = integer("n_threads", n_threads, 1)
        if model is None:
            self._network = OnnxNetwork(default_network(), output or "features", threads)
            name = NAME
        else:
            self._network = OnnxNetwork(model, output or None, threads)
            name = f"{Path(model).stem}-{self._network.digest[:8]}"
        self.n_features = self._network.n_outputs
        self.source = f"{name}/{self._network.output}{self._preprocessing()}"

    def transform(self, image: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Return the features (n_features,) of an RGB image (H, W, 3) of uint8. Raises ShapeError, ParameterError."""
        return self._network(self.preprocess(image))

    def preprocess(self, image: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Return the network's input: the image cropped, resized and scaled, (height, width, 3); see `transform`."""
        pixels, height, width = check_image(image), self._network.height, self._network.width
        resized = resize(centre_crop(pixels, height, width, self._crop), height, width)
        channels = resized[:, :, ::-1] if self._reverse else resized
        return (channels - self._mean) / self._scale

    def _preprocessing(self) -> str:
        """Return the part of `source` that describes the preprocessing; empty for the default."""
        parts = []
        for name, values, default in (("mean", self._mean, MEAN), ("scale", self._scale, SCALE)):
            if (values != np.float32(default)).any():
                parts.append(f";{name}=" + ",".join(f"{value:g}" for value in values))
        if self._crop != CROP:
            parts.append(f";crop={self._crop:g}")
        return "".join(parts) + (";bgr" if self._reverse else "")


class OwnFeatures(OwnClass):
    """Computes features with a class from outside this package, made without arguments; see OwnClass.of. `source` is
    the attribute of its object, or else its import path. Raises ParameterError, SampleError: it fails on a grey image.
    """

    SETTING, METHODS = "features", OWN_FEATURES

    def __init__(self) -> None:
        self._own = self.made()
        self.source = str(getattr(self._own, "source", self.path))
        with running_own(self.SETTING, self.path, f"able to transform an image {TRIED} of uint8"):
            self.n_features = len(self.transform(np.full(TRIED, 127, np.uint8)))

    def transform(self, image: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Return the features (d,) of an RGB image (height, width, 3). Raises SampleError."""
        return check_features(self._own.transform(image)).astype(np.float32)


def check_image(image: NDArray[np.uint8], least: int = 1) -> NDArray[np.uint8]:
    """Return a uint8 RGB image (height, width, 3) with no side below `least`. Raises ShapeError, ParameterError."""
    pixels = np.asarray(image)
    if pixels.ndim != 3 or pixels.shape[2] != 3 or min(pixels.shape[:2]) < least:
        raise ShapeError("image", pixels.shape, f"(height, width, 3), each side at least {least} px")
    if pixels.dtype != np.uint8:
        raise ParameterError("image", str(pixels.dtype), "an array of uint8")
    return pixels


def centre_crop(image: NDArray[np.uint8], height: int, width: int, share: float) -> NDArray[np.uint8]:
    """Return the largest central part of an image with aspect ratio height : width, times `share`; a view."""
    rows, columns = image.shape[:2]
    unit = min(rows / height, columns / width) * share
    kept_rows, kept_columns = max(round(unit * height), 1), max(round(unit * width), 1)
    top, left = (rows - kept_rows) // 2, (columns - kept_columns) // 2
    return image[top : top + kept_rows, left : left + kept_columns]


def resize(image: NDArray[np.uint8], height: int, width: int) -> NDArray[np.uint8]:
    """Return the image at another size: by averaging areas where it shrinks, by cubic interpolation where it grows."""
    if image.shape[:2] == (height, width):
        return image
    shrinks = image.shape[0] >= height and image.shape[1] >= width
    method = cv2.INTER_AREA if shrinks else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(np.ascontiguousarray(image), (width, height), interpolation=method), dtype=np.uint8)


def _per_channel(name: str, value: float | Sequence[float]) -> NDArray[np.float32]:
    values = finite(name, value)
    if values.shape not in ((), (1,), (3,)):
        raise ShapeError(name, values.shape, "one number or three")
    return np.broadcast_to(values, (3,)).astype(np.float32)
