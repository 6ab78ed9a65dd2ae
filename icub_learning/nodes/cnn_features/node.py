"""The node that turns images into features of a convolutional network, always of the newest image."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from sensor_msgs.msg import CompressedImage, Image

from icub_learning.nodes.common.conversions import floats
from icub_learning.nodes.common.diagnostics import StreamReport, publish_every
from icub_learning.nodes.common.image_messages import rgb_of
from icub_learning.nodes.common.image_subscription import ImageSettings, NewestImages
from icub_learning.nodes.common.qos import STREAM
from icub_learning.nodes.common.spinning import LifecycleSettings, ManagedNode, run
from icub_learning.nodes.common.timing import DurationWindow
from icub_learning.recognition import CNNFeatures
from icub_learning.recognition.vision.cnn_features import CROP, MEAN, OWN_FEATURES, SCALE, OwnFeatures
from icub_learning.recognition.vision.opencv import cv2
from icub_learning.settings import setting, settings_of
from icub_learning_msgs.msg import FeatureVector


def _one_or_three(values: Sequence[float]) -> str | None:
    return None if len(values) in (1, 3) else "one number, or three in the order of channel_order"


@dataclass(frozen=True)
class NodeSettings:
    """Settings of the network and of what the node does with images."""

    features: str = setting(
        "cnn",
        "what computes features: cnn: the network of `model`; or a class of your own, for which only reliability and"
        " report_period count; the default classifier goes by the direction of features alone",
        choices=("cnn",), methods=OWN_FEATURES,
    )  # fmt: skip
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


class CNNFeaturesNode(ManagedNode):
    """Subscribes to images, raw and compressed, and publishes features; see docs/ros_interface.md."""

    def _configure(self, settings: dict[str, Any]) -> None:
        cv2.setNumThreads(settings["n_threads"])
        self._features: CNNFeatures | OwnFeatures
        if settings["features"] == "cnn":
            given = {name: settings[name] for name in ("n_threads", "mean", "scale", "crop", "channel_order")}
            self._features = CNNFeatures(settings["model"] or None, output=settings["output"] or None, **given)
        else:
            self._features = OwnFeatures.of(settings["features"])()
        self._report, self._computed = StreamReport(self, "images", "no images arrive"), 0
        self._latency = DurationWindow(500)  # time from an image's callback to the publication of its features
        self._decoding, self._network = DurationWindow(500), DurationWindow(500)
        self._message = FeatureVector(source=self._features.source)
        self._publisher = self.create_lifecycle_publisher(FeatureVector, "features", STREAM)
        self._images = NewestImages(self, settings["reliability"], self._compute)
        publish_every(self, settings["report_period"], self._statuses)
        self.get_logger().info(f"{self._features.n_features} features from {self._features.source}")

    def _start(self) -> None:
        self._images.start()

    def _stop(self, _reason: str) -> None:
        self._images.stop()

    def _compute(self, message: Image | CompressedImage, arrival: float) -> None:
        """Decode an image, compute its features and publish them; runs in a thread of its own."""
        start, image = time.perf_counter(), rgb_of(message)
        decoded, values = time.perf_counter(), self._features.transform(image)
        self._decoding.add(decoded - start)
        self._network.add(time.perf_counter() - decoded)
        self._message.header, self._message.values = message.header, floats(values)
        self._publisher.publish(self._message)
        self._latency.add(time.perf_counter() - arrival)
        self._computed += 1

    def _statuses(self) -> list[DiagnosticStatus]:
        computed = self._computed
        rate = self._report.rate(computed)
        values = {
            "source": self._features.source, "rate [Hz]": f"{rate:.1f}",
            "images received": self._images.received, "features published": computed,
            "dropped for a newer image": self._images.dropped, "came both raw and compressed": self._images.repeated,
            "latency, arrival to publication": self._latency.summary(),
            "decoding": self._decoding.summary(), "resizing and network": self._network.summary(),
        }  # fmt: skip
        return [self._report.report(rate, (DiagnosticStatus.OK, f"features at {rate:.1f} Hz"), values)]


main = partial(run, partial(CNNFeaturesNode, "cnn_features", PARAMETERS))

if __name__ == "__main__":
    raise SystemExit(main())
