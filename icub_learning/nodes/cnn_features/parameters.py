"""The parameters of the CNN features node, each with its meaning, unit and range."""

from icub_learning.nodes.common.parameters import ParameterSpec
from icub_learning.nodes.common.spinning import AUTOSTART
from icub_learning.recognition.vision.cnn_features import CROP, MEAN, SCALE


def _one_or_three(values: list[float]) -> str | None:
    return None if len(values) in (1, 3) else "one number, or three in the order of channel_order"


PARAMETERS = (
    AUTOSTART,
    ParameterSpec("model", "", "path of an ONNX network; empty: EfficientNet-Lite0", read_only=True),
    ParameterSpec(
        "output",
        "",
        "layer of the network, any of its tensors; empty: its only output, of EfficientNet-Lite0 `features`",
        read_only=True,
    ),
    ParameterSpec("n_threads", 1, "threads that work on one image", low=1, high=64, read_only=True),
    ParameterSpec(
        "mean",
        [MEAN],
        "pixel value that becomes 0; one, or three in channel_order",
        low=0.0,
        high=255.0,
        read_only=True,
        check=_one_or_three,
    ),
    ParameterSpec(
        "scale",
        [SCALE],
        "pixel values per unit; one, or three in channel_order",
        low=1e-3,
        high=1e3,
        read_only=True,
        check=_one_or_three,
    ),
    ParameterSpec("crop", CROP, "share of the shorter side of the image that is seen", low=0.01, high=1.0,
                  read_only=True),
    ParameterSpec("channel_order", "rgb", "as the network was trained with", choices=("rgb", "bgr"), read_only=True),
    ParameterSpec(
        "reliability",
        "auto",
        "of the subscriptions; auto: best_effort, and reliable as soon as every publisher is, or large images get lost",
        choices=("auto", "best_effort", "reliable"),
        read_only=True,
    ),
    ParameterSpec("report_period", 1.0, "s between /diagnostics", low=0.05, high=60.0, read_only=True),
)  # fmt: skip
