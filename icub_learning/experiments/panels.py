"""Pictures of experiments as panels of lines: measured values over a size, deviations, and reference lines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from icub_learning.reporting.plots import BLUE, GREEN, GREY, INK, RED, YELLOW, log_scale, new_figure, save, style

COLOURS = (RED, GREEN, BLUE, YELLOW, INK, GREY)


@dataclass(frozen=True)
class Panel:
    """One panel, with logarithmic axes by default."""

    title: str
    xlabel: str
    ylabel: str
    lines: Mapping[str, Sequence[Any]]  # x, y and, where there is one, the deviation of y, by the name of the line
    # x and y from theory or a publication, by name; drawn dashed
    references: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    linear_x: bool = False
    linear_y: bool = False
    names: Sequence[str] = ()  # of x = 0, 1, ...; lines are then bars side by side, and references marks at their own x


def bar_offset(place: int, count: int) -> float:
    """Return how far a bar lies from its x, of `count` bars side by side."""
    return 0.8 / count * (place - (count - 1) / 2)


def draw(path: Path, title: str, panels: Sequence[Panel], columns: int = 3) -> None:
    """Draw panels, `columns` in a row at most, and write the picture."""
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    figure = new_figure(1.0 + 3.9 * columns, 0.8 + 3.3 * rows)
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, panel in zip(grid, panels, strict=False):
        widths = (3.0, 2.2, 1.5, 1.5, 1.5, 1.5)  # of lines that lie on each other, all are seen
        styled = zip(COLOURS, widths, panel.lines.items(), strict=False)
        for colour, width, (name, (x, y, *deviation)) in styled:
            x, y = np.asarray(x, float), np.asarray(y, float)
            spread = np.asarray(deviation[0], float) if deviation else None
            if panel.names:
                at = x + bar_offset(list(panel.lines).index(name), len(panel.lines))
                axes.bar(at, y, 0.76 / len(panel.lines), yerr=spread, color=colour, label=name)
                continue
            axes.plot(x, y, color=colour, marker=".", linewidth=width if len(panel.lines) > 1 else 1.5, label=name)
            if spread is not None:
                low = y - spread if panel.linear_y else np.maximum(y - spread, y * 0.05)
                axes.fill_between(x, low, y + spread, color=colour, alpha=0.18, linewidth=0)
        for dashes, (name, (x, y)) in zip(((4, 2), (1, 1.5)), panel.references.items(), strict=False):
            shape: dict[str, Any] = {"color": "#6b7178", "linestyle": (0, dashes), "linewidth": 1.3}
            if panel.names:
                shape = {"color": "black", "linestyle": "none", "marker": "_", "markersize": 10}
            axes.plot(x, y, label=name, **shape)
        for axis, linear in (("x", panel.linear_x), ("y", panel.linear_y)):
            if not linear and not (axis == "x" and panel.names):
                log_scale(axes, axis)
        if panel.names:
            axes.set_xticks(range(len(panel.names)), panel.names)
        style(axes, panel.title, panel.ylabel, panel.xlabel)
        axes.legend(frameon=False, fontsize=8)
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    save(figure, path, title)
