"""The picture of the dynamics part of the demonstration: errors over the whole run, and around the switch."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from icub_learning.arrays import Array
from icub_learning.cli.demo.report import RATE
from icub_learning.evaluation.metrics import windowed_mean_rmse
from icub_learning.reporting import plots
from icub_learning.reporting.wrench_errors import GROUPS, UNITS, WINDOW

CIRCLE = 1.05  # [s]: one circle of the hand, over which the error of P rises and falls
AROUND = (-8.0, 12.0)  # [s] after the switch: the interval on the right
WIDTHS = {"P": 1.4, "NP": 2.3, "SP": 1.3}  # NP shows beneath SP where both are equally good
HEADROOM = 0.14  # of the height, for the names of the phases


def draw(path: Path, series: Mapping[str, tuple[np.ndarray, Array]], changeover: int, switch: int) -> None:
    """Draw the RMSE over the whole run (left) and around the switch (right), of stamps (n,) [ns] and errors (n, 6).

    Learning in XY ended at the stamp `changeover`, and in XZ it began after `switch` [ns].
    """
    figure = plots.new_figure(13, 7)
    grid = figure.add_gridspec(2, 2, width_ratios=(1.4, 1))
    between = (changeover - switch) * 1e-9
    for row, (group, columns) in enumerate(GROUPS.items()):
        for column in range(2):
            axes = figure.add_subplot(grid[row, column])
            for short, (stamps, errors) in series.items():
                seconds = (stamps - switch) * 1e-9
                samples = WINDOW if column else round(RATE * CIRCLE)
                error = windowed_mean_rmse(errors[:, columns], samples)
                shown = slice(None) if column == 0 else (seconds >= AROUND[0]) & (seconds <= AROUND[1])
                x, y = plots.thin(seconds[shown], error[shown])
                axes.plot(x, y, color=plots.COLOURS[short], label=plots.LABELS[short], linewidth=WIDTHS[short])
            plots.published_level(axes, group)
            plots.log_scale(axes)
            axes.margins(x=0)
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
            low, high = axes.get_ylim()
            axes.set_ylim(low, high * (high / low) ** HEADROOM)
            plots.style(axes, f"RMSE of {group} over {f'{WINDOW} samples' if column else 'one circle'}", UNITS[group])
            _mark_phases(axes, between, wide=column == 0)
            if row == len(GROUPS) - 1:
                axes.set_xlabel("time after the switch [s]", fontsize=8)
    plots.legend_below(figure)
    plots.save(figure, path, "Simulated iCub arm, live over DDS: the wrench at the upper arm, predicted, then learned")


def _mark_phases(axes: Any, between: float, wide: bool) -> None:
    """Mark circles in XY, the changeover from `between` [s] to the switch at 0, and circles in XZ."""
    axes.axvspan(between, 0.0, color="#e9ebee", zorder=0)
    axes.axvline(0.0, color=plots.INK, linewidth=1.0, linestyle=(0, (4, 3)))
    transform = axes.get_xaxis_transform()
    for x, text, side in ((between, "XY circles ", "right"), (0.0, " XZ circles", "left")):
        axes.text(x, 0.98, text, transform=transform, ha=side, va="top", fontsize=8, color=plots.INK)
    if not wide:
        text = "changeover,\nnot learned"
        axes.text(between / 2, 0.98, text, transform=transform, ha="center", va="top", fontsize=8, color=plots.INK)
