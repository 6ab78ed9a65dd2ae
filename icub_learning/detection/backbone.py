"""Feature maps of an image, from inner layers of the bundled network."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper

from icub_learning.arrays import Array, integer
from icub_learning.errors import ModelError
from icub_learning.recognition.vision.cnn_features import MEAN, SCALE, check_image, resize
from icub_learning.recognition.vision.efficientnet_lite0 import NAME, default_network
from icub_learning.recognition.vision.onnx_network import open_session

# Outputs of the network's stages that are the feature maps, by their stride: pixels of its input along a cell's side.
LAYERS = {8: "_blocks.4.sum", 16: "_blocks.10.sum", 32: "_blocks.15._project_conv.out"}
STRIDE = 32  # [px] the sides of the network's input are multiples of it
LONGER_SIDE = 448  # [px] longer side of the network's input
MIN_SIDE = 32  # [px] smallest side that an image may have


@dataclass(frozen=True)
class FeatureMaps:
    """Feature maps of one image."""

    width: int  # width of the image [px]
    height: int  # height of the image [px]
    # arrays (rows, columns, channels), by their stride: pixels of the network's input along a cell's side
    maps: dict[int, NDArray[np.float32]]
    scale: Array  # (2,) pixels of the network's input per pixel of the image, along x and y


class Backbone:
    """Computes feature maps of RGB images of any size with EfficientNet-Lite0.

    The network's layers work on any input whose sides are multiples of 32 pixels: its padding, made for even
    sizes, stays right. Images are resized so that their longer side is 448 pixels and the other the nearest multiple of
    32. Features of different `source` cannot be compared. Raises ModelError: the weights are damaged; ParameterError.
    """

    def __init__(self, n_threads: int = 1) -> None:
        model = onnx.load_model_from_string(default_network())
        graph = model.graph
        for axis, name in ((2, "height"), (3, "width")):
            graph.input[0].type.tensor_type.shape.dim[axis].dim_param = name
        del graph.output[:]
        graph.output.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in LAYERS.values())
        last = max(index for index, node in enumerate(graph.node) if set(node.output) & set(LAYERS.values()))
        del graph.node[last + 1 :]
        self._session = open_session(model.SerializeToString(), integer("n_threads", n_threads, 1))
        self.source = f"{NAME}/{','.join(LAYERS.values())}@{LONGER_SIDE}"

    def maps(self, image: NDArray[np.uint8]) -> FeatureMaps:
        """Return the maps of an RGB image (height, width, 3) of uint8. Raises ShapeError, ParameterError."""
        pixels = check_image(image, MIN_SIDE)
        height, width = pixels.shape[:2]
        factor = LONGER_SIDE / max(height, width)
        rows, columns = (max(1, round(side * factor / STRIDE)) * STRIDE for side in (height, width))
        x = (resize(pixels, rows, columns).astype(np.float32) - MEAN) / SCALE
        found = self._session.run(list(LAYERS.values()), {"image": x.transpose(2, 0, 1)[None]})
        maps = dict(zip(LAYERS, [np.ascontiguousarray(values[0].transpose(1, 2, 0)) for values in found], strict=True))
        return FeatureMaps(width, height, maps, np.array([columns / width, rows / height]))


@cache
def fixed_arrays(path: Path, **shapes: tuple[int, ...]) -> tuple[NDArray[np.float32], ...]:
    """Return the learned arrays of these names and shapes from a file. Raises ModelError: it is missing or damaged."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = tuple(archive[name].astype(np.float32) for name in shapes)
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(f"cannot read the weights {path}: {error}", name=path.stem) from error
    found = [array.shape for array in arrays]
    if found != [*shapes.values()]:
        raise ModelError(f"{path} holds weights of other sizes", name=path.stem, value=found)
    return arrays
