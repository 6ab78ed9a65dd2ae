"""An ONNX network from an image to one of its tensors; the part that this tensor does not need is removed."""

import hashlib
import os
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx.external_data_helper import uses_external_data

from icub_learning.errors import ModelError

SYMBOLIC_SIZE = 224  # [px] height and width of the input where a network leaves them open
NUMBER_TYPES = {"tensor(float)": np.float32, "tensor(float16)": np.float16}


class OnnxNetwork:
    """Computes one tensor (n_outputs,) of an ONNX network that takes one image of height x width [px], given by the
    path of an .onnx file or its bytes, and the tensor's name, or None for the only output; `digest` is the SHA-256 of
    file and weights. Raises ModelError: there is no such file, network or output, or it takes something else."""

    def __init__(self, model: str | os.PathLike[str] | bytes, output: str | None = None, n_threads: int = 1) -> None:
        self._name = "the network" if isinstance(model, bytes) else str(Path(model).expanduser())
        try:
            content = model if isinstance(model, bytes) else Path(self._name).read_bytes()
        except OSError as error:
            raise ModelError(f"cannot read {self._name}: {error.strerror}", name="model", value=self._name) from error
        digest = hashlib.sha256(content)
        folder = None if isinstance(model, bytes) else Path(self._name).parent
        try:
            self.output, part = _extract_subgraph(content, output, folder, digest)
            self.digest = digest.hexdigest()
            self._session = open_session(part, n_threads)
        except ModelError:
            raise
        except Exception as error:  # onnx and onnxruntime raise many kinds
            raise self._error(f"is not an ONNX network that can run: {error}") from error
        self._read_input()
        self._check_output()

    def __call__(self, image: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the output as a vector (n_outputs,) for a preprocessed image (height, width, 3)."""
        x = image if self._channels_last else image.transpose(2, 0, 1)
        x = np.ascontiguousarray(x[np.newaxis], dtype=self._dtype)
        (y,) = self._session.run([self.output], {self._input: x})
        return np.asarray(y, dtype=np.float32).reshape(-1)

    def _read_input(self) -> None:
        inputs = self._session.get_inputs()
        found = ", ".join(f"{entry.name} {entry.type} {entry.shape}" for entry in inputs)
        wrong = self._error(f"takes {found}, not one image (1, 3, height, width) or (1, height, width, 3) of floats")
        if len(inputs) != 1 or len(inputs[0].shape) != 4 or inputs[0].type not in NUMBER_TYPES:
            raise wrong
        self._input, self._dtype = inputs[0].name, NUMBER_TYPES[inputs[0].type]
        batch, *shape = inputs[0].shape
        self._channels_last = shape[0] != 3
        if 3 not in (shape[0], shape[2]) or (isinstance(batch, int) and batch != 1):
            raise wrong
        sizes = shape[:2] if self._channels_last else shape[1:]
        self.height, self.width = (size if isinstance(size, int) else SYMBOLIC_SIZE for size in sizes)

    def _check_output(self) -> None:
        """Run the network on a grey image, to check its output and to warm it up before the first real image."""
        try:
            values = self(np.zeros((self.height, self.width, 3), np.float32))
        except Exception as error:  # onnxruntime raises many kinds
            raise self._error(f"cannot be run on an image of {self.height} x {self.width}: {error}") from error
        if not values.size:
            raise self._error(f"has an empty output {self.output}")
        self.n_outputs = values.size

    def _error(self, what: str) -> ModelError:
        return ModelError(f"{self._name} {what}", name="model", value=self._name)


def open_session(network: bytes, n_threads: int) -> onnxruntime.InferenceSession:
    """Return a session that runs a serialized network, each call on `n_threads` threads."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = n_threads, 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # idle threads must not use a core
    options.log_severity_level = 4  # errors are raised, not printed as well
    return onnxruntime.InferenceSession(network, options, providers=["CPUExecutionProvider"])


def _extract_subgraph(content: bytes, output: str | None, folder: Path | None, digest: Any) -> tuple[str, bytes]:
    """Return the name of the output and the serialized part of the network that it depends on. Weights that are stored
    in other files than the network are added to `digest`."""
    model = onnx.load_model_from_string(content)
    if folder is not None:
        apart = [entry for entry in model.graph.initializer if uses_external_data(entry)]
        onnx.load_external_data_for_model(model, str(folder))
        for entry in apart:
            digest.update(entry.raw_data)
    graph = model.graph
    outputs = [entry.name for entry in graph.output]
    if output is None:
        if len(outputs) != 1:
            raise ModelError(f"name one of the outputs {', '.join(outputs)}", name="output", value=outputs)
        output = outputs[0]
    needed, kept = {output}, []
    for node in reversed(graph.node):  # sorted: a node comes after those that compute its inputs
        if needed.intersection(node.output):
            kept.append(node)
            needed.update(node.input)
            needed.update(_outer_names(node))
            needed.discard("")  # an optional input that is left out
    if not kept:
        shown = ", ".join([*outputs, *[name for node in graph.node for name in node.output][-8:]])
        raise ModelError(f"the network has no output {output!r}; among its tensors are {shown}", name="output",
                         value=output)  # fmt: skip
    weights = {entry.name: entry for entry in graph.initializer if entry.name in needed}
    inputs = [entry for entry in graph.input if entry.name in needed and entry.name not in weights]
    known, part = [entry for entry in graph.output if entry.name == output], onnx.ModelProto()
    part.CopyFrom(model)
    for field, entries in (
        (part.graph.node, reversed(kept)), (part.graph.initializer, weights.values()), (part.graph.input, inputs),
        (part.graph.output, known or [onnx.ValueInfoProto(name=output)]),
    ):  # fmt: skip
        del field[:]
        field.extend(entries)
    return output, part.SerializeToString()


def _outer_names(node: onnx.NodeProto) -> set[str]:
    """Return the names that the bodies of a control-flow node use from the graph around it."""
    return {
        name
        for attribute in node.attribute
        for body in ([attribute.g] if attribute.HasField("g") else list(attribute.graphs))
        for inner in body.node for name in {*inner.input, *_outer_names(inner)}
    }  # fmt: skip
