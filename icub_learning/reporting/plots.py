"""Pictures of what was learned: errors over time, and predictions beside measurements."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from icub_learning.arrays import Array
from icub_learning.errors import ParameterError
from icub_learning.evaluation.metrics import windowed_rmse
from icub_learning.evaluation.predict_then_learn import Evaluation

if TYPE_CHECKING:  # importing it for real would load the physics engine
    from icub_learning.experiments.thesis.change_of_task import Outcome

WINDOW = 30  # samples, as in fig. 8.4 of the thesis
COLOURS = {
    "P": "#d1495b",
    "NP": "#3d7ea6",
    "SP": "#2a9d5c",
    "measured": "#22262b",
}  # distinct in grey and for the colour-blind
LABELS = {"P": "P: rigid bodies", "NP": "NP: random features", "SP": "SP: both"}
MOST_POINTS = 3000  # a line
SUFFIXES = (".png", ".pdf", ".svg")


def check_path(path: Path) -> None:
    """Raise ParameterError unless a picture can be written in the format that `path` names."""
    if path.suffix not in SUFFIXES:
        raise ParameterError("--plot", str(path), "a file name ending in " + ", ".join(SUFFIXES))


def save(figure: Figure, path: Path) -> None:
    """Write the picture. Raises ParameterError if that fails."""
    check_path(path)
    FigureCanvasAgg(figure)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=130)
    except OSError as error:
        raise ParameterError("--plot", str(path), f"a file that can be written ({error.strerror})") from error


def style(axes: Any, title: str, ylabel: str = "") -> None:
    """The look that all panels share."""
    axes.set_title(title, loc="left", fontsize=9, fontweight="bold")
    axes.set_ylabel(ylabel, fontsize=8)
    axes.tick_params(labelsize=8)
    axes.grid(True, which="major", color="#e3e5e8", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def published_level(axes: Any, group: str) -> None:
    """A line at the published error of SP and NP in their steady state, of "force" or "torque" (thesis 8.4.3)."""
    level = {"force": 1.0, "torque": 0.1}[group]
    axes.axhline(level, color="#8a9099", linewidth=0.9, linestyle=(0, (2, 3)), label="SP and NP published, steady")


def log_scale(axes: Any) -> None:
    """A logarithmic ordinate with plain numbers at 1, 2 and 5 of each decade."""
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def plot_evaluation(path: Path, results: Mapping[str, Evaluation], output: str, steady_from: float, title: str) -> None:
    """Left: windowed RMSE over the recording. Right: what SP predicted and what was measured in the steady state.

    Args:
        path: .png, .pdf or .svg.
        results: by estimator: P, NP, SP.
        output: "wrench" or "joint_torque".
        steady_from: fraction of the samples before the steady state.
        title: of the picture.
    """
    names = next(iter(results.values())).output_names
    rows = len(names)
    figure = Figure(figsize=(13, 1.7 * rows + 1.4), layout="constrained", facecolor="white")
    grid = figure.add_gridspec(rows, 2, width_ratios=(1.15, 1))
    if output == "wrench":
        units = ["N"] * 3 + ["N m"] * 3
        panels = [
            ("force, 3 axes", "N", slice(0, 3), grid[0:3, 0]),
            ("torque, 3 axes", "N m", slice(3, 6), grid[3:6, 0]),
        ]
    else:
        units = [""] * rows
        panels = [(name, "", slice(i, i + 1), grid[i, 0]) for i, name in enumerate(names)]
    shared = None
    for number, (name, unit, columns, cell) in enumerate(panels):
        axes = shared = figure.add_subplot(cell, sharex=shared)
        _error_panel(axes, results, columns, steady_from)
        style(axes, f"RMSE of {name}, {WINDOW} samples", unit)
        _only_last(axes, number, len(panels))
    shared = None
    for number, (name, unit) in enumerate(zip(names, units, strict=True)):
        axes = shared = figure.add_subplot(grid[number, 1], sharex=shared)
        _prediction_panel(axes, results["SP"], number, steady_from)
        style(axes, f"{name}, steady state", unit)
        _only_last(axes, number, rows)
    handles = {
        label: handle for axes in figure.axes for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(handles.values(), handles, loc="outside lower center", ncols=len(handles), frameon=False, fontsize=9)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold")
    save(figure, path)


def plot_planes(path: Path, outcomes: Mapping[str, "Outcome"], groups: Mapping[str, slice], rate: float) -> None:
    """As fig. 8.4 of the thesis: RMSE after the change of plane, mean over the parts and their standard deviation.

    Args:
        path: .png, .pdf or .svg.
        outcomes: by estimator: P, NP, SP.
        groups: names of the panels' outputs.
        rate: samples a second.
    """
    units = {"force": "N", "torque": "N m"}
    figure = Figure(figsize=(9, 6.5), layout="constrained", facecolor="white")
    shared = None
    for number, group in enumerate(groups):
        axes = shared = figure.add_subplot(len(groups), 1, number + 1, sharex=shared)
        for short, outcome in outcomes.items():
            curves = outcome.curves(group)
            seconds = np.arange(1, curves.shape[1] + 1) / rate
            mean, deviation = curves.mean(axis=0), curves.std(axis=0)
            axes.fill_between(
                seconds,
                np.maximum(mean - deviation, mean * 0.05),
                mean + deviation,
                color=COLOURS[short],
                alpha=0.2,
                linewidth=0,
            )
            axes.plot(seconds, mean, color=COLOURS[short], label=LABELS[short], linewidth=1.4)
        published_level(axes, group)
        axes.set_xlim(0, seconds[-1])
        log_scale(axes)
        style(axes, f"RMSE of {group} after the change of plane, {WINDOW} samples", units[group])
        _only_last(axes, number, len(groups))
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    title = "Simulated iCub arm: learned circles in XY, then met circles in XZ (mean and deviation over parts)"
    figure.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold")
    save(figure, path)


def _only_last(axes: Any, number: int, count: int) -> None:
    """Only the lowest panel of a column says what its abscissa is."""
    if number == count - 1:
        axes.set_xlabel("time [s]", fontsize=8)
    else:
        axes.tick_params(labelbottom=False)


def _error_panel(axes: Any, results: Mapping[str, Evaluation], columns: slice, steady_from: float) -> None:
    for short, evaluation in results.items():
        if not len(evaluation.stamps):
            continue
        seconds = (evaluation.stamps - evaluation.stamps[0]) * 1e-9
        error = windowed_rmse(evaluation.errors[:, columns], WINDOW)
        positive = np.where(error > 0, error, np.nan)
        axes.plot(*thin(seconds, positive), color=COLOURS[short], label=LABELS[short], linewidth=1.3)
        if short == "SP":
            start = seconds[min(int(steady_from * len(seconds)), len(seconds) - 1)]
            axes.axvspan(start, seconds[-1], color="#f2f4f6", zorder=0, label="steady state")
            axes.set_xlim(seconds[0], seconds[-1])
    log_scale(axes)


def _prediction_panel(axes: Any, evaluation: Evaluation, column: int, steady_from: float) -> None:
    start = int(steady_from * len(evaluation.stamps))
    stamps = evaluation.stamps[start:]
    if not len(stamps):
        return
    seconds = (stamps - evaluation.stamps[0]) * 1e-9
    for values, key, label, width in (
        (evaluation.measured, "measured", "measured", 2.0),
        (evaluation.parametric, "P", "rigid-body part of SP", 0.9),
        (evaluation.predicted, "SP", LABELS["SP"], 1.2),
    ):
        dashed = (0, (4, 2)) if key == "P" else "-"
        axes.plot(
            *thin(seconds, values[start:, column]), color=COLOURS[key], label=label, linewidth=width, linestyle=dashed
        )
    axes.set_xlim(seconds[0], seconds[-1])


def thin(x: Array, y: Array) -> Sequence[Array]:
    """At most MOST_POINTS points of a line."""
    step = max(1, -(-len(x) // MOST_POINTS))
    return x[::step], y[::step]
