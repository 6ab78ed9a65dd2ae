"""The object detection node as its users meet it: real messages, images, services and bad input."""

import re
from functools import partial

import numpy as np
import pytest
from helpers.detection_probe import DetectionProbe
from helpers.painted_scenes import paint, scene
from lifecycle_msgs.msg import Transition
from sensor_msgs.msg import Image

from icub_learning.detection.boxes import overlaps
from icub_learning_msgs.srv import ForgetObject, ModelFile, TeachDetection

SETTINGS = {"n_centers": 100, "n_proposals": 100, "report_period": 0.05, "collect_rate": 100.0, "answer_timeout": 200.0}


@pytest.fixture
def probe(started):
    with started(DetectionProbe(), **SETTINGS) as probe:
        yield probe


def best(found, label):
    """Return the box of the detection of a label with the largest score, zeros if there is none."""
    return next((np.array(one.box) for one in found.detections if one.label == label), np.zeros(4))


def test_is_taught_finds_forgets_and_keeps_what_it_learned(probe, tmp_path):
    rng = np.random.default_rng(0)
    first = probe.show(scene(rng, ["plum"])[0])
    assert (list(first.detections), first.header.frame_id) == ([], "eye") and probe.counts() == {}
    assert not probe.call(ModelFile, "save_model", path="nothing").success
    for label in ("plum", "lime"):
        late = label == "lime"  # boxes come after their images, and none for the last one
        shown = [scene(rng, ["plum", "lime"]) for _ in range(12 + late)]
        shown[12:] = [(image, None) for image, _ in shown[12:]]
        answer = probe.teach(label, shown, late=late, source="boxes")
        assert (answer.success, answer.n_frames) == (True, 12), answer.message
        images = f"12 images with a box, {late:d} without"
        said = re.fullmatch(rf"learned '{label}' in (\d+\.\d) s from {images}", answer.message)
        assert said and float(said[1]) < SETTINGS["answer_timeout"]
    assert probe.counts() == {"plum": 12, "lime": 12}
    others, right = np.random.default_rng(9), np.zeros(2)
    for _ in range(6):  # scenes, in most of which the best box for each label is on the thing
        image, boxes = scene(others, ["plum", "lime", "brick"])
        found = probe.show(image)
        right += [overlaps(best(found, label)[None], boxes[label][None])[0, 0] > 0.5 for label in ("plum", "lime")]
    assert np.all(right >= 5)
    probe.until(lambda: probe.annotated, "an annotated image")
    assert (probe.annotated[-1].height, probe.annotated[-1].width) == (160, 224)
    probe.obtain(ModelFile, "save_model", path=str(tmp_path / "things"))
    image = scene(rng, ["plum", "lime"])[0]
    before = [(one.label, one.score, list(one.box)) for one in probe.show(image).detections]
    assert probe.call(ForgetObject, "forget_object", label="lime").success
    assert {one.label for one in probe.show(image).detections} == {"plum"}
    assert not probe.call(ForgetObject, "forget_object", label="lime").success
    probe.obtain(ModelFile, "load_model", path=str(tmp_path / "things.npz"))
    assert [(one.label, one.score, list(one.box)) for one in probe.show(image).detections] == before
    assert probe.counts() == {"plum": 12, "lime": 12}


def test_boxes_come_from_motion_or_from_a_tracker(probe):
    rng = np.random.default_rng(1)
    still = scene(rng, ())[0].astype(float)

    def moving(label, n, y):
        for k in range(n):
            image = still + rng.normal(0, 1, still.shape)
            paint(image, label, 50 + 6 * k, y, 25)
            yield np.clip(image, 0, 255).astype(np.uint8), None

    empty = [(still.astype(np.uint8), None)] * 5  # the background before the object appears
    answer = probe.teach("plum", [*empty, *moving("plum", 10, 60)], source="motion")
    assert (answer.success, answer.n_frames) == (True, 10), answer.message
    frames = list(moving("lime", 11, 100))
    answer = probe.teach("lime", frames[1:], frames[0][0], source="tracker", box=[25.0, 75.0, 75.0, 125.0])
    assert answer.success and answer.n_frames >= 8, answer.message
    image = still.copy()
    truth = {"plum": paint(image, "plum", 70, 70, 25), "lime": paint(image, "lime", 160, 90, 25)}
    found = probe.show(image.astype(np.uint8))
    for label, box in truth.items():
        assert overlaps(best(found, label)[None], box[None])[0, 0] > 0.5, label


def test_bad_images_and_requests_are_refused_and_change_nothing(probe):
    fine = {"height": 160, "width": 224, "encoding": "rgb8", "step": 672, "data": bytes(160 * 672)}
    for number, change in enumerate(({"data": b"short"}, {"encoding": "paint"}), 1):
        publish = partial(probe.publish, Image(**(fine | change)))
        probe.repeat(publish, lambda values, n=number: int(values["refused"]) >= n, f"of refusal {number}")
    assert not probe.detections
    for fields, said in (
        ({"label": "", "seconds": 1.0}, "label"), ({"label": "plum", "seconds": 0.0}, "seconds"),
        ({"label": "plum", "seconds": float("nan")}, "seconds"),
        ({"label": "plum", "seconds": 1.0, "source": "magic"}, "tracker, motion, boxes"),
        ({"label": "plum", "seconds": 1.0, "box": [0.0, 0.0, 9.0, 9.0]}, "none has come yet"),
        ({"label": "plum", "seconds": 1.0, "source": "boxes", "box": [0.0, 0.0, 9.0, 9.0]}, "with source 'boxes'"),
    ):  # fmt: skip
        probe.declined(said, TeachDetection, "teach_detection", **fields)
    image, boxes = scene(np.random.default_rng(2), ["plum"])
    probe.show(image)
    for box in ([0.0, 0.0, 9.0], [50.0, 50.0, 20.0, 90.0], [0.0, 0.0, 9000.0, 90.0], [float("nan")] * 4):
        assert not probe.call(TeachDetection, "teach_detection", label="plum", seconds=1.0, box=box).success
    few = probe.teach("plum", [(image, boxes)] * 3, source="boxes")
    assert not few.success and re.search("fewer than 5 images.*; 3 of 3 messages on 'boxes' had", few.message)
    future = probe.ask(TeachDetection, "teach_detection", label="plum", seconds=200.0, source="boxes")
    probe.report(lambda values: "plum" in values["lesson"], "of the lesson")
    probe.show(image, {"plum": [-1e9, -1e9, 1e9, 1e9]})
    probe.report(lambda values: "must be smaller than the image" in values["last refusal"], "of a box without end")
    for kind, name, fields in (
        (TeachDetection, "teach_detection", {"label": "lime", "seconds": 1.0}),
        (ForgetObject, "forget_object", {"label": "plum"}), (ModelFile, "save_model", {"path": "model"}),
        (ModelFile, "load_model", {"path": "model"}),
    ):  # fmt: skip
        probe.declined("collecting images of 'plum'", kind, name, **fields)
    assert probe.change(Transition.TRANSITION_DEACTIVATE)
    dropped = probe.answer(future)
    assert not dropped.success and "deactivated" in dropped.message
    assert "not active" in probe.call(TeachDetection, "teach_detection", label="plum", seconds=1.0).message
    assert probe.counts() == {}
