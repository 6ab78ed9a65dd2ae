"""Messages of vision_msgs, which are not installed here: types with the fields of vision_msgs 4 stand in for them."""

import sys
from dataclasses import field, make_dataclass
from types import ModuleType, SimpleNamespace

import numpy as np

from icub_learning.detection.boxes import Detections
from icub_learning.nodes.common.image_messages import classification, detection_array, vision_msgs


def bounding_box():
    centre = SimpleNamespace(position=SimpleNamespace(x=0.0, y=0.0), theta=0.0)
    return SimpleNamespace(center=centre, size_x=0, size_y=0)


HEADED = [("header", object, None), ("results", list, field(default_factory=list))]
ObjectHypothesis = make_dataclass("ObjectHypothesis", [("class_id", str, ""), ("score", float, 0.0)])
KINDS = {
    "ObjectHypothesis": ObjectHypothesis,
    "ObjectHypothesisWithPose": lambda: SimpleNamespace(hypothesis=ObjectHypothesis()),
    "Detection2D": make_dataclass("Detection2D", [*HEADED, ("bbox", object, field(default_factory=bounding_box))]),
    "Detection2DArray": make_dataclass("Detection2DArray", [HEADED[0], ("detections", list, HEADED[1][2])]),
    "Classification": make_dataclass("Classification", HEADED),
}


def messages():
    module = ModuleType("vision_msgs.msg")
    vars(module).update(KINDS)
    return module


def test_found_where_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "vision_msgs", None)
    assert vision_msgs() is None
    module = messages()
    monkeypatch.setitem(sys.modules, "vision_msgs", ModuleType("vision_msgs"))
    monkeypatch.setitem(sys.modules, "vision_msgs.msg", module)
    assert vision_msgs() is module


def test_detections_have_centres_and_sizes():
    found = Detections(np.array([[10.0, 20.0, 30.0, 60.0]]), ["mug"], np.array([0.8]))
    array = detection_array(messages(), "header", found)
    (one,) = array.detections
    assert (array.header, one.header) == ("header", "header")
    place = one.bbox.center.position
    assert (place.x, place.y, one.bbox.size_x, one.bbox.size_y) == (20, 40, 20, 40)
    assert one.results[0].hypothesis == ObjectHypothesis("mug", 0.8)


def test_classification_has_one_hypothesis():
    assert classification(messages(), "header", "mug", 0.9).results == [ObjectHypothesis("mug", 0.9)]
