"""The picture of the objects that the demonstration taught: views, what the robot said of them, and its scores."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from icub_learning.cli.demo.objects_report import figures_of, percent
from icub_learning.recognition.lesson import UNKNOWN
from icub_learning.reporting.plots import save

if TYPE_CHECKING:  # importing it for real would need ROS
    from icub_learning.cli.demo.objects import Lesson, Sight

TAUGHT, SHOWN = 3, 3  # views of each object in the picture: taught, unseen
RIGHT, WRONG, UNSURE, INK = "#2a9d5c", "#d1495b", "#8a9099", "#22262b"
BAR = "#c3ccd4"  # of the scores of other objects


def plot(path: Path, lessons: Sequence["Lesson"]) -> None:
    """A column for each object: views it was taught with, unseen views with label, confidence and scores; the accuracy.

    Args:
        path: of the picture.
        lessons: in their order.
    """
    labels = [lesson.label for lesson in lessons]
    figure = Figure(figsize=(2.15 * len(labels) + 0.6, 13.2), layout="constrained", facecolor="white")
    heights = (0.8, *((1.0, 0.5) * SHOWN), 1.7)
    grid = figure.add_gridspec(len(heights), len(labels), height_ratios=heights)
    for column, lesson in enumerate(lessons):
        strip = figure.add_subplot(grid[0, column])
        _show(strip, np.concatenate(_spread([sight.image for sight in lesson.taught], TAUGHT), axis=1))
        strip.set_title(f"{_name(lesson.label)}\n", fontsize=11, fontweight="bold", color=INK)
        strip.text(
            0.5, 1.06, f"taught with {lesson.n_frames} views", transform=strip.transAxes, ha="center", fontsize=8
        )
        for number, sight in enumerate(_spread(lessons[-1].views[lesson.label], SHOWN)):
            _view(figure.add_subplot(grid[1 + 2 * number, column]), sight)
            _scores(figure.add_subplot(grid[2 + 2 * number, column]), sight, labels, column == 0)
    _accuracy(figure.add_subplot(grid[-1, :]), lessons)
    figure.suptitle(
        "Simulated iCub: objects taught by service calls, and unseen views as it names them after the last lesson",
        x=0.01, ha="left", fontsize=12, fontweight="bold",
    )  # fmt: skip
    save(figure, path)


def _view(axes: Any, sight: "Sight") -> None:
    """An unseen view; its frame and title say whether the label is right."""
    colour = RIGHT if sight.label == sight.shown else UNSURE if sight.label == UNKNOWN else WRONG
    _show(axes, sight.image)
    for side in axes.spines.values():
        side.set(visible=True, color=colour, linewidth=2.5)
    axes.set_title(f"{_name(sight.label)}  {sight.confidence:.2f}", fontsize=10, color=colour, fontweight="bold", pad=3)


def _scores(axes: Any, sight: "Sight", labels: Sequence[str], named: bool) -> None:
    """The scores of all labels, as bars from the left."""
    values = [sight.scores[label] for label in labels]
    best = int(np.argmax(values))
    hit = RIGHT if labels[best] == sight.shown else WRONG
    axes.barh(labels, values, color=[hit if place == best else BAR for place in range(len(labels))], height=0.75)
    axes.invert_yaxis()
    axes.axvline(0.0, color=INK, linewidth=0.6)
    axes.set_xlim(min(0.0, *values) - 0.05, max(1.0, *values) * 1.05)
    axes.tick_params(axis="x", labelsize=6, length=2, pad=1)
    axes.tick_params(axis="y", length=0)
    axes.set_yticks(range(len(labels)), [_name(label) for label in labels] if named else [], fontsize=7)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)


def _accuracy(axes: Any, lessons: Sequence["Lesson"]) -> None:
    """How many unseen views of each object are named right after each lesson, in percent, as a table of colours."""
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
    for side in axes.spines.values():
        side.set_visible(False)
    axes.set_title("unseen views named right after each lesson [%]", loc="left", fontsize=9, fontweight="bold")


def _show(axes: Any, image: Any) -> None:
    axes.imshow(image, interpolation="antialiased")
    axes.set_xticks([])
    axes.set_yticks([])
    for side in axes.spines.values():
        side.set_visible(False)


def _spread(entries: Sequence[Any], count: int) -> list[Any]:
    """At most `count` of them, from the first to the last."""
    places = np.linspace(0, len(entries) - 1, min(count, len(entries))).round().astype(int)
    return [entries[place] for place in places]


def _name(label: str) -> str:
    return label.replace("_", " ")
