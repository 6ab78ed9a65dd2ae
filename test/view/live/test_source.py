"""Nodes are found by the types of their topics; what they publish becomes the state that the page shows."""

from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import CompressedImage, Image, JointState
from std_msgs.msg import String

from icub_learning.errors import ModelError
from icub_learning.nodes.common.conversions import set_stamp
from icub_learning.nodes.common.qos import DEEP, STATE, STREAM
from icub_learning.nodes.inverse_dynamics.report import weights_in_words
from icub_learning.recognition.vision.opencv import cv2
from icub_learning.robots import find_urdf
from icub_learning.view import STATUS
from icub_learning.view.live.source import COMPRESSED, IMAGE, Found, LiveSource, look, weights_of
from icub_learning.view.shown.state import Watcher
from icub_learning_msgs.msg import Detection, Detections, DynamicsPrediction, FeatureVector, ObjectList, Recognition
from icub_learning_msgs.srv import ListObjects

START = 1_700_000_000 * 10**9  # [ns]
JOINTS = ["elbow", "wrist"]


def test_learners_are_found_with_the_topics_that_they_take(beside):
    beside.robot.create_publisher(DynamicsPrediction, "~/prediction", 1)
    beside.robot.create_subscription(JointState, "/arm/states", lambda _: None, 1)
    beside.robot.create_subscription(WrenchStamped, "/arm/ft", lambda _: None, 1)
    other = beside.node("one")  # publishes for /left/arm, whose subscriptions are not known
    other.create_publisher(DynamicsPrediction, "/left/arm/prediction", 1)
    alone = {"/inverse_dynamics": ("/arm/states", "/arm/ft")}
    expected = Found({**alone, "/left/arm": ("", "")}, {}, {}, ("", ""))
    beside.until(lambda: look(beside.spun) == expected, f"{expected}")
    assert look(beside.spun, "/given").camera == ("", "")  # its type is not known yet
    other.destroy_node()
    beside.until(lambda: look(beside.spun).learners == alone, "its end")


def test_the_camera_is_the_one_that_nodes_look_at(beside):
    cameras = beside.node("cameras")
    cameras.create_publisher(Image, "/a/depth/image", 1)
    beside.until(lambda: look(beside.spun).camera == ("/a/depth/image", IMAGE), "the only camera")
    cameras.create_publisher(Image, "/b/image", 1)
    beside.until(lambda: look(beside.spun).camera == ("/b/image", IMAGE), "the camera whose images are no depths")
    cameras.create_publisher(CompressedImage, "/eye/compressed", 1)
    features, own = map(beside.node, ("features", "own"))  # one recognizes by its own features, from its own camera
    features.create_subscription(Image, "/eye", lambda _: None, 1)  # nobody publishes it
    features.create_subscription(CompressedImage, "/eye/compressed", lambda _: None, 1)
    own.create_subscription(Image, "/b/image", lambda _: None, 1)
    own.create_subscription(FeatureVector, "~/features", lambda _: None, 1)
    for node in (features, own):
        node.create_publisher(FeatureVector, "~/features", 1)
    for node in (own, beside.robot):
        node.create_publisher(Recognition, "~/recognition", 1)
    detector = beside.node("detector")
    detector.create_publisher(Detections, "~/detections", 1)
    detector.create_publisher(Image, "~/annotated", 1)
    eye = ("/eye/compressed", COMPRESSED)
    expected = Found({}, {"/inverse_dynamics": eye, "/own": ("/b/image", IMAGE)}, {"/detector": eye}, eye)
    beside.until(lambda: look(beside.spun) == expected, "recognizer, detector and camera")
    assert {look(beside.spun, "/b/image").recognizers[name] for name in expected.recognizers} == {("/b/image", IMAGE)}


@pytest.fixture
def source(beside):
    """A source of what the robot publishes."""
    return LiveSource(beside.spun, beside.polled, "joint_states")


def test_a_learner_comes_with_its_robot_and_goes(beside, source, monkeypatch):
    monkeypatch.setattr("icub_learning.view.live.source.LOOK_PERIOD", 0.1)
    node = beside.node("learner")
    settings = {"urdf": "ur10", "estimator": "parametric", "output": "joint_torque", "sensor": 3}  # sensor is not text
    neck = beside.node("neck")  # another learner
    for one, given in ((node, settings), (neck, settings | {"urdf": "panda"})):
        one.declare_parameters("", list(given.items()))
        beside.executor.add_node(one)
    predictions = node.create_publisher(DynamicsPrediction, "~/prediction", DEEP)
    measured = beside.robot.create_publisher(JointState, "/arm", DEEP)
    diagnostics = node.create_publisher(DiagnosticArray, "/diagnostics", STREAM)
    chosen = LiveSource(beside.spun, beside.polled, "joint_states", urdf="icub")
    beside.until(predictions.get_subscription_count, "the page", source.poll)
    node.create_subscription(JointState, "/arm", lambda _: None, 10)  # nodes are discovered part by part
    second = beside.robot.create_publisher(JointState, "/neck", DEEP)
    neck.create_publisher(DynamicsPrediction, "~/prediction", DEEP)
    neck.create_subscription(JointState, "/neck", lambda _: None, 10)
    beside.until(lambda: measured.get_subscription_count() == 2, "the page's joint states", source.poll)
    status = DiagnosticStatus(level=b"\x01", name="learner: stream", hardware_id="learner", message="learning")
    status.values = [KeyValue(key="weights of experts", value="elbow: P 0.25 NP 0.25 SP 0.50")]
    numbers, zero = count(1), [0.0, 0.0]

    def move() -> None:
        n = next(numbers)
        effort = [1.0 * n, 2.0 * n]
        state = JointState(name=JOINTS, position=[0.1 * n, -0.2 * n], effort=effort)
        prediction = DynamicsPrediction(names=JOINTS, total=effort, parametric=zero, residual=zero, variance=zero)
        others = JointState(name=["neck", "wrist"], position=[0.5, 9.0])
        for publisher, message in ((measured, state), (second, others), (predictions, prediction)):
            set_stamp(message.header.stamp, START + n * 5_000_000)
            publisher.publish(message)
        diagnostics.publish(DiagnosticArray(status=[status]))
        source.poll()
        chosen.poll()

    def all_known() -> bool:
        found = [one.state.learners.get("/learner") for one in (source, chosen)]
        learned = all(one and len(one.curves) > 2 and one.settings and one.weights for one in found)
        second = [one.state.robots.get("/neck") for one in (source, chosen)]
        return learned and all(one and one.urdf and one.joints for one in second)

    beside.until(all_known, "the learner", move)
    learner = source.state.learners["/learner"]
    np.testing.assert_allclose(learner.curves.external, 0.0)
    assert learner.settings == settings | {"sensor": ""}
    assert learner.weights == {"elbow": {"P": 0.25, "NP": 0.25, "SP": 0.5}}
    for name, urdf in {"/learner": "ur10", "/neck": "panda"}.items():  # the learner's parameter
        assert source.state.shown(name).urdf_path == find_urdf(urdf)
        assert chosen.state.shown(name).urdf_path == find_urdf("icub")
    joints, others = (source.state.shown(name).joints for name in ("/learner", "/neck"))  # its own before others'
    assert joints["wrist"] == pytest.approx(-2.0 * joints["elbow"]) and (joints["neck"], others["wrist"]) == (0.5, 9.0)
    health = source.state.health["learner: stream"]
    assert (health.level, health.message, list(health.values)) == (1, "learning", ["weights of experts"])
    for n_left, one in ((1, node), (0, neck)):
        beside.executor.remove_node(one)
        one.destroy_node()
        beside.until(lambda n=n_left: len(source.state.robots) == n, "its end", source.poll)
        assert source.state.shown("/learner").urdf_path == (find_urdf("panda") if n_left else "")
    assert not source.state.learners and not source.state.shown("").joints


def test_objects_and_the_camera_come_from_nodes_that_recognize_and_detect(beside, source, monkeypatch):
    monkeypatch.setattr("icub_learning.view.live.source.LOOK_PERIOD", 0.1)
    make = beside.robot.create_publisher
    recognition, known = make(Recognition, "~/recognition", STREAM), make(ObjectList, "~/objects", STATE)
    make(FeatureVector, "~/features", STREAM)
    beside.robot.create_subscription(Image, "/eye", lambda _: None, 1)
    images, detector = make(Image, "/eye", STREAM), beside.node("detector")
    beside.executor.add_node(detector)
    found = detector.create_publisher(Detections, "~/detections", STREAM)
    known.publish(ObjectList(labels=["duck", "cup"], counts=[20, 5], recall=[0.75, 1.0]))
    detector.create_service(ListObjects, "~/list_objects", lambda *_: ListObjects.Response(labels=["cup"], counts=[30]))
    given = LiveSource(beside.spun, beside.polled, "joint_states", image="eye")  # a name that has to be resolved
    compressed = LiveSource(beside.spun, beside.polled, "joint_states", image="/jpeg")
    compressed.poll()  # before it is published
    odd, jpegs = beside.node("odd"), beside.robot.create_publisher(CompressedImage, "/jpeg", STREAM)
    odd_known = odd.create_publisher(ObjectList, "~/objects", STATE)
    odd.create_publisher(Recognition, "~/recognition", STREAM)  # of which nothing comes
    odd_known.publish(ObjectList(labels=["duck", "cup"], counts=[1]))
    jpeg, pixels = cv2.imencode(".jpg", np.full((8, 8, 3), 90, np.uint8))[1], np.arange(2 * 3 * 3, dtype=np.uint8)
    picture = Image(height=2, width=3, encoding="rgb8", step=9, data=pixels.tobytes())
    said = {"label": "unknown", "nearest": "duck", "confidence": 0.75, "typicality": 0.25, "labels": ["duck", "cup"]}

    def publish() -> None:
        images.publish(picture)
        jpegs.publish(CompressedImage(format="jpeg", data=jpeg.tobytes()))
        recognition.publish(Recognition(**said, scores=[0.5, -0.5]))
        found.publish(Detections(detections=[Detection(box=[1.0, 2.0, 3.0, 4.0], label="cup", score=0.5)]))
        for one in (source, given, compressed):
            one.poll()

    def all_known() -> bool:
        nodes = [*source.state.recognizers.values(), *source.state.detectors.values()]
        known = [bool((one.recognized or one.boxes) and one.objects) for one in nodes if "/eye" in source.state.images]
        return sorted(known) == [False, True, True] and given.state.images and compressed.state.images

    beside.until(all_known, "image, label, boxes and objects", publish)
    state, subscription = source.state, given._objects._images["/eye", IMAGE]
    for one in (state.images[state.recognizers["/inverse_dynamics"].camera], given.state.images["/eye"]):
        np.testing.assert_array_equal(one.ravel(), pixels)
    np.testing.assert_allclose(compressed.state.images["/jpeg"], 90, atol=2)
    assert state.recognizers["/odd"] == Watcher(camera="/eye")  # its list, which has too few counts, is left out
    eye, finds = state.recognizers["/inverse_dynamics"], state.detectors["/detector"]
    seen = eye.recognized
    assert {name: getattr(seen, name) for name in said} == said and seen.scores.tolist() == [0.5, -0.5]
    np.testing.assert_array_equal(finds.boxes.boxes, [[1.0, 2.0, 3.0, 4.0]])
    assert finds.boxes.labels == ["cup"]
    # Recognizers publish what they know, detectors are asked.
    assert eye.objects == {"duck": 20, "cup": 5} and finds.objects == {"cup": 30}
    assert eye.recall == {"duck": 0.75, "cup": 1.0} and not finds.recall
    beside.executor.remove_node(detector)
    detector.destroy_node()
    beside.until(lambda: not state.detectors, "its end", source.poll)
    given._look()
    assert given._objects._images["/eye", IMAGE] is subscription  # which was not made anew
    monkeypatch.setattr("icub_learning.view.live.topics.SILENT", 0.0)
    for _ in range(2):  # an image may still have been on its way
        source.poll()
    assert eye.recognized is None and not state.images


def test_the_robot_is_the_one_that_is_described(beside, source, tmp_path):
    beside.robot.create_publisher(String, "robot_description", STATE).publish(String(data="<robot name='r'/>"))
    beside.until(lambda: source.state.shown("").urdf == "<robot name='r'/>", "the description", source.poll)
    chosen = LiveSource(beside.spun, beside.polled, "joint_states", urdf="ur10", folder=tmp_path)
    (tmp_path / STATUS).write_bytes(b" learning \xe4\n")  # not UTF-8
    beside.until(lambda: chosen.state.doing == "learning \ufffd", "what is being done", chosen.poll)
    assert chosen.state.urdf_path == find_urdf("ur10")  # chosen by hand: the description changes nothing
    with pytest.raises(ModelError, match="nowhere"):
        LiveSource(beside.spun, beside.polled, "joint_states", urdf="/nowhere.urdf")


def test_weights_are_those_that_the_node_put_into_words():
    weights = {"P": [0.125, 0.5], "NP 1": [0.25, 0.25], "NP 5": [0.125, 0.0], "SP 1": [0.5, 0.25]}
    estimator = SimpleNamespace(expert_weights={name: np.array(row) for name, row in weights.items()})
    found = weights_of(weights_in_words(("force.x", "elbow joint"), estimator))
    assert list(found) == ["force.x", "elbow joint"]
    assert found["elbow joint"] == pytest.approx({"P": 0.5, "NP": 0.25, "SP": 0.25}, abs=0.006)
    assert weights_of("") == {} and weights_of("nonsense: here; none") == {}
