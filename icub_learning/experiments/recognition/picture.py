"""The picture of accuracies over taught views: a panel for each data set, with labels at the ends of the lines."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from icub_learning.arrays import Array
from icub_learning.experiments.recognition import many
from icub_learning.experiments.recognition.contenders import OURS
from icub_learning.reporting.plots import BLUE, GREEN, GREY, INK, RED, YELLOW, new_figure, save, style

COLOURS = (RED, BLUE, GREEN, YELLOW, INK)  # of our classifiers, and again of the rivals, whose lines are dashed
GAP = 0.045  # least distance between labels, in heights of the panel


def draw(path: Path, figures: Mapping[str, Any]) -> None:
    """Draw what `few_views.compare` returned, with "classes" and "views", by data set, whose name ends at a comma."""
    columns = min(2, len(figures))
    figure = new_figure(1.0 + 6.2 * columns, 0.8 + 4.4 * -(-len(figures) // columns))
    grid = figure.subplots(-(-len(figures) // columns), columns, squeeze=False).ravel()
    for axes, (name, found) in zip(grid, figures.items(), strict=False):
        _panel(axes, f"{name.partition(',')[0]}, {found['classes']} classes", found["views"], found["accuracy"])
    for axes in grid[len(figures) :]:
        axes.set_visible(False)
    save(figure, path, "Accuracy on views that were not taught: ours (lines), rivals at their best (dashes, italics)")


def _panel(axes: Any, title: str, n_views: Any, accuracy: Mapping[str, Array]) -> None:
    x, ends = np.asarray(n_views, float), {}
    lines = merged(accuracy)
    ours = [names for names in lines if names[0] in {*OURS, *many.OURS}]
    rivals = [names for names in lines if names not in ours]
    styles: list[tuple[tuple[str, ...], str, Any]] = [
        (names, colour, "-") for names, colour in zip(ours, COLOURS, strict=False)
    ]
    styles += [(names, colour, (0, (4, 2))) for names, colour in zip(rivals, (GREY, *COLOURS[1:], RED), strict=False)]
    for names, colour, dashes in styles:
        mean, spread = 100 * lines[names].mean(axis=1), 100 * lines[names].std(axis=1)
        axes.errorbar(x, mean, spread, color=colour, linestyle=dashes, linewidth=1.4, elinewidth=0.6, marker=".")
        ends.update(dict.fromkeys(names, (float(mean[-1]), colour)))
    axes.set_xscale("log")
    axes.set_xticks(x, [f"{value:g}" for value in x])
    axes.minorticks_off()
    style(axes, title, "accuracy [%]", "taught views a class")
    low, high = axes.get_ylim()
    heights = _apart(np.array([value for value, _ in ends.values()]), GAP * (high - low))
    axes.set_ylim(min(low, heights.min()), max(high, heights.max()))
    for (name, (value, colour)), height in zip(ends.items(), heights, strict=True):
        axes.annotate(
            name,
            (x[-1], value),
            (x[-1] * 1.25, height),
            color=colour,
            fontsize=8,
            fontstyle="normal" if name in {*OURS, *many.OURS} else "italic",
            va="center",
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.5, "relpos": (0.0, 0.5)},
        )
    axes.set_xlim(x[0] * 0.9, x[-1] * 1.15)


def merged(accuracy: Mapping[str, Array]) -> dict[tuple[str, ...], Array]:
    """Return the lines to draw; contenders that are equal throughout share one, which has all their names."""
    lines: dict[tuple[str, ...], Array] = {}
    for name, values in accuracy.items():
        same = next((others for others, line in lines.items() if np.array_equal(line, values)), ())
        lines.pop(same, None)
        names = (*same, name)
        lines[names] = values
    return lines


def _apart(values: Array, gap: float) -> Array:
    """Return places for labels, in the order of the values and at least `gap` apart, as near to them as that allows."""
    order = np.argsort(values)
    places = values[order].astype(float)
    for _ in range(200):
        for k in range(len(places) - 1):
            short = gap - (places[k + 1] - places[k])
            if short > 1e-9:
                places[k] -= short / 2
                places[k + 1] += short / 2
    found = np.empty(len(values))
    found[order] = places
    return found
