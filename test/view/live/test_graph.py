"""Nodes are found by the types of their topics, whatever their names."""

import pytest
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import CompressedImage, Image, JointState

from icub_learning.view.live.source import COMPRESSED, IMAGE, look
from icub_learning_msgs.msg import Detections, DynamicsPrediction, FeatureVector, Recognition


@pytest.fixture
def learner(beside):
    """A learner in a namespace, whose name says nothing."""
    node = beside.node("one")
    node.create_publisher(DynamicsPrediction, "/left/arm/prediction", 1)
    return node


def test_a_learner_is_found_with_the_topics_that_it_takes(beside):
    robot = beside.robot
    robot.create_publisher(DynamicsPrediction, "~/prediction", 1)
    robot.create_subscription(JointState, "/arm/states", lambda _: None, 1)
    robot.create_subscription(WrenchStamped, "/arm/ft", lambda _: None, 1)
    expected = {"/inverse_dynamics": ("/arm/states", "/arm/ft")}
    beside.until(lambda: look(beside.spun).learners == expected, f"{expected}")
    found = look(beside.spun)
    assert (found.recognizers, found.detectors, found.image) == ([], [], ("", ""))
    assert look(beside.spun, "/given").image == ("/given", IMAGE)


def test_a_learner_whose_subscriptions_are_not_known_is_found_too(beside, learner):
    beside.until(lambda: look(beside.spun).learners == {"/left/arm": ("", "")}, "the learner")
    learner.destroy_node()
    beside.until(lambda: not look(beside.spun).learners, "its end")


def test_the_camera_is_the_one_that_nodes_look_at(beside):
    cameras = beside.node("cameras")
    cameras.create_publisher(Image, "/a_first", 1)
    beside.until(lambda: look(beside.spun).image == ("/a_first", IMAGE), "the only camera")
    cameras.create_publisher(CompressedImage, "/eye/compressed", 1)
    features = beside.node("features")
    features.create_subscription(Image, "/eye", lambda _: None, 1)  # which nobody publishes
    features.create_subscription(CompressedImage, "/eye/compressed", lambda _: None, 1)
    features.create_publisher(FeatureVector, "~/features", 1)
    beside.robot.create_publisher(Recognition, "~/recognition", 1)
    detector = beside.node("detector")
    detector.create_publisher(Detections, "~/detections", 1)
    detector.create_publisher(Image, "~/annotated", 1)

    def found() -> bool:
        now = look(beside.spun)
        names = (now.recognizers, now.detectors)
        return names == (["/inverse_dynamics"], ["/detector"]) and now.image == ("/eye/compressed", COMPRESSED)

    beside.until(found, "recognizer, detector and camera")
