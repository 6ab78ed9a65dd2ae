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
    """One view of an object, and what the robot recognized in it.

    Attributes:
        shown: the object in the hand.
        image: RGB.
        label, confidence: see Recognition.msg.
        scores: score of each label.
    """

    shown: str
    image: Pixels
    label: str
    confidence: float
    scores: dict[str, float]


@dataclass
class Lesson:
    """An object that was taught.

    Attributes:
        label: name of the object.
        n_frames: number of views taught.
        seconds: time from the call of the service to its answer [s].
        before: views of the object before it was taught.
        taught: views that it was taught with, as they were recognized then.
        views: unseen views, after the lesson, of each object taught so far.
    """

    label: str
    n_frames: int
    seconds: float = 0.0
    before: list[RecognizedView] = field(default_factory=list)
    taught: list[RecognizedView] = field(default_factory=list)
    views: dict[str, list[RecognizedView]] = field(default_factory=dict)


def share(views: Sequence[RecognizedView], label: str) -> float:
    """Return the share of the views that were recognized as `label`."""
    return sum(view.label == label for view in views) / len(views)
