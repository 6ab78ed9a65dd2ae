"""The lessons of the demonstration: what is taught, what the robot recognized before and after, and the table of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from icub_learning.recognition.lesson import UNKNOWN
from icub_learning.recognition.vision.images import Pixels
from icub_learning.reporting.tables import table

OBJECTS = ("duck", "mug", "soccer_ball", "teddy", "wheel", "traffic_cone")
LESSON = 20  # views that an object is taught with
FEW = 3  # views that the last object is taught with
WINDOW = 5  # views whose scores are averaged for each label; the recognition node's default
EXPECTED, EXPECTED_FEW = 0.95, 0.80  # shares named right after the last lesson: of all views; of the last object


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


def figures_of(lessons: Sequence[Lesson]) -> dict[str, Any]:
    """Return everything that is printed. Accuracies are shares of views named right; "unknown" is not right."""
    entries = []
    for lesson in lessons:
        right = {label: share(views, label) for label, views in lesson.views.items()}
        unseen = [view for views in lesson.views.values() for view in views]
        entries.append(
            {
                "object": lesson.label,
                "views_taught": lesson.n_frames,
                "seconds": lesson.seconds,
                "unknown_before": share(lesson.before, UNKNOWN),
                "unseen_views": {label: len(views) for label, views in lesson.views.items()},
                "accuracy": right,
                "accuracy_of_all": sum(right.values()) / len(right),
                "unknown": share(unseen, UNKNOWN),
            }
        )
    return {"simulated": True, "lessons": entries, "expected": {"all": EXPECTED, "last_object": EXPECTED_FEW}}


def text(figures: dict[str, Any]) -> str:
    """Return the table of all lessons."""
    lessons = figures["lessons"]
    labels = [lesson["object"] for lesson in lessons]
    rows = [
        [
            f"{number} {lesson['object']}",
            str(lesson["views_taught"]),
            f"{lesson['seconds']:.1f}",
            percent(lesson["unknown_before"]),
            *(percent(lesson["accuracy"].get(label)) for label in labels),
            percent(lesson["accuracy_of_all"]),
        ]
        for number, lesson in enumerate(lessons, 1)
    ]
    last = lessons[-1]
    views = sum(last["unseen_views"].values())
    over = [("taught", 2), ("before", 1), ("unseen views named right [%]", len(labels) + 1)]
    return (
        "OBJECTS in the hand of the SIMULATED iCub, each taught by one service call while it turns.\n"
        f"Before: share of its views called {UNKNOWN} until then [%]. A label averages {WINDOW} views.\n\n"
        + table(["lesson", "views", "s", UNKNOWN, *labels, "all"], rows, over)
        + f"\n\nafter all lessons {percent(last['accuracy_of_all'])} % of {views} unseen views are named right"
        f" (expected: at least {percent(EXPECTED)} %), of {last['object']}, taught with {last['views_taught']} views,"
        f" {percent(last['accuracy'][last['object']])} % (at least {percent(EXPECTED_FEW)} %)"
    )


def percent(value: float | None) -> str:
    """Format a share in percent; empty for None."""
    return "" if value is None else f"{100 * value:.0f}"
