"""Pictures of experiments as panels of lines: measured over a size, with deviations and reference slopes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from icub_learning.reporting.plots import save, style

COLOURS = ("#d1495b", "#2a9d5c", "#3d7ea6", "#e3a13b", "#22262b", "#8a9099")  # distinct in grey


@dataclass(frozen=True)
class Panel:
    """One panel, with logarithmic axes by default.

    Attributes:
        title, xlabel, ylabel: in words.
        lines: by name: x, y and, where there is one, the deviation of y.
        references: by name: x and y of what theory or a publication says, drawn dashed.
        linear_x, linear_y: whether the axis is linear.
    """

    title: str
    xlabel: str
    ylabel: str
    lines: Mapping[str, Sequence[Any]]
    references: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    linear_x: bool = False
    linear_y: bool = False


def draw(path: Path, title: str, panels: Sequence[Panel], columns: int = 3) -> None:
    """Draw panels in rows. `path` ends in .png, .pdf or .svg."""
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(1.0 + 3.9 * columns, 0.8 + 3.3 * rows), layout="constrained", facecolor="white")
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, panel in zip(grid, panels, strict=False):
        widths = (3.0, 2.2, 1.5, 1.5, 1.5, 1.5)  # of lines that lie on each other, all are seen
        styled = zip(COLOURS, widths, panel.lines.items(), strict=False)
        for colour, width, (name, (x, y, *deviation)) in styled:
            x, y = np.asarray(x, float), np.asarray(y, float)
            axes.plot(x, y, color=colour, marker=".", linewidth=width if len(panel.lines) > 1 else 1.5, label=name)
            if deviation:
                spread = np.asarray(deviation[0], float)
                low = y - spread if panel.linear_y else np.maximum(y - spread, y * 0.05)
                axes.fill_between(x, low, y + spread, color=colour, alpha=0.18, linewidth=0)
        for dashes, (name, (x, y)) in zip(((4, 2), (1, 1.5)), panel.references.items(), strict=False):
            axes.plot(x, y, color="#6b7178", linestyle=(0, dashes), linewidth=1.3, label=name)
        if not panel.linear_x:
            axes.set_xscale("log")
            _plain(axes.xaxis)
        if not panel.linear_y:
            axes.set_yscale("log")
            _plain(axes.yaxis)
        style(axes, panel.title, panel.ylabel)
        axes.set_xlabel(panel.xlabel, fontsize=8)
        axes.legend(frameon=False, fontsize=8)
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold")
    save(figure, path)


def _plain(axis: Any) -> None:
    """Plain numbers at 1, 2 and 5 of each decade, or at 1 alone where there are many decades."""
    low, high = axis.get_view_interval()
    many = np.log10(high / low) > 3.2
    axis.set_major_locator(LogLocator(subs=(1,) if many else (1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())
