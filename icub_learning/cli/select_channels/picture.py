"""The picture of `select-channels`: importance of each channel and how often it counts."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from icub_learning.reporting.plots import save, style

MOST_CHANNELS = 40
MATTERS, REST = "#2a9d5c", "#b8bec6"


def draw(path: Path, output: str, ranking: Any) -> None:
    """Bars of the most important channels, importance on the left and frequency on the right."""
    n = min(len(ranking.names), MOST_CHANNELS)
    figure = Figure(figsize=(10, 1.2 + 0.24 * n), layout="constrained", facecolor="white")
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(1.6, 1))
    places = np.arange(n)
    colours = [MATTERS if matters else REST for matters in ranking.matters[:n]]
    left.barh(places, ranking.importance[:n], xerr=ranking.spread[:n], color=colours, ecolor="#22262b", capsize=2)
    left.set_yticks(places, ranking.names[:n])
    left.invert_yaxis()
    left.set_xlim(left=0)
    left.set_xlabel("part of all weights, ± over resamples", fontsize=8)
    style(left, "importance")
    right.barh(places, ranking.frequency[:n], color=colours)
    right.set_xlim(0, 1)
    right.set_xlabel("part of the resamples", fontsize=8)
    style(right, "stands out from the decoys")
    kept = f"{n} of {len(ranking.names)} channels" if n < len(ranking.names) else f"{n} channels"
    figure.suptitle(f"{output}: {kept}, those that matter in green", x=0.01, ha="left", fontsize=11, fontweight="bold")
    save(figure, path)
