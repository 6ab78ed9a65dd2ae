"""The look that all pictures share: colours, axes, titles, and writing a figure to a file."""

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from icub_learning.arrays import Array
from icub_learning.reporting.colours import BLUE, COLOURS, GREEN, GREY, INK, LABELS, PALE, RED, YELLOW
from icub_learning.reporting.tables import replacing_for

__all__ = ["BLUE", "COLOURS", "GREEN", "GREY", "INK", "LABELS", "PALE", "RED", "YELLOW"]  # re-exported colours
MOST_POINTS = 3000  # largest number of points drawn of a line
ENTRY = 1.7  # [inch] width that holds the longest entries of our legends, in letters of 9 points
TITLE_CHARACTERS = 10.5  # characters per inch, in bold letters of 11 points


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of this size [inch] on a white ground."""
    return Figure(figsize=(width, height), layout="constrained", facecolor="white")


def save(figure: Figure, path: Path, title: str = "", option: str = "--plot") -> None:
    """Put a title above the figure, write it and print where it is. Raises ParameterError, naming `option`."""
    if title:
        lines = textwrap.fill(title, int(figure.get_figwidth() * TITLE_CHARACTERS))
        figure.suptitle(lines, x=0.01, ha="left", fontsize=11, fontweight="bold")
    FigureCanvasAgg(figure)
    with replacing_for(option, path, "wb") as file:
        figure.savefig(file, format=path.suffix[1:], dpi=130)
    print(f"picture: {path}")


def style(axes: Any, title: str, ylabel: str = "", xlabel: str | None = None) -> None:
    """Give one panel its title, labels and grid."""
    axes.set_title(title, loc="left", fontsize=9, fontweight="bold")
    axes.set_ylabel(ylabel, fontsize=8)
    if xlabel is not None:
        axes.set_xlabel(xlabel, fontsize=8)
    axes.tick_params(labelsize=8)
    axes.grid(True, which="major", color="#e3e5e8", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def legend_below(figure: Figure) -> None:
    """Put one legend below the figure, with each label of its panels once."""
    pairs = [zip(*axes.get_legend_handles_labels(), strict=True) for axes in figure.axes]
    entries = {label: handle for panel in pairs for handle, label in panel}
    place = {"loc": "outside lower center", "ncols": min(len(entries), max(1, int(figure.get_figwidth() / ENTRY)))}
    figure.legend(entries.values(), entries, **place, frameon=False, fontsize=9)


def log_scale(axes: Any, axis: str = "y") -> None:
    """Make the axis "x" or "y" logarithmic, with plain numbers at 1, 2 and 5 of each decade (1 alone if it has many).

    Call it after all lines are drawn: the interval shown decides which numbers fit.
    """
    axes.set(**{f"{axis}scale": "log"})
    ticks = getattr(axes, f"{axis}axis")
    low, high = ticks.get_view_interval()
    many = np.log10(high / low) > 3.2
    ticks.set_major_locator(LogLocator(subs=(1,) if many else (1, 2, 5)))
    ticks.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ticks.set_minor_formatter(NullFormatter())


def label_time(axes: Any, lowest: bool) -> None:
    """Label the time axis of a panel, if it is the lowest of its column."""
    if lowest:
        axes.set_xlabel("time [s]", fontsize=8)
    else:
        axes.tick_params(labelbottom=False)


def thin(x: Array, y: Array) -> Sequence[Array]:
    """Return at most MOST_POINTS points of a line, evenly chosen."""
    step = max(1, -(-len(x) // MOST_POINTS))
    return x[::step], y[::step]
