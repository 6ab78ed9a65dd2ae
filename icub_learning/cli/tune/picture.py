"""The pictures of `icub-learning tune`: errors over the grid, and the choice beside the shipped defaults."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.colors import LogNorm, Normalize
from matplotlib.ticker import FuncFormatter, NullFormatter

from icub_learning.arrays import Array
from icub_learning.dynamics.settings import Settings
from icub_learning.evaluation.metrics import windowed_rmse
from icub_learning.evaluation.predict_then_learn import Evaluation
from icub_learning.kernel_methods.tuning import Choice, Grid, Surface
from icub_learning.reporting.plots import BLUE, GREEN, GREY, RED, log_scale, new_figure, save, style, thin
from icub_learning.reporting.tables import number

MAP = "viridis_r"
COLOURS = {"tuned": GREEN, "defaults": RED, "hold": GREY}
WINDOW = 100  # samples


def draw_dynamics(
    path: Path,
    name: str,
    surface: Surface,
    chosen: Choice,
    shipped: Settings,
    checks: Mapping[str, Mapping[str, tuple[Evaluation, int]]],
) -> None:
    """Draw nMSE over lambda and features, a panel for each length scale (above), and errors over the last part (below).

    Args:
        path: .png, .pdf or .svg.
        name: name of the recording.
        surface, chosen: errors over the grid, and the choice.
        shipped: the default settings; where they weigh values while learning, the published ones are marked.
        checks: evaluations by kind ("learning on", "learning stopped") and settings ("tuned", "defaults").
    """
    scales = surface.grid.length_scales
    figure = new_figure(max(8.0, 1.2 + 2.6 * len(scales)), 6.6)
    above, below = np.asarray(figure.subfigures(2, 1, height_ratios=(1.25, 1))).flat
    fixed = shipped.fixed()
    default = (fixed.length_scale, fixed.nonparametric_regularization, fixed.n_random_features)
    surface_panels(above, surface, chosen, default, "nMSE", "random features")
    panels = below.subplots(1, len(checks), sharey=True)
    for axes, (kind, by_name) in zip(panels, checks.items(), strict=True):
        _error_panel(axes, by_name, kind)
    handles, labels = panels[0].get_legend_handles_labels()
    below.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=8)
    save(figure, path, f"{name}: validation errors (star: chosen, circle: published), and the last part")


def surface_panels(
    figure: Any, surface: Surface, chosen: Choice, default: Sequence[float], what: str, sizes: str
) -> None:
    """Draw a map of errors for each length scale, with a star at the choice and a circle at the published settings."""
    grid, errors = surface.grid, surface.errors
    finite = errors[np.isfinite(errors)]
    low, high = float(finite.min()), float(finite.max())
    norm: Any = LogNorm(low, max(high, 1.0001 * low)) if low > 0 else Normalize(low, max(high, low + 1e-12))
    panels = figure.subplots(1, len(grid.length_scales), sharey=True, squeeze=False)[0]
    for i, (axes, scale) in enumerate(zip(panels, grid.length_scales, strict=True)):
        image = axes.imshow(np.where(np.isfinite(errors[i]), errors[i], np.nan), norm=norm, cmap=MAP, aspect="auto")
        axes.set_xticks(range(len(grid.sizes)), [str(size) for size in grid.sizes])
        axes.set_yticks(range(len(grid.regularizations)), [number(level, 2) for level in grid.regularizations])
        style(axes, f"length scale {number(scale)}", "lambda" if i == 0 else "", sizes)
        axes.grid(False)
        for mark, colour, size, point in (
            ("o", "none", 11, default),
            ("*", "#ffffff", 13, (chosen.length_scale, chosen.regularization, chosen.size)),
        ):
            if np.isclose(point[0], scale) and np.isfinite(point[1]):
                axes.plot(
                    *_position(grid, point),
                    marker=mark,
                    color=colour,
                    markersize=size,
                    markeredgecolor=RED,
                    clip_on=False,
                )
    bar = figure.colorbar(image, ax=list(panels), shrink=0.9, pad=0.01)
    bar.ax.tick_params(labelsize=8, which="both")
    bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    bar.ax.yaxis.set_minor_formatter(NullFormatter())
    bar.set_label(what, fontsize=8)


def _position(grid: Grid, point: Sequence[float]) -> tuple[float, float]:
    """Return the position of a point on the map, between cells if it is not on the grid."""
    sizes, levels = np.log(grid.sizes), np.log(grid.regularizations)
    return (
        float(np.interp(np.log(point[2]), sizes, np.arange(len(sizes)))),
        float(np.interp(np.log(point[1]), levels, np.arange(len(levels)))),
    )


def _error_panel(axes: Any, by_name: Mapping[str, tuple[Evaluation, int]], kind: str) -> None:
    for name, (evaluation, start) in by_name.items():
        if name == "tuned" and kind == "learning on":
            held = evaluation.held - evaluation.measured
            _line(axes, evaluation, start, held, "hold", "hold the newest measurement", 1.0)
        _line(axes, evaluation, start, evaluation.errors, name, {"defaults": "shipped defaults"}.get(name, name), 1.6)
    log_scale(axes)
    title = "predict, then learn" if kind == "learning on" else "learning stopped before the last part"
    style(axes, title, f"RMSE over deviation, {WINDOW} samples" if kind == "learning on" else "", "time [s]")


def _line(axes: Any, evaluation: Evaluation, start: int, errors: Array, key: str, label: str, width: float) -> None:
    deviation = evaluation.measured[start:].std(axis=0)
    relative = errors[start:] / np.where(deviation > 0, deviation, 1.0)
    seconds = (evaluation.stamps - evaluation.stamps[0])[start:] * 1e-9
    axes.plot(*thin(seconds, windowed_rmse(relative, WINDOW)), color=COLOURS[key], label=label, linewidth=width)
    axes.set_xlim(seconds[0], seconds[-1])


def draw_objects(
    path: Path, name: str, surface: Surface, chosen: Choice, shipped: Any, figures: Mapping[str, Any]
) -> None:
    """Draw views named wrong with the Gaussian kernel (above), by the linear classifier and in the last part (below).

    Args:
        path: .png, .pdf or .svg.
        name: name of the folder of images.
        surface, chosen: share of views named wrong over the grid, and the choice.
        shipped: the node's default settings.
        figures: what is printed.
    """
    scales = surface.grid.length_scales
    figure = new_figure(max(8.0, 1.2 + 2.2 * len(scales)), 6.4)
    above, below = np.asarray(figure.subfigures(2, 1, height_ratios=(1.2, 1))).flat
    default = (shipped.length_scale, np.nan, shipped.max_dictionary)
    percent = Surface(surface.grid, 100 * surface.errors, surface.losses, surface.fold_errors)
    surface_panels(above, percent, chosen, default, "named wrong [%]", "examples kept")
    left, right = below.subplots(1, 2)
    line = figures["linear"]
    left.semilogx(line["regularizations"], 100 * np.array(line["errors"]), marker=".", color=COLOURS["tuned"])
    for value, key in ((figures["chosen"]["linear_regularization"], "tuned"), (shipped.regularization, "defaults")):
        left.axvline(value, color=COLOURS[key], linewidth=1, linestyle=(0, (4, 2)), label=f"lambda, {key}")
    left.set_ylim(bottom=0)
    left.legend(frameon=False, fontsize=8)
    style(left, "linear classifier, validation", "named wrong [%]", "lambda of rlsc")
    names = list(figures["check"])
    values = [100 * figures["check"][one] for one in names]
    bars = right.bar(range(len(names)), values, color=[COLOURS.get(one, BLUE) for one in names])
    right.bar_label(bars, [f"{value:.1f}" for value in values], fontsize=8)
    right.set_xticks(range(len(names)), ["tuned", "shipped", "kernel", "tuned rlsc", "tuned polk"])
    style(right, "last views, predicted, then learned", "named wrong [%]")
    save(figure, path, f"{name}: views named wrong (star: chosen)")
