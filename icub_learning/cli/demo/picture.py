"""The picture of the demonstration: errors over the whole run, and closer around the switch."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from icub_learning.arrays import Array
from icub_learning.cli.demo.report import GROUPS, RATE, WINDOW
from icub_learning.evaluation.metrics import windowed_rmse
from icub_learning.experiments.thesis.figure_8_4 import UNITS
from icub_learning.reporting.plots import COLOURS, LABELS, log_scale, published_level, save, style, thin

CIRCLE = 1.05  # [s]: one round of the hand, over which the error of P rises and falls
AROUND = (-8.0, 12.0)  # [s] after the switch that are shown closer
WIDTHS = {"P": 1.4, "NP": 2.3, "SP": 1.3}  # NP shows beneath SP where both are equally good
HEADROOM = 0.14  # of the height, for the names of the phases
LINE = "#22262b"


def plot(path: Path, series: Mapping[str, tuple[np.ndarray, Array]], changeover: int, switch: int) -> None:
    """Left: RMSE over the whole run. Right: the seconds around the switch.

    Args:
        path: of the picture.
        series: by estimator: stamps (n,) [ns] and errors (n, 6).
        changeover: stamp at which learning in XY ended [ns].
        switch: stamp from which on is learned in XZ [ns].
    """
    figure = Figure(figsize=(13, 7), layout="constrained", facecolor="white")
    grid = figure.add_gridspec(2, 2, width_ratios=(1.4, 1))
    between = (changeover - switch) * 1e-9
    for row, (group, columns) in enumerate(GROUPS.items()):
        for column in range(2):
            axes = figure.add_subplot(grid[row, column])
            for short, (stamps, errors) in series.items():
                seconds = (stamps - switch) * 1e-9
                samples = WINDOW if column else round(RATE * CIRCLE)
                error = windowed_rmse(errors[:, columns], samples)
                shown = slice(None) if column == 0 else (seconds >= AROUND[0]) & (seconds <= AROUND[1])
                x, y = thin(seconds[shown], error[shown])
                axes.plot(x, y, color=COLOURS[short], label=LABELS[short], linewidth=WIDTHS[short])
            published_level(axes, group)
            log_scale(axes)
            axes.margins(x=0)
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
            low, high = axes.get_ylim()
            axes.set_ylim(low, high * (high / low) ** HEADROOM)
            style(axes, f"RMSE of {group} over {f'{WINDOW} samples' if column else 'one circle'}", UNITS[group])
            _mark_phases(axes, between, wide=column == 0)
            if row == len(GROUPS) - 1:
                axes.set_xlabel("time after the switch [s]", fontsize=8)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(handles), frameon=False, fontsize=10)
    title = "Simulated iCub arm, live over DDS: the wrench at the upper arm, predicted before it is learned"
    figure.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold")
    save(figure, path)


def _mark_phases(axes: Any, between: float, wide: bool) -> None:
    """Circles in XY, the changeover from `between` [s] to the switch at 0, circles in XZ."""
    axes.axvspan(between, 0.0, color="#e9ebee", zorder=0)
    axes.axvline(0.0, color=LINE, linewidth=1.0, linestyle=(0, (4, 3)))
    place = axes.get_xaxis_transform()
    for x, text, side in ((between, "XY circles ", "right"), (0.0, " XZ circles", "left")):
        axes.text(x, 0.98, text, transform=place, ha=side, va="top", fontsize=8, color=LINE)
    if not wide:
        text = "changeover,\nnot learned"
        axes.text(between / 2, 0.98, text, transform=place, ha="center", va="top", fontsize=8, color=LINE)
