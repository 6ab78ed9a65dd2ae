"""The lessons of the demonstration: what is taught, what the robot recognized before and after; table and picture."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from icub_learning.recognition.lesson import UNKNOWN
from icub_learning.recognition.vision.images import Pixels
from icub_learning.reporting.plots import GREEN, GREY, INK, RED, new_figure, save
from icub_learning.reporting.tables import table

OBJECTS = ("duck", "mug", "soccer_ball", "teddy", "wheel", "traffic_cone")
LESSON = 20  # views that an object is taught with
FEW = 3  # views that the last object is taught with
WINDOW = 5  # views whose scores are averaged for each label; the recognition node's default
EXPECTED, EXPECTED_FEW = 0.95, 0.80  # least shares of unseen views named right at the end: all objects; the last one
TAUGHT, SHOWN = 3, 3  # views of each object in the picture: taught, unseen
BAR = "#c3ccd4"  # colour of the scores of other objects


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
    return sum(view.label == label for view in views) / len(views)


def figures_of(lessons: Sequence[Lesson]) -> dict[str, Any]:
    """Return everything that is printed. Accuracies are shares of views named right; "unknown" is not right."""
    entries = []
    for lesson in lessons:
        right = {label: share(views, label) for label, views in lesson.views.items()}
        entries.append({
            "object": lesson.label, "views_taught": lesson.n_frames, "seconds": lesson.seconds,
            "unknown_before": share(lesson.before, UNKNOWN),
            "unseen_views": {label: len(views) for label, views in lesson.views.items()},
            "accuracy": right, "accuracy_of_all": sum(right.values()) / len(right),
            "unknown": share([view for views in lesson.views.values() for view in views], UNKNOWN),
        })  # fmt: skip
    return {"simulated": True, "lessons": entries, "expected": {"all": EXPECTED, "last_object": EXPECTED_FEW}}


def text(figures: dict[str, Any]) -> str:
    lessons = figures["lessons"]
    labels = [lesson["object"] for lesson in lessons]
    rows = [
        [
            f"{number} {lesson['object']}", str(lesson["views_taught"]), f"{lesson['seconds']:.1f}",
            percent(lesson["unknown_before"]), *(percent(lesson["accuracy"].get(label)) for label in labels),
            percent(lesson["accuracy_of_all"]),
        ]
        for number, lesson in enumerate(lessons, 1)
    ]  # fmt: skip
    last = lessons[-1]
    views = sum(last["unseen_views"].values())
    over = [("taught", 2), ("before", 1), ("unseen views named right [%]", len(labels) + 1)]
    text = "OBJECTS in the hand of the SIMULATED iCub, each taught by one service call while it turns.\n"
    text += f"Before: share of its views called {UNKNOWN} until then [%]. A label averages {WINDOW} views.\n\n"
    text += table(["lesson", "views", "s", UNKNOWN, *labels, "all"], rows, over)
    text += f"\n\nafter all lessons {percent(last['accuracy_of_all'])} % of {views} unseen views are named right"
    text += f" (expected: at least {percent(EXPECTED)} %), of {last['object']}, taught with {last['views_taught']}"
    return f"{text} views, {percent(last['accuracy'][last['object']])} % (at least {percent(EXPECTED_FEW)} %)"


def percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.0f}"


def draw(path: Path, lessons: Sequence[Lesson]) -> None:
    """Draw a column for each object: taught views, unseen views with label and scores; below them the accuracy."""
    labels = [lesson.label for lesson in lessons]
    figure = new_figure(2.15 * len(labels) + 0.6, 13.2)
    heights = (0.8, *((1.0, 0.5) * SHOWN), 1.7)
    grid = figure.add_gridspec(len(heights), len(labels), height_ratios=heights)
    for column, lesson in enumerate(lessons):
        strip = figure.add_subplot(grid[0, column])
        _show(strip, np.concatenate(_spread([view.image for view in lesson.taught], TAUGHT), axis=1))
        strip.set_title(f"{_name(lesson.label)}\n", fontsize=11, fontweight="bold", color=INK)
        said = f"taught with {lesson.n_frames} views"
        strip.text(0.5, 1.06, said, transform=strip.transAxes, ha="center", fontsize=8)
        for number, view in enumerate(_spread(lessons[-1].views[lesson.label], SHOWN)):
            colour = GREEN if view.label == view.shown else GREY if view.label == UNKNOWN else RED
            _show(axes := figure.add_subplot(grid[1 + 2 * number, column]), view.image)
            axes.spines[:].set(visible=True, color=colour, linewidth=2.5)
            said = f"{_name(view.label)}  {view.confidence:.2f}"
            axes.set_title(said, fontsize=10, color=colour, fontweight="bold", pad=3)
            _scores(figure.add_subplot(grid[2 + 2 * number, column]), view, labels, column == 0)
    _accuracy(figure.add_subplot(grid[-1, :]), lessons)
    title = "Simulated iCub: objects taught by service calls, and unseen views as it names them after the last lesson"
    save(figure, path, title)


def _scores(axes: Any, view: RecognizedView, labels: Sequence[str], named: bool) -> None:
    values = [view.scores[label] for label in labels]
    best = int(np.argmax(values))
    hit = GREEN if labels[best] == view.shown else RED
    axes.barh(labels, values, color=[hit if index == best else BAR for index in range(len(labels))], height=0.75)
    axes.invert_yaxis()
    axes.axvline(0.0, color=INK, linewidth=0.6)
    axes.set_xlim(min(0.0, *values) - 0.05, max(1.0, *values) * 1.05)
    axes.tick_params(axis="x", labelsize=6, length=2, pad=1)
    axes.tick_params(axis="y", length=0)
    axes.set_yticks(range(len(labels)), [_name(label) for label in labels] if named else [], fontsize=7)
    axes.spines[["top", "right", "left"]].set_visible(False)


def _accuracy(axes: Any, lessons: Sequence[Lesson]) -> None:
    """Draw the share of unseen views of each object named right after each lesson [%], as a coloured table."""
    figures = figures_of(lessons)["lessons"]
    labels = [*(lesson["object"] for lesson in figures), "all"]
    values = np.array(
        [[lesson["accuracy"].get(label, np.nan) for label in labels[:-1]] + [lesson["accuracy_of_all"]]
         for lesson in figures]
    ).T  # fmt: skip
    axes.imshow(np.ma.masked_invalid(values), cmap="RdYlGn", vmin=0.0, vmax=1.3, aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        if np.isfinite(value):
            weight = "bold" if row == len(labels) - 1 else "normal"
            axes.text(column, row, percent(value), ha="center", va="center", fontsize=9, color=INK, fontweight=weight)
    axes.set_yticks(range(len(labels)), [_name(label) for label in labels], fontsize=8)
    titles = [f"after {_name(lesson['object'])}" for lesson in figures]
    axes.set_xticks(range(len(titles)), titles, fontsize=8)
    axes.tick_params(length=0)
    axes.axhline(len(labels) - 1.5, color=INK, linewidth=1.0)
    axes.spines[:].set_visible(False)
    axes.set_title("unseen views named right after each lesson [%]", loc="left", fontsize=9, fontweight="bold")


def _show(axes: Any, image: Any) -> None:
    axes.imshow(image, interpolation="antialiased")
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)


def _spread(entries: Sequence[Any], count: int) -> list[Any]:
    return [entries[index] for index in np.linspace(0, len(entries) - 1, min(count, len(entries))).round().astype(int)]


def _name(label: str) -> str:
    return label.replace("_", " ")
