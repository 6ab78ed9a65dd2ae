"""The picture of `icub-learning tune`: errors over the grid, and the choice beside the shipped defaults."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.colors import LogNorm, Normalize
from matplotlib.ticker import FuncFormatter, NullFormatter

from icub_learning.kernel_methods.tuning import Choice, Surface
from icub_learning.reporting.plots import BLUE, GREEN, RED, new_figure, save, style
from icub_learning.reporting.tables import number

MAP = "viridis_r"
COLOURS = {"tuned": GREEN, "defaults": RED}


def draw_objects(
    path: Path, name: str, surface: Surface, chosen: Choice, shipped: Any, figures: Mapping[str, Any]
) -> None:
    """Draw views named wrong by the Gaussian kernel (above), by the linear classifier and at last (below)."""
    scales = surface.grid.length_scales
    figure = new_figure(max(8.0, 1.2 + 2.2 * len(scales)), 6.4)
    above, below = np.asarray(figure.subfigures(2, 1, height_ratios=(1.2, 1))).flat
    _surface_panels(above, surface, chosen)
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
    right.set_xticks(range(len(names)), ["tuned", "shipped", "adaptive", "tuned rlsc", "tuned polk"])
    style(right, "last views, predicted, then learned", "named wrong [%]")
    save(figure, path, f"{name}: views named wrong (star: chosen)")


def _surface_panels(figure: Any, surface: Surface, chosen: Choice) -> None:
    """Draw a map of the shares named wrong [%] for each length scale, with a star at the choice."""
    grid, errors = surface.grid, 100 * surface.errors
    low, high = float(errors.min()), float(errors.max())
    norm: Any = LogNorm(low, max(high, 1.0001 * low)) if low > 0 else Normalize(low, max(high, low + 1e-12))
    panels = figure.subplots(1, len(grid.length_scales), sharey=True, squeeze=False)[0]
    for i, (axes, scale) in enumerate(zip(panels, grid.length_scales, strict=True)):
        image = axes.imshow(errors[i], norm=norm, cmap=MAP, aspect="auto")
        axes.set_xticks(range(len(grid.sizes)), [str(size) for size in grid.sizes])
        axes.set_yticks(range(len(grid.regularizations)), [number(level, 2) for level in grid.regularizations])
        style(axes, f"length scale {number(scale)}", "lambda" if i == 0 else "", "examples kept")
        axes.grid(False)
        if chosen.length_scale == scale:
            place = grid.sizes.index(chosen.size), grid.regularizations.index(chosen.regularization)
            axes.plot(*place, marker="*", color="#ffffff", markersize=13, markeredgecolor=RED, clip_on=False)
    bar = figure.colorbar(image, ax=list(panels), shrink=0.9, pad=0.01)
    bar.ax.tick_params(labelsize=8, which="both")
    bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    bar.ax.yaxis.set_minor_formatter(NullFormatter())
    bar.set_label("named wrong [%]", fontsize=8)
