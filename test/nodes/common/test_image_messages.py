"""Messages of vision_msgs, which are not installed here: types with the fields of vision_msgs 4 stand in for them."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np

from icub_learning.detection.boxes import Detections
from icub_learning.nodes.common.image_messages import classification, detection_array, vision_msgs


def message(**fields):
    """Return a message type: `fields` are functions that make the fields that are not given."""
    return lambda **given: SimpleNamespace(**{name: make() for name, make in fields.items()} | given)


POSE, MESSAGES = message(position=message(x=float, y=float), theta=float), ModuleType("vision_msgs.msg")
MESSAGES.ObjectHypothesis = message(class_id=str, score=float)
MESSAGES.ObjectHypothesisWithPose = message(hypothesis=MESSAGES.ObjectHypothesis)
MESSAGES.Detection2D = message(header=str, results=list, bbox=message(center=POSE, size_x=float, size_y=float))
MESSAGES.Detection2DArray = message(header=str, detections=list)
MESSAGES.Classification = message(header=str, results=list)


def test_found_where_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "vision_msgs", None)
    assert vision_msgs() is None
    monkeypatch.setitem(sys.modules, "vision_msgs", ModuleType("vision_msgs"))
    monkeypatch.setitem(sys.modules, "vision_msgs.msg", MESSAGES)
    assert vision_msgs() is MESSAGES


def test_detections_have_centres_and_sizes_and_a_classification_has_one_hypothesis():
    found = Detections(np.array([[10.0, 20.0, 30.0, 60.0]]), ["mug"], np.array([0.8]))
    array = detection_array(MESSAGES, "header", found)
    (one,) = array.detections
    assert (array.header, one.header) == ("header", "header")
    place = one.bbox.center.position
    assert (place.x, place.y, one.bbox.size_x, one.bbox.size_y) == (20, 40, 20, 40)
    assert one.results[0].hypothesis == MESSAGES.ObjectHypothesis(class_id="mug", score=0.8)
    expected = MESSAGES.Classification(header="header", results=[MESSAGES.ObjectHypothesis(class_id="mug", score=0.9)])
    assert classification(MESSAGES, "header", "mug", 0.9) == expected
