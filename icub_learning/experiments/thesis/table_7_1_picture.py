"""The figure beside table 7.1: accuracy on the late class and on the others, as it is learned (as fig. 7.3)."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from icub_learning.reporting.plots import save, style

COLOURS = {"N": "#d1495b", "RB": "#8a9099", "RC": "#3d7ea6", "RC+": "#2a9d5c"}  # also distinct in grey
LABELS = {
    "N": "N: RLSC",
    "RB": "RB: rebalanced, from scratch",
    "RC": "RC: recoding, chosen as published",
    "RC+": "RC+: recoding, chosen within a standard error",
}


def draw(path: Path, name: str, figures: dict[str, Any]) -> None:
    """Draw mean and standard deviation over trials.

    Args:
        path: .png, .pdf or .svg.
        name: of the data set.
        figures: of the experiment.
    """
    figure = Figure(figsize=(7, 6.5), layout="constrained", facecolor="white")
    n_imb = np.array(figures["n_imb"])
    titles = {"imbalanced": "accuracy on the late class", "balanced": "accuracy on the others"}
    shared = None
    for row, (what, title) in enumerate(titles.items()):
        axes = shared = figure.add_subplot(2, 1, row + 1, sharex=shared)
        for method, colour in COLOURS.items():
            found = figures["accuracy_percent"][method][what]
            mean, deviation = np.array(found["mean"]), np.array(found["std"])
            axes.fill_between(n_imb, mean - deviation, mean + deviation, color=colour, alpha=0.12, linewidth=0)
            dashes = (0, (4, 2)) if method == "RB" else "-"
            axes.plot(n_imb, mean, color=colour, label=LABELS[method], linewidth=1.5, marker=".", linestyle=dashes)
        axes.set_xscale("log")
        axes.set_xticks(n_imb, [str(n) for n in n_imb])
        axes.minorticks_off()
        style(axes, title, "%")
    axes.set_xlabel("examples of the late class", fontsize=8)
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False, fontsize=8)
    title = f"{name}: {figures['n_classes'] - 1} classes with {figures['n_bal']} examples each, and a late one"
    figure.suptitle(title, x=0.01, ha="left", fontsize=10, fontweight="bold")
    save(figure, path)
