"""The picture of figure 4.1: validation errors over centres and lambda, a panel for each data set."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from icub_learning.reporting.plots import save, style

MARKS = ("o", "s", "*")  # of the two published points and the best of the surface
INK = "#d1495b"


def draw(path: Path, results: dict[str, dict[str, Any]]) -> None:
    """Draw one map for each data set. `path` ends in .png, .pdf or .svg."""
    figure = Figure(figsize=(5.6 * len(results), 4.4), layout="constrained", facecolor="white")
    panels = figure.subplots(1, len(results), squeeze=False)[0]
    for axes, (name, found) in zip(panels, results.items(), strict=True):
        surface = np.asarray(found["surface"])
        # Beyond twice the median all is equally bad; the colours are for the valley.
        top = min(surface.max(), 2 * np.median(surface))
        levels = np.log10(found["levels"])
        mesh = axes.pcolormesh(found["sizes"], levels, surface, cmap="viridis_r", vmax=top, shading="nearest")
        bar = figure.colorbar(mesh, ax=axes, extend="max" if surface.max() > top else "neither")
        bar.set_label(f"validation {found['unit']}", fontsize=8)
        bar.ax.tick_params(labelsize=8)
        handles = []
        for mark, row in zip(MARKS, found["rows"], strict=False):
            size = 13 if mark == "*" else 9
            shape: dict[str, Any] = {"marker": mark, "markersize": size, "color": "white", "markeredgecolor": INK}
            shape["linestyle"] = "none"
            axes.plot([row["m"]], [np.log10(row["lambda"])], clip_on=False, zorder=3, **shape)
            what = "ours, best" if mark == "*" else "published point"
            digits = f"{row['test']:.3g}"
            handles.append(Line2D([], [], label=f"{what}: m {row['m']}, λ {row['lambda']:.2g}, test {digits}", **shape))
        axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(0, -0.14), frameon=False, fontsize=8)
        axes.set_xlabel("centres m", fontsize=8)
        style(axes, f"{name}, σ = {found['length_scale']}", "log10 λ")
        axes.grid(False)
    figure.suptitle("Nyström KRLS: validation errors", x=0.01, ha="left", fontsize=11, fontweight="bold")
    save(figure, path)
