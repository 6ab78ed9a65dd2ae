"""`reproduce figure-7.1`: what unbalanced classes do to a decision boundary, and recoding (thesis 7.3)."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.lines import Line2D

from icub_learning.arrays import Array, integer
from icub_learning.experiments.options import Arguments, checked_seed, options
from icub_learning.features import RandomFourierFeatures
from icub_learning.recognition.classifiers.incremental_classifier import IncrementalClassifier
from icub_learning.reporting.plots import GREEN, INK, RED, new_figure, save, style
from icub_learning.reporting.tables import number, save_figures, table

DESCRIPTION = """\
Two classes in the plane, Gaussian about (-1, 0) and (1, 0) with standard deviations 1 and 0.3; the first is met with
probability gamma. The optimal boundary moves with gamma, the one of the rebalanced loss does not (fig. 7.1). Beside
both: what IncrementalClassifier learns from samples, with random features of the Gaussian kernel, without recoding
(alpha = 0) and with it (alpha = 1). Published: the two optimal boundaries, without numbers."""
MEANS = np.array([[-1.0, 0.0], [1.0, 0.0]])  # means of the classes 1 and -1
DEVIATIONS = np.array([1.0, 0.3])
GAMMAS = (0.5, 0.6, 0.7, 0.8, 0.9)  # probability of class 1
X = np.linspace(-3.0, 3.0, 241)
Y = np.linspace(-2.0, 2.0, 161)
N_RANDOM_FEATURES, LENGTH_SCALE, REGULARIZATION = 300, 0.4, 1e-2
# Colour, dashes and label of each boundary in the picture, and colour of the samples of each class.
LINES = {
    "standard": (INK, (0, (4, 2)), "optimal, standard loss"), "rebalanced": (INK, "-", "optimal, rebalanced loss"),
    "alpha0": (RED, (0, (4, 2)), "learned, alpha = 0"), "alpha1": (GREEN, "-", "learned, alpha = 1")
}  # fmt: skip
POINTS = {1: "#7fb2d6", -1: "#e3b96b"}
QUICK = ("--samples", "4000")
add_options = options("samples and features", samples=(20000, "learned for each gamma"))


def run(args: Arguments) -> None:
    samples, seed = integer("--samples", args.samples, 100), checked_seed(args)
    cases = [compare(gamma, samples, seed) for gamma in GAMMAS]
    crossings = {name: [crossing(values[name]) for values, _ in cases] for name in LINES}
    rows = [[f"{gamma:.1f}", *map(number, row)] for gamma, *row in zip(GAMMAS, *crossings.values(), strict=True)]
    rows.append(["moved by", *(number(max(places) - min(places)) for places in crossings.values())])
    print("Where the boundary crosses the line between the two means (x, from -1 to 1):\n")
    head = ["gamma", "standard", "rebalanced", "alpha = 0", "alpha = 1"]
    print(table(head, rows, [("optimal", 2), (f"learned, {samples} samples", 2)]))
    _draw(args.out / "figure-7.1.png", cases)
    save_figures(args.json, {"gamma": GAMMAS, "samples": samples, "seed": seed, "crossing": crossings})


def crossing(values: Array) -> float:
    """Return x where `values` on the grid fall to zero on the line between the means; NaN if they do not."""
    on_axis = values[len(Y) // 2]
    between = np.flatnonzero((X[:-1] >= -1.0) & (X[1:] <= 1.0) & (on_axis[:-1] > 0) & (on_axis[1:] <= 0))
    if not len(between):
        return float("nan")
    k = between[0]
    return float(X[k] + on_axis[k] / (on_axis[k] - on_axis[k + 1]) * (X[k + 1] - X[k]))


def compare(gamma: float, n_samples: int, seed: int) -> tuple[dict[str, Array], dict[int, Array]]:
    """Return boundaries by the names of LINES, and samples (n, 2) by class.

    A boundary is where a function on the grid, (len(Y), len(X)) and positive for class 1, is zero: the optimal ones of
    the standard and the rebalanced loss (7.6, 7.10), and those that were learned.
    """
    grid = np.stack(np.meshgrid(X, Y), axis=-1)
    squares = ((grid[..., None, :] - MEANS) ** 2).sum(axis=-1) / DEVIATIONS**2  # difference: that of ln rho(x | y)
    difference = (squares[..., 1] - squares[..., 0]) / 2 + 2 * np.log(DEVIATIONS[1] / DEVIATIONS[0])
    rng = np.random.default_rng(seed)
    first = rng.random(n_samples) < gamma
    indices = np.where(first, 0, 1)
    points = MEANS[indices] + DEVIATIONS[indices, None] * rng.standard_normal((n_samples, 2))
    features = RandomFourierFeatures(2, N_RANDOM_FEATURES, LENGTH_SCALE, seed)
    classifier = IncrementalClassifier(2, REGULARIZATION, 0.0, features)
    classifier.learn(points[first], "1")
    classifier.learn(points[~first], "-1")
    values = {"standard": difference + np.log(gamma / (1.0 - gamma)), "rebalanced": difference}
    for name, recoding in (("alpha0", 0.0), ("alpha1", 1.0)):
        classifier.recoding = recoding
        scores = classifier.scores(grid.reshape(-1, 2))
        values[name] = (scores[:, 0] - scores[:, 1]).reshape(grid.shape[:2])
    return values, {1: points[:600][first[:600]], -1: points[:600][~first[:600]]}


def _draw(path: Path, cases: Sequence[tuple[dict[str, Array], dict[int, Array]]]) -> None:
    figure = new_figure(3.2 * len(cases), 3.4)
    for axes, gamma, (values, examples) in zip(figure.subplots(1, len(cases)), GAMMAS, cases, strict=True):
        for label, colour in POINTS.items():
            axes.plot(*examples[label].T, ".", color=colour, markersize=2)
        for name, (colour, dashes, _) in LINES.items():
            axes.contour(X, Y, values[name], levels=[0.0], colors=colour, linestyles=[dashes], linewidths=1.3)
        style(axes, f"gamma = {gamma:.1f}")
        axes.set(xlim=(-2.5, 2.5), ylim=(-2.0, 2.0), aspect="equal")
    handles = [Line2D([], [], color=colour, linestyle=dashes, label=text) for colour, dashes, text in LINES.values()]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    save(figure, path, option="--out")
