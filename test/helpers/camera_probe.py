"""The other side of the CNN features node in tests: a camera that keeps all features that come back."""

import array
from typing import Any

import numpy as np
from helpers.ros_probe import RosProbe
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import CompressedImage, Image

from icub_learning.nodes.common.conversions import set_stamp
from icub_learning_msgs.msg import FeatureVector


class CameraProbe(RosProbe):
    """Use as a context manager, inside the test's own ROS domain."""

    def __init__(self, reliability: ReliabilityPolicy = ReliabilityPolicy.RELIABLE, topic: str = "image") -> None:
        super().__init__("/cnn_features", ": images")
        self._reliability, self._topic = reliability, topic

    def open(self) -> None:
        """Subscribe to features, and offer images."""
        self.features: list[FeatureVector] = self.hear(FeatureVector, "features")
        profile = QoSProfile(depth=10, reliability=self._reliability)
        self._raw = self.node.create_publisher(Image, self._topic, profile)
        self._compressed = self.node.create_publisher(CompressedImage, f"{self._topic}/compressed", profile)

    def connect(self) -> None:
        """Wait until both sides have found each other, and the node subscribes as all publishers offer."""
        for topic in (self._topic, f"{self._topic}/compressed"):
            self.until(lambda topic=topic: self._subscribed(topic), f"the subscription of {topic}")
        self.matched(self._raw, self._compressed, topics=("features",))

    def _subscribed(self, topic: str) -> bool:
        offers = {offer.qos_profile.reliability for offer in self.node.get_publishers_info_by_topic(topic)}
        wanted = ReliabilityPolicy.RELIABLE if offers == {ReliabilityPolicy.RELIABLE} else ReliabilityPolicy.BEST_EFFORT
        return {info.qos_profile.reliability for info in self.node.get_subscriptions_info_by_topic(topic)} == {wanted}

    def show(self, pixels: Any, stamp: int, encoding: str = "rgb8", **fields: Any) -> None:
        """Publish pixels (H, W, ...) as an Image, with some of its fields replaced by `fields`."""
        pixels = np.ascontiguousarray(pixels)
        height, width = pixels.shape[:2]
        message = Image(height=height, width=width, encoding=encoding, step=pixels.nbytes // max(height, 1))
        message.data = array.array("B", pixels.tobytes())
        for name, value in fields.items():
            setattr(message, name, value)
        self._send(self._raw, message, stamp)

    def show_compressed(self, content: bytes, stamp: int, description: str = "jpeg") -> None:
        """Publish a CompressedImage."""
        self._send(self._compressed, CompressedImage(format=description, data=array.array("B", content)), stamp)

    def _send(self, publisher: Any, message: Any, stamp: int) -> None:
        set_stamp(message.header.stamp, stamp)
        message.header.frame_id = f"eye_{stamp}"
        publisher.publish(message)

    def features_of(self, stamp: int) -> np.ndarray:
        """Return the features of the image with this stamp, as soon as they have come."""
        frame = f"eye_{stamp}"
        found = self.until(lambda: [one for one in self.features if one.header.frame_id == frame], f"features {frame}")
        return np.array(found[0].values, np.float32)
