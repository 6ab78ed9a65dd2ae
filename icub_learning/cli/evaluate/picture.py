"""The picture of `evaluate`: errors over the recording, and predictions beside measurements."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from icub_learning.evaluation.metrics import windowed_rmse
from icub_learning.evaluation.predict_then_learn import Evaluation
from icub_learning.reporting import plots
from icub_learning.reporting.wrench_errors import GROUPS, UNITS, WINDOW


def draw(path: Path, results: Mapping[str, Evaluation], output: str, steady_from: float, title: str) -> None:
    """Draw the windowed RMSE over the recording (left), and predictions of SP in the steady state (right).

    `results` are P, NP, SP, and perhaps a class of the user's; `steady_from` is the share of samples before it."""
    names = next(iter(results.values())).output_names
    rows = len(names)
    figure = plots.new_figure(13, 1.7 * rows + 1.4)
    grid = figure.add_gridspec(rows, 2, width_ratios=(1.15, 1))
    if output == "wrench":
        units = [UNITS[group] for group in GROUPS for _ in range(3)]
        panels = [(f"{group}, 3 axes", UNITS[group], axes, grid[axes, 0]) for group, axes in GROUPS.items()]
    else:
        units = [""] * rows
        panels = [(name, "", slice(i, i + 1), grid[i, 0]) for i, name in enumerate(names)]
    shared = None
    for index, (name, unit, columns, cell) in enumerate(panels):
        axes = shared = figure.add_subplot(cell, sharex=shared)
        _error_panel(axes, results, columns, steady_from)
        plots.style(axes, f"RMSE of {name}, {WINDOW} samples", unit)
        plots.label_time(axes, lowest=index == len(panels) - 1)
    shared = None
    for index, (name, unit) in enumerate(zip(names, units, strict=True)):
        axes = shared = figure.add_subplot(grid[index, 1], sharex=shared)
        _prediction_panel(axes, results["SP"], index, steady_from)
        plots.style(axes, f"{name}, steady state", unit)
        plots.label_time(axes, lowest=index == rows - 1)
    plots.legend_below(figure)
    plots.save(figure, path, title)


def _error_panel(axes: Any, results: Mapping[str, Evaluation], columns: slice, steady_from: float) -> None:
    for short, evaluation in results.items():
        if not len(evaluation.stamps):
            continue
        seconds = (evaluation.stamps - evaluation.stamps[0]) * 1e-9
        error = windowed_rmse(evaluation.errors[:, columns], WINDOW)
        positive = np.where(error > 0, error, np.nan)
        colour = plots.COLOURS.get(short, plots.YELLOW)
        axes.plot(*plots.thin(seconds, positive), color=colour, label=plots.LABELS.get(short, short), linewidth=1.3)
        if short == "SP":
            start = seconds[min(int(steady_from * len(seconds)), len(seconds) - 1)]
            axes.axvspan(start, seconds[-1], color="#f2f4f6", zorder=0, label="steady state")
            axes.set_xlim(seconds[0], seconds[-1])
    if axes.dataLim.minposy < np.inf:  # some error is above 0
        plots.log_scale(axes)


def _prediction_panel(axes: Any, evaluation: Evaluation, column: int, steady_from: float) -> None:
    start = int(steady_from * len(evaluation.stamps))
    stamps = evaluation.stamps[start:]
    if not len(stamps):
        return
    seconds = (stamps - evaluation.stamps[0]) * 1e-9
    for values, key, label, width in (
        (evaluation.measured, "measured", "measured", 2.0), (evaluation.parametric, "P", "rigid-body part of SP", 0.9),
        (evaluation.predicted, "SP", plots.LABELS["SP"], 1.2),
    ):  # fmt: skip
        dashes = (0, (4, 2)) if key == "P" else "-"
        x, y = plots.thin(seconds, values[start:, column])
        axes.plot(x, y, color=plots.COLOURS[key], label=label, linewidth=width, linestyle=dashes)
    axes.set_xlim(seconds[0], seconds[-1])
