"""The picture of the objects that the demonstration taught: views, their labels and scores, and the accuracy."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from icub_learning.cli.demo.lessons import Lesson, RecognizedView, figures_of, percent
from icub_learning.recognition.lesson import UNKNOWN
from icub_learning.reporting.plots import GREEN, GREY, INK, RED, new_figure, save

TAUGHT, SHOWN = 3, 3  # views of each object in the picture: taught, unseen
RIGHT, WRONG, UNSURE = GREEN, RED, GREY
BAR = "#c3ccd4"  # scores of other objects


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
        strip.text(
            0.5, 1.06, f"taught with {lesson.n_frames} views", transform=strip.transAxes, ha="center", fontsize=8
        )
        for number, view in enumerate(_spread(lessons[-1].views[lesson.label], SHOWN)):
            _view(figure.add_subplot(grid[1 + 2 * number, column]), view)
            _scores(figure.add_subplot(grid[2 + 2 * number, column]), view, labels, column == 0)
    _accuracy(figure.add_subplot(grid[-1, :]), lessons)
    title = "Simulated iCub: objects taught by service calls, and unseen views as it names them after the last lesson"
    save(figure, path, title)


def _view(axes: Any, view: RecognizedView) -> None:
    """Draw an unseen view; the colour of frame and title says whether the label is right."""
    colour = RIGHT if view.label == view.shown else UNSURE if view.label == UNKNOWN else WRONG
    _show(axes, view.image)
    for side in axes.spines.values():
        side.set(visible=True, color=colour, linewidth=2.5)
    axes.set_title(f"{_name(view.label)}  {view.confidence:.2f}", fontsize=10, color=colour, fontweight="bold", pad=3)


def _scores(axes: Any, view: RecognizedView, labels: Sequence[str], named: bool) -> None:
    values = [view.scores[label] for label in labels]
    best = int(np.argmax(values))
    hit = RIGHT if labels[best] == view.shown else WRONG
    axes.barh(labels, values, color=[hit if index == best else BAR for index in range(len(labels))], height=0.75)
    axes.invert_yaxis()
    axes.axvline(0.0, color=INK, linewidth=0.6)
    axes.set_xlim(min(0.0, *values) - 0.05, max(1.0, *values) * 1.05)
    axes.tick_params(axis="x", labelsize=6, length=2, pad=1)
    axes.tick_params(axis="y", length=0)
    axes.set_yticks(range(len(labels)), [_name(label) for label in labels] if named else [], fontsize=7)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)


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
    """Return at most `count` entries, evenly chosen from the first to the last."""
    indices = np.linspace(0, len(entries) - 1, min(count, len(entries))).round().astype(int)
    return [entries[index] for index in indices]


def _name(label: str) -> str:
    return label.replace("_", " ")
