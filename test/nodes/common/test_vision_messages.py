"""Messages of vision_msgs, which are not installed here: types with the fields of vision_msgs 4 stand in for them."""

import sys
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace

import numpy as np

from icub_learning.detection.boxes import Detections
from icub_learning.nodes.common.vision_messages import classification, detection_array, vision_msgs


@dataclass
class ObjectHypothesis:
    class_id: str = ""
    score: float = 0.0


@dataclass
class ObjectHypothesisWithPose:
    hypothesis: ObjectHypothesis = field(default_factory=ObjectHypothesis)


def bounding_box():
    return SimpleNamespace(
        center=SimpleNamespace(position=SimpleNamespace(x=0.0, y=0.0), theta=0.0), size_x=0, size_y=0
    )


@dataclass
class Detection2D:
    header: object = None
    results: list = field(default_factory=list)
    bbox: SimpleNamespace = field(default_factory=bounding_box)


@dataclass
class Detection2DArray:
    header: object = None
    detections: list = field(default_factory=list)


@dataclass
class Classification:
    header: object = None
    results: list = field(default_factory=list)


def messages():
    module = ModuleType("vision_msgs.msg")
    for kind in (ObjectHypothesis, ObjectHypothesisWithPose, Detection2D, Detection2DArray, Classification):
        setattr(module, kind.__name__, kind)
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
    assert (one.bbox.center.position.x, one.bbox.center.position.y, one.bbox.size_x, one.bbox.size_y) == (
        20,
        40,
        20,
        40,
    )
    assert one.results[0].hypothesis == ObjectHypothesis("mug", 0.8)


def test_classification_has_one_hypothesis():
    assert classification(messages(), "header", "mug", 0.9).results == [ObjectHypothesis("mug", 0.9)]
