"""What came of teaching objects in the demonstration: figures and the table."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from icub_learning.recognition.lesson import UNKNOWN
from icub_learning.reporting.tables import table

if TYPE_CHECKING:  # importing it for real would need ROS
    from icub_learning.cli.demo.objects import Lesson, Sight

WINDOW = 5  # views that each label rests on, as it is by default
EXPECTED, EXPECTED_FEW = 0.95, 0.80  # share of unseen views: of all objects after the last lesson; of the last one


def share(sights: Sequence["Sight"], label: str) -> float:
    """Share of the views of which the robot says `label`."""
    return sum(sight.label == label for sight in sights) / len(sights)


def figures_of(lessons: Sequence["Lesson"]) -> dict[str, Any]:
    """Everything that is printed. Accuracies are shares of views named right; "unknown" is not right."""
    entries = []
    for lesson in lessons:
        right = {label: share(sights, label) for label, sights in lesson.views.items()}
        views = [sight for sights in lesson.views.values() for sight in sights]
        entries.append(
            {
                "object": lesson.label,
                "views_taught": lesson.n_frames,
                "seconds": lesson.seconds,
                "unknown_before": share(lesson.before, UNKNOWN),
                "unseen_views": {label: len(sights) for label, sights in lesson.views.items()},
                "accuracy": right,
                "accuracy_of_all": sum(right.values()) / len(right),
                "unknown": share(views, UNKNOWN),
            }
        )
    return {"simulated": True, "lessons": entries, "expected": {"all": EXPECTED, "last_object": EXPECTED_FEW}}


def text(figures: dict[str, Any]) -> str:
    """The table."""
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
        "OBJECTS in the hand of the SIMULATED iCub, each taught by one service call while it turns there.\n"
        f"Before: of its views until then, how many were called {UNKNOWN} [%]. A label rests on {WINDOW} views.\n\n"
        + table(["lesson", "views", "s", UNKNOWN, *labels, "all"], rows, over)
        + f"\n\nafter all lessons {percent(last['accuracy_of_all'])} % of {views} unseen views are named right"
        f" (expected: at least {percent(EXPECTED)} %), of {last['object']}, taught with {last['views_taught']} views,"
        f" {percent(last['accuracy'][last['object']])} % (at least {percent(EXPECTED_FEW)} %)"
    )


def percent(value: float | None) -> str:
    """A share in percent; nothing for none."""
    return "" if value is None else f"{100 * value:.0f}"
