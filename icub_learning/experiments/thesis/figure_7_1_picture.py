"""The picture of figure 7.1: two clouds of points, and boundaries for each share of the first."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from icub_learning.experiments.thesis.two_gaussians import Case, X, Y
from icub_learning.reporting.plots import save, style

LINES = {
    "standard": ("#22262b", (0, (4, 2)), "optimal, standard loss"),
    "rebalanced": ("#22262b", "-", "optimal, rebalanced loss"),
    "alpha0": ("#d1495b", (0, (4, 2)), "learned, alpha = 0"),
    "alpha1": ("#2a9d5c", "-", "learned, alpha = 1"),
}
POINTS = {1: "#7fb2d6", -1: "#e3b96b"}


def draw(path: Path, cases: Sequence[Case]) -> None:
    """Draw one panel for each gamma. `path` ends in .png, .pdf or .svg."""
    figure = Figure(figsize=(3.2 * len(cases), 3.4), layout="constrained", facecolor="white")
    for column, case in enumerate(cases):
        axes = figure.add_subplot(1, len(cases), column + 1)
        for value, colour in POINTS.items():
            points = case.examples[case.classes == value]
            axes.plot(*points.T, ".", color=colour, markersize=2)
        for name, (colour, dashes, _) in LINES.items():
            axes.contour(X, Y, case.values[name], levels=[0.0], colors=colour, linestyles=[dashes], linewidths=1.3)
        style(axes, f"gamma = {case.gamma:.1f}")
        axes.set_xlim(-2.5, 2.5)
        axes.set_ylim(-2.0, 2.0)
        axes.set_aspect("equal")
    handles = [Line2D([], [], color=colour, linestyle=dashes) for colour, dashes, _ in LINES.values()]
    figure.legend(
        handles, [text for *_, text in LINES.values()], loc="outside lower center", ncols=4, frameon=False, fontsize=8
    )
    save(figure, path)
