"""The picture beside table 6.2: errors of all methods and the published ones, and SIGM's error by passes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from icub_learning.reporting.plots import save, style

OURS, THEIRS = "#2a9d5c", "#b8bec6"
LINES = {"SIGM C": "#3d7ea6", "SIGM D": "#d1495b"}


def draw(
    path: Path,
    found: Mapping[str, Sequence[tuple[float, float, float]]],
    published: Mapping[str, Any],
    curves: Mapping[str, Sequence[Any]],
) -> None:
    """Draw. `path` ends in .png, .pdf or .svg.

    Args:
        path: of the picture.
        found, published: by method: hinge loss, error [%] and seconds.
        curves: of methods with passes: for each trial, hinge loss and error after each pass.
    """
    figure = Figure(figsize=(11, 4.2), layout="constrained", facecolor="white")
    left, right = figure.subplots(1, 2)
    places = np.arange(len(found))
    values = np.array([[one[1] for one in some] for some in found.values()])
    mean, deviation = zip(*(one[1] for one in published.values()), strict=True)
    shape = {"capsize": 3, "ecolor": "#22262b", "width": 0.38}
    left.bar(places - 0.2, values.mean(axis=1), yerr=values.std(axis=1), color=OURS, label="ours", **shape)
    left.bar(places + 0.2, mean, yerr=deviation, color=THEIRS, label="published", **shape)
    left.set_xticks(places, list(found))
    left.set_ylim(bottom=0)
    left.legend(frameon=False, fontsize=8)
    style(left, "wrong in tests, mean and deviation over trials", "%")
    for name, colour in LINES.items():
        errors = np.array(curves[name])[:, :, 0]
        passes = np.arange(1, errors.shape[1] + 1)
        middle, spread = errors.mean(axis=0), errors.std(axis=0)
        right.plot(passes, middle, color=colour, label=name, linewidth=1.5)
        right.fill_between(passes, middle - spread, middle + spread, color=colour, alpha=0.15, linewidth=0)
    right.set_xscale("log")
    right.set_xticks([1, 2, 5, 10, 20, 50], ["1", "2", "5", "10", "20", "50"])
    right.minorticks_off()
    right.set_xlim(1, passes[-1])
    right.set_ylim(bottom=0)
    right.set_xlabel("passes", fontsize=8)
    right.legend(frameon=False, fontsize=8)
    style(right, "hinge loss in tests by passes")
    figure.suptitle("Breast cancer, stochastic gradients", x=0.01, ha="left", fontsize=11, fontweight="bold")
    save(figure, path)
