"""The lessons of the demonstration: what is taught, and what the robot recognized before and after."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from icub_learning.recognition.vision.images import Pixels

OBJECTS = ("duck", "mug", "soccer_ball", "teddy", "wheel", "traffic_cone")
LESSON = 20  # views that an object is taught with
FEW = 3  # views that the last object is taught with
WINDOW = 5  # views whose scores are averaged for each label; the recognition node's default


@dataclass
class RecognizedView:
    """One view of an object, and what the robot recognized in it."""

    shown: str  # the object in the hand
    image: Pixels  # RGB
    label: str  # see Recognition.msg
    confidence: float  # see Recognition.msg
    scores: dict[str, float]  # score of each label


@dataclass
class Lesson:
    """An object that was taught."""

    label: str  # name of the object
    n_frames: int  # number of views taught
    seconds: float = 0.0  # time from the call of the service to its answer [s]
    before: list[RecognizedView] = field(default_factory=list)  # views of the object before it was taught
    # views that it was taught with, as they were recognized then
    taught: list[RecognizedView] = field(default_factory=list)
    # unseen views, after the lesson, of each object taught so far
    views: dict[str, list[RecognizedView]] = field(default_factory=dict)


def share(views: Sequence[RecognizedView], label: str) -> float:
    """Return the share of the views that were recognized as `label`."""
    return sum(view.label == label for view in views) / len(views)
