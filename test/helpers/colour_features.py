"""A stand-in for the feature node in tests: the colours of 4 x 4 areas of an image, as features of a network."""

import contextlib

import cv2
import rclpy
from rclpy.executors import ExternalShutdownException
from sensor_msgs.msg import Image

from icub_learning.nodes.common.image_messages import rgb_of
from icub_learning_msgs.msg import FeatureVector

SOURCE = "colour"


def colours(rgb):
    return cv2.resize(rgb, (4, 4), interpolation=cv2.INTER_AREA).ravel() / 255.0


def main():
    rclpy.init()
    node = rclpy.create_node("colour_features")
    publisher = node.create_publisher(FeatureVector, "features", 10)

    def take(message):
        publisher.publish(FeatureVector(header=message.header, source=SOURCE, values=colours(rgb_of(message)).tolist()))

    node.create_subscription(Image, "image", take, 10)
    print("listening", flush=True)
    with contextlib.suppress(KeyboardInterrupt, ExternalShutdownException):
        rclpy.spin(node)


if __name__ == "__main__":
    main()
