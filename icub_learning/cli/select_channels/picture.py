"""The picture of `select-channels`: importance of each channel and how often it counts."""

from pathlib import Path

import numpy as np

from icub_learning.kernel_methods.tensor.channel_selection import ChannelRanking
from icub_learning.reporting.plots import GREEN, INK, PALE, new_figure, save, style

MOST_CHANNELS = 40  # in the picture


def draw(path: Path, output: str, ranking: ChannelRanking) -> None:
    """Draw bars of the most important channels, importance on the left and frequency on the right."""
    n = min(len(ranking.names), MOST_CHANNELS)
    figure = new_figure(10, 1.2 + 0.24 * n)
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(1.6, 1))
    rows = np.arange(n)
    colours = [GREEN if matters else PALE for matters in ranking.matters[:n]]
    left.barh(rows, ranking.importance[:n], xerr=ranking.spread[:n], color=colours, ecolor=INK, capsize=2)
    left.set_yticks(rows, ranking.names[:n])
    left.invert_yaxis()
    left.set_xlim(left=0)
    style(left, "importance", xlabel="share of all weights, ± over resamples")
    right.barh(rows, ranking.frequency[:n], color=colours)
    right.set_xlim(0, 1)
    style(right, "stands out from the decoys", xlabel="share of the resamples")
    kept = f"{n} of {len(ranking.names)} channels" if n < len(ranking.names) else f"{n} channels"
    save(figure, path, f"{output}: {kept}, those that matter in green")
