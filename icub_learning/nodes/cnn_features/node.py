"""The node that turns images into features of a convolutional network, always of the newest image."""

import time
from functools import partial
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from sensor_msgs.msg import CompressedImage, Image

from icub_learning.errors import SampleError
from icub_learning.nodes.cnn_features.newest_worker import NewestWorker
from icub_learning.nodes.cnn_features.parameters import PARAMETERS
from icub_learning.nodes.cnn_features.report import ImageReport
from icub_learning.nodes.common import parameters
from icub_learning.nodes.common.conversions import floats, stamp_to_ns
from icub_learning.nodes.common.image_messages import rgb_of
from icub_learning.nodes.common.image_subscription import ImageSubscription
from icub_learning.nodes.common.qos import STREAM
from icub_learning.nodes.common.repeated_stamps import RepeatedStamps
from icub_learning.nodes.common.spinning import ManagedNode, run, transition
from icub_learning.recognition import CNNFeatures
from icub_learning.recognition.vision.opencv import cv2
from icub_learning.recognition.vision.own_features import OwnFeatures
from icub_learning_msgs.msg import FeatureVector

ADAPT_PERIOD = 0.2  # [s] between looks at the reliability that publishers of images offer


class CNNFeaturesNode(ManagedNode):
    """Subscribes to images, raw and compressed, publishes features; see docs/ros_interface.md.

    The executor only receives images. A thread decodes them and computes; of the images that arrive meanwhile, only the
    newest waits.
    """

    def __init__(self) -> None:
        super().__init__("cnn_features", PARAMETERS)

    @transition
    def on_configure(self) -> None:
        """Load the network, and make topics and timers."""
        settings = parameters.values(self, PARAMETERS)
        cv2.setNumThreads(settings["n_threads"])
        self._features = _features_of(settings)
        self._report = ImageReport(self, self._features.source)
        self._stamps = RepeatedStamps()
        self._message = FeatureVector(source=self._features.source)
        self._publisher = self.create_lifecycle_publisher(FeatureVector, "features", STREAM)
        self._diagnostics_publisher = self.create_publisher(DiagnosticArray, "/diagnostics", STREAM)
        self._images = [
            ImageSubscription(self, Image, "image", self._on_image, settings["reliability"]),
            ImageSubscription(self, CompressedImage, "image/compressed", self._on_image, settings["reliability"]),
        ]
        self._dropped_before = 0
        self.create_timer(settings["report_period"], self._publish_report, clock=self._steady)
        self.create_timer(ADAPT_PERIOD, self._adapt, clock=self._steady)
        self._configured = True
        self.get_logger().info(f"{self._features.n_features} features from {self._features.source}")

    @transition
    def on_activate(self) -> None:
        """Start computing features."""
        super().on_activate(None)
        self._worker: NewestWorker[tuple[Image | CompressedImage, float]] = NewestWorker(self._compute)
        self._active = True

    @transition
    def on_deactivate(self) -> None:
        """Stop computing; the current image is finished."""
        self._stop()
        super().on_deactivate(None)

    def _stop(self) -> None:
        if self._active:
            self._active = False
            self._worker.stop()
            self._dropped_before += self._worker.dropped

    def _release(self) -> None:
        self._stop()

    def _adapt(self) -> None:
        for images in self._images:
            images.adapt()

    def _on_image(self, message: Image | CompressedImage) -> None:
        if not self._active:
            return
        self._report.received += 1
        # A camera may publish each image raw and compressed.
        if self._stamps.repeated(type(message).__name__, stamp_to_ns(message.header.stamp)):
            self._report.repeated += 1
        else:
            self._worker.put((message, time.perf_counter()))

    def _compute(self, item: tuple[Image | CompressedImage, float]) -> None:
        """Decode an image, compute its features and publish them; runs in the worker's thread."""
        message, arrival = item
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

    def _publish_report(self) -> None:
        dropped = self._dropped_before + (self._worker.dropped if self._active else 0)
        self._diagnostics_publisher.publish(self._report.diagnostics(self._active, dropped))


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
