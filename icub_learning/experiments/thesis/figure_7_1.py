"""`reproduce figure-7.1`: what unbalanced classes do to a decision boundary, and recoding (thesis 7.3)."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.lines import Line2D

from icub_learning.arrays import integer
from icub_learning.experiments.options import checked_seed, options
from icub_learning.experiments.thesis import two_gaussians
from icub_learning.experiments.thesis.two_gaussians import Case, X, Y
from icub_learning.reporting.plots import GREEN, INK, RED, new_figure, save, style
from icub_learning.reporting.tables import number, save_figures, table

DESCRIPTION = """\
Two classes in the plane, Gaussian about (-1, 0) and (1, 0) with standard deviations 1 and 0.3; the first is met with
probability gamma. The optimal boundary moves with gamma, the one of the rebalanced loss does not (fig. 7.1). Beside
both: what IncrementalClassifier learns from samples, with random features of the Gaussian kernel, without recoding
(alpha = 0) and with it (alpha = 1). Published: the two optimal boundaries, without numbers."""
# Colour, dashes and label of each boundary in the picture, and colour of the samples of each class.
LINES = {
    "standard": (INK, (0, (4, 2)), "optimal, standard loss"),
    "rebalanced": (INK, "-", "optimal, rebalanced loss"),
    "alpha0": (RED, (0, (4, 2)), "learned, alpha = 0"),
    "alpha1": (GREEN, "-", "learned, alpha = 1"),
}
POINTS = {1: "#7fb2d6", -1: "#e3b96b"}
QUICK = ("--samples", "4000")
add_options = options("samples and features", samples=(20000, "learned for each gamma"))


def run(args: argparse.Namespace) -> None:
    samples, seed = integer("--samples", args.samples, 100), checked_seed(args)
    cases = [two_gaussians.compare(gamma, samples, seed) for gamma in two_gaussians.GAMMAS]
    rows = [
        [f"{case.gamma:.1f}", *(number(case.crossing(name)) for name in two_gaussians.BOUNDARIES)] for case in cases
    ]
    rows.append(["moved by", *(number(_spread(cases, name)) for name in two_gaussians.BOUNDARIES)])
    print("Where the boundary crosses the line between the two means (x, from -1 to 1):\n")
    head = ["gamma", "standard", "rebalanced", "alpha = 0", "alpha = 1"]
    print(table(head, rows, [("optimal", 2), (f"learned, {samples} samples", 2)]))
    path = args.out / "figure-7.1.png"
    _draw(path, cases)
    crossings = {name: [case.crossing(name) for case in cases] for name in two_gaussians.BOUNDARIES}
    save_figures(args.json, {"gamma": two_gaussians.GAMMAS, "samples": samples, "seed": seed, "crossing": crossings})


def _spread(cases: list[Any], name: str) -> float:
    places = [case.crossing(name) for case in cases]
    return float(max(places) - min(places))


def _draw(path: Path, cases: Sequence[Case]) -> None:
    """Draw samples and boundaries, a panel for each gamma."""
    figure = new_figure(3.2 * len(cases), 3.4)
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
