"""The parameters of the CNN features node."""

from collections.abc import Sequence
from dataclasses import dataclass

from icub_learning.nodes.common.image_subscription import ImageSettings
from icub_learning.nodes.common.spinning import LifecycleSettings
from icub_learning.recognition.vision.cnn_features import CROP, MEAN, OWN_FEATURES, SCALE
from icub_learning.settings import setting, settings_of


def _one_or_three(values: Sequence[float]) -> str | None:
    return None if len(values) in (1, 3) else "one number, or three in the order of channel_order"


@dataclass(frozen=True)
class NodeSettings:
    """Settings of the network and of what the node does with images."""

    features: str = setting(
        "cnn",
        "what computes features: cnn: the network of `model`; or a class of your own, for which only reliability and"
        " report_period count",
        choices=("cnn",),
        methods=OWN_FEATURES,
    )
    model: str = setting("", "path of an ONNX network; empty: EfficientNet-Lite0")
    output: str = setting(
        "", "layer of the network, any of its tensors; empty: its only output, for EfficientNet-Lite0 `features`"
    )
    n_threads: int = setting(1, "number of threads that work on one image", low=1, high=64)
    mean: Sequence[float] = setting(
        (MEAN,), "pixel value that becomes 0; one, or three in channel_order", low=0.0, high=255.0, check=_one_or_three
    )
    scale: Sequence[float] = setting(
        (SCALE,), "pixel values per unit; one, or three in channel_order", low=1e-3, high=1e3, check=_one_or_three
    )
    crop: float = setting(CROP, "fraction of the shorter side of the image that the network sees", low=0.01, high=1.0)
    channel_order: str = setting(
        "rgb", "order of the colour channels that the network was trained with", choices=("rgb", "bgr")
    )


PARAMETERS = settings_of(LifecycleSettings, NodeSettings, ImageSettings)
