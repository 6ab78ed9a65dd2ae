"""The picture of `icub-learning tune`: errors of each lambda, and the choice beside the shipped defaults."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from icub_learning.reporting.plots import BLUE, GREEN, RED, new_figure, save, style

COLOURS = {"tuned": GREEN, "defaults": RED}


def draw_objects(path: Path, name: str, shipped: Any, figures: Mapping[str, Any]) -> None:
    """Draw the share of views of the folder `name` that are named wrong: by rlsc in validation, in the last part."""
    figure = new_figure(8.0, 3.2)
    left, right = figure.subplots(1, 2)
    left.semilogx(figures["regularizations"], 100 * np.array(figures["errors"]), marker=".", color=COLOURS["tuned"])
    for value, key in ((figures["chosen"]["regularization"], "tuned"), (shipped.regularization, "defaults")):
        left.axvline(value, color=COLOURS[key], linewidth=1, linestyle=(0, (4, 2)), label=f"lambda, {key}")
    left.set_ylim(bottom=0)
    left.legend(frameon=False, fontsize=8)
    style(left, "classifier rlsc, validation", "named wrong [%]", "lambda")
    names = list(figures["check"])
    values = [100 * figures["check"][one] for one in names]
    bars = right.bar(range(len(names)), values, color=[COLOURS.get(one, BLUE) for one in names])
    right.bar_label(bars, [f"{value:.1f}" for value in values], fontsize=8)
    right.set_xticks(range(len(names)), ["tuned", "shipped", "adaptive", "tuned rlsc"])
    style(right, "last views, predicted, then learned", "named wrong [%]")
    save(figure, path, f"{name}: views named wrong")
