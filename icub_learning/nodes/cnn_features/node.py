"""The node that turns images into features of a convolutional network, always of the newest image."""

import time
from functools import partial
from typing import Any

from sensor_msgs.msg import CompressedImage, Image

from icub_learning.errors import SampleError
from icub_learning.nodes.cnn_features.parameters import PARAMETERS
from icub_learning.nodes.cnn_features.report import FeaturesReport
from icub_learning.nodes.common import parameters
from icub_learning.nodes.common.conversions import floats
from icub_learning.nodes.common.diagnostics import publish_every
from icub_learning.nodes.common.image_messages import rgb_of
from icub_learning.nodes.common.newest_images import NewestImages
from icub_learning.nodes.common.qos import STREAM
from icub_learning.nodes.common.spinning import ManagedNode, run, transition
from icub_learning.recognition import CNNFeatures
from icub_learning.recognition.vision.cnn_features import OwnFeatures
from icub_learning.recognition.vision.opencv import cv2
from icub_learning_msgs.msg import FeatureVector


class CNNFeaturesNode(ManagedNode):
    """Subscribes to images, raw and compressed, publishes features; see docs/ros_interface.md.

    The executor only receives images. A thread decodes them and computes; of those that come meanwhile, the newest
    waits.
    """

    def __init__(self) -> None:
        super().__init__("cnn_features", PARAMETERS)

    @transition
    def on_configure(self) -> None:
        """Load the network, and make topics and timers."""
        settings = parameters.values(self, PARAMETERS)
        cv2.setNumThreads(settings["n_threads"])
        self._features = _features_of(settings)
        self._report = FeaturesReport(self, self._features.source)
        self._message = FeatureVector(source=self._features.source)
        self._publisher = self.create_lifecycle_publisher(FeatureVector, "features", STREAM)
        self._images = NewestImages(self, settings["reliability"], self._compute)
        publish_every(self, settings["report_period"], lambda: [self._report.status(self._active, self._images)])
        self._configured = True
        self.get_logger().info(f"{self._features.n_features} features from {self._features.source}")

    def _start(self) -> None:
        self._images.start()

    def _stop(self, _reason: str) -> None:
        self._images.stop()  # after the current image

    def _compute(self, message: Image | CompressedImage, arrival: float) -> None:
        """Decode an image, compute its features and publish them; runs in the worker's thread."""
        report = self._report
        try:
            start = time.perf_counter()
            image = rgb_of(message)
            decoded = time.perf_counter()
            values = self._features.transform(image)
            report.decoding.add(decoded - start)
            report.network.add(time.perf_counter() - decoded)
            self._message.header, self._message.values = message.header, floats(values)
            self._publisher.publish(self._message)
            report.latency.add(time.perf_counter() - arrival)
            report.computed += 1
        except SampleError as error:
            report.refused(error)
        except Exception as error:  # in a thread of its own, which must not end
            self.gate.failed("image", error)


def _features_of(settings: dict[str, Any]) -> CNNFeatures | OwnFeatures:
    """Return what computes features. Raises ModelError, ParameterError."""
    if settings["features"] != "cnn":
        return OwnFeatures.of(settings["features"])()
    return CNNFeatures(
        settings["model"] or None,
        output=settings["output"] or None,
        **{name: settings[name] for name in ("n_threads", "mean", "scale", "crop", "channel_order")},
    )


main = partial(run, CNNFeaturesNode)

if __name__ == "__main__":
    raise SystemExit(main())
