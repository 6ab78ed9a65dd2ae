"""Pictures of experiments as panels of lines: measured values over a size, deviations, and reference lines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from icub_learning.reporting.colours import BLUE, GREEN, GREY, INK, RED, YELLOW
from icub_learning.reporting.plots import legend_below, log_scale, new_figure, save, style

LOOKS = tuple(product(("-", (0, (4, 2))), (RED, GREEN, BLUE, YELLOW, INK, GREY)))  # dashes and colours of the lines
WIDTHS = (3.0, 2.2, *[1.5] * 10)  # widths of the lines in points: of lines that coincide, all stay visible


@dataclass(frozen=True)
class Panel:
    """One panel, with logarithmic axes by default."""

    title: str
    xlabel: str
    ylabel: str
    lines: Mapping[str, Sequence[Any]]  # x, y and, if there is one, the deviation of y, by the name of the line
    # x and y from theory or a publication, by name; drawn dashed
    references: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    linear_x: bool = False
    linear_y: bool = False
    most: float = np.inf  # largest possible y, beyond which no deviation is drawn
    names: Sequence[str] = ()  # labels of x = 0, 1, ...; lines are then bars side by side, references marks at their x


def bar_offset(place: int, count: int) -> float:
    """Return the offset from x of bar number `place` of `count` bars side by side."""
    return 0.8 / count * (place - (count - 1) / 2)


def draw(path: Path, title: str, panels: Sequence[Panel], columns: int = 3, size: float = 1.0) -> None:
    """Draw panels, `columns` in a row at most, `size` times as large as usual, and write the picture."""
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    figure = new_figure(1.0 + 3.9 * size * columns, 0.8 + 3.3 * size * rows)
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    together = len(panels[0].lines) > 6 and len({tuple(panel.lines) for panel in panels}) == 1  # one legend for all
    for axes, panel in zip(grid, panels, strict=False):
        _draw_panel(axes, panel, legend=not together)
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    if together:
        legend_below(figure)
    save(figure, path, title, "--out")


def _draw_panel(axes: Any, panel: Panel, legend: bool) -> None:
    styled = zip(LOOKS, WIDTHS, panel.lines.items(), strict=False)
    for place, ((dashes, colour), width, (name, (x, y, *deviation))) in enumerate(styled):
        x, y = np.asarray(x, float), np.asarray(y, float)
        spread = np.asarray(deviation[0], float) if deviation else None
        if panel.names:
            at, bar = x + bar_offset(place, len(panel.lines)), 0.76 / len(panel.lines)
            axes.bar(at, y, bar, yerr=spread, color=colour, label=name)
            continue
        width = width if len(panel.lines) > 1 else 1.5
        axes.plot(x, y, color=colour, linestyle=dashes, marker=".", linewidth=width, label=name)
        if spread is not None:
            low = y - spread if panel.linear_y else np.maximum(y - spread, y * 0.05)
            axes.fill_between(x, low, np.minimum(y + spread, panel.most), color=colour, alpha=0.18, linewidth=0)
    for pattern, (name, (x, y)) in zip(((4, 2), (1, 1.5)), panel.references.items(), strict=False):
        shape: dict[str, Any] = {"color": "#6b7178", "linestyle": (0, pattern), "linewidth": 1.3}
        if panel.names:
            shape = {"color": "black", "linestyle": "none", "marker": "_", "markersize": 10}
        axes.plot(x, y, label=name, **shape)
    if panel.names:
        axes.set_xticks(range(len(panel.names)), panel.names)
    elif not panel.linear_x:
        log_scale(axes, "x")
    if not panel.linear_y:
        log_scale(axes, "y")
    style(axes, panel.title, panel.ylabel, panel.xlabel)
    if legend:
        axes.legend(frameon=False, fontsize=8)
