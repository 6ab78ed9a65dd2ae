"""Nodes with classes from a package outside this one: those of docs/how_to/bring_your_own.md."""

import numpy as np
import pytest
from helpers.camera_probe import CameraProbe
from helpers.detection_probe import DetectionProbe
from helpers.driven_arm import SETTINGS as ARM
from helpers.driven_arm import Arm, drive, settle, taken_in
from helpers.node_probe import NodeProbe
from helpers.recognition_probe import RecognitionProbe
from helpers.robots import RIGHT_ARM
from std_srvs.srv import Trigger

from icub_learning.detection.boxes import overlaps
from icub_learning.models import read_model, write_model
from icub_learning.nodes.inverse_dynamics.learning_thread import LearningThread
from icub_learning_msgs.srv import ForgetObject, ListObjects, ModelFile, TeachDetection

QUICK = {"report_period": 0.05, "answer_timeout": 200.0}
pytestmark = pytest.mark.usefixtures("own_package")
LEARNER, CLASSIFIER = "my_package.learner.SineLearner", "my_package.classifier.NearestMean"


def test_a_learner_predicts_learns_and_is_kept(started, regressor, tmp_path, monkeypatch):
    kept, arm = ARM | {"estimator": LEARNER, "model_file": "own", "watch": "never"}, Arm(regressor)
    with started(NodeProbe(RIGHT_ARM), **kept) as probe:
        drive(probe, arm, range(300))
        settle(probe, 300)
        assert np.abs(probe.predictions[0].total).max() == 0.0
        errors = np.abs([probe.predictions[k].total - arm.sample(k)[2] for k in range(250, 300)]).mean(axis=0)
        assert np.all(errors < 0.5 * np.std([arm.sample(k)[2] for k in range(300)], axis=0))
        last = probe.predictions[-1]
        assert (np.abs(last.parametric).max(), list(last.residual)) == (0.0, list(last.total))
        assert 0.0 < np.min(last.variance) < np.inf and int(probe.diagnostics["samples refused by the estimator"]) == 0
        assert int(probe.diagnostics["samples learned"]) > 200
        probe.obtain(ModelFile, "merge_model", path="settled")  # it knows all samples: the class need not merge
        for path in ("rls.weights", "my_package.broken.X"):  # no request makes a node import a class
            assert "a class is named at start-up" in probe.set_parameter("estimator", path).reason
        state, header = read_model(tmp_path / "settled.npz")
        write_model(tmp_path / "other.npz", {**state, "estimator": np.asarray("my_package.broken.X")}, header)
        assert f"X estimator, not of a {LEARNER} one" in probe.call(ModelFile, "load_model", path="other").message
    assert header.settings["estimator"] == LEARNER
    with started(NodeProbe(RIGHT_ARM), **kept) as probe:
        probe.under_test.wait_for(r"loaded .*own\.npz")
        drive(probe, arm, range(1))
        taken_in(probe, 1)
        assert np.abs(probe.predictions[0].total).max() > 0.1 and probe.call(Trigger, "reset").success
        drive(probe, arm, range(1, 2))
        taken_in(probe, 2)
        assert np.abs(probe.predictions[1].total).max() == 0.0
    monkeypatch.setattr(LearningThread, "full", True)
    with started(NodeProbe(RIGHT_ARM), **ARM, estimator="parametric", latency_warn=0.0, latency_error=0.0) as probe:
        probe.until(lambda: "learning does not keep up: 0 samples wait" in probe.message, "a warning")
        assert f"a {LEARNER} estimator, not of a param" in probe.call(ModelFile, "load_model", path="settled").message


def test_a_classifier_is_taught_recognizes_and_is_kept(started, tmp_path):
    rng = np.random.default_rng(0)
    places = {label: 3.0 * rng.normal(size=16) for label in ("mug", "duck")}

    def views(label, n):
        return places[label] + rng.normal(size=(n, 16))

    with started(RecognitionProbe(), **QUICK, classifier=CLASSIFIER) as probe:
        assert all(probe.teach(label, views(label, 10)).success for label in places)
        seen = [probe.feed(views(label, 6))[-1] for label in places]
        assert [one.label for one in seen] == list(places) and min(one.confidence for one in seen) > 0.5
        assert probe.feed([20.0 * rng.normal(size=16)] * 6)[-1].label == "unknown"
        assert list(probe.call(ListObjects, "list_objects").counts) == [10, 10]
        assert "the method forget" in probe.call(ForgetObject, "forget_object", label="mug").message
        assert probe.call(ModelFile, "save_model", path="own").success and probe.call(Trigger, "reset").success
        assert probe.call(ModelFile, "load_model", path="own").success
        assert probe.feed(views("duck", 6))[-1].label == "duck"
        state, header = read_model(tmp_path / "own.npz")
        write_model(tmp_path / "other.npz", {**state, "kind": np.asarray("adaptive")}, header)
        assert f"here it is '{CLASSIFIER}'" in probe.call(ModelFile, "load_model", path="other").message
    with started(RecognitionProbe(), **QUICK) as probe:
        assert f"'{CLASSIFIER}' is not one of" in probe.call(ModelFile, "load_model", path="own").message


def test_features_are_those_of_the_class(started):
    picture = np.random.default_rng(1).integers(0, 256, (240, 320, 3), np.uint8)
    with started(CameraProbe(), report_period=0.05, features="my_package.features.ColourGrid") as camera:
        camera.under_test.wait_for("49 features from colour grid 4 x 4")
        camera.show(picture, 1)
        expected = np.append(picture.reshape(4, 60, 4, 80, 3).mean(axis=(1, 3)) / 255.0, 7.0)  # bright is a direction
        np.testing.assert_allclose(camera.features_of(1), expected, atol=1e-6)
        assert camera.features[-1].source == "colour grid 4 x 4 and a constant"


def test_boxes_come_from_the_class(started):
    source = "my_package.boxes.BrightBox"
    few, rng = {"n_centers": 100, "n_proposals": 100, "collect_rate": 100.0}, np.random.default_rng(0)

    def lamp_at(x):
        image = 90.0 + rng.normal(0.0, 6.0, (160, 224, 3))
        image[60:110, x : x + 50] = 255.0
        return image.astype(np.uint8)

    with started(DetectionProbe(), **QUICK, **few, box_source=source) as probe:
        for named in ("my_package.broken.X", "magic"):
            answer = probe.call(TeachDetection, "teach_detection", label="lamp", seconds=1.0, source=named)
            assert f"tracker, motion, boxes, {source}" in answer.message
        answer = probe.teach("lamp", [(lamp_at(10 + 12 * k), None) for k in range(12)])
        assert (answer.success, answer.n_frames) == (True, 12), answer.message
        found = probe.show(lamp_at(80)).detections
        assert overlaps(np.array([found[0].box]), np.array([[80.0, 60.0, 130.0, 110.0]]))[0, 0] > 0.5
