"""The tables of `icub-learning tune`: errors over the grid, the choice, and its check on the last part."""

from collections.abc import Mapping
from typing import Any

from icub_learning.arrays import Array
from icub_learning.kernel_methods.tuning import Choice, Grid
from icub_learning.reporting.tables import number, table

OPTIONS = {"length_scale": "--length-scales", "regularization": "--regularizations", "size": "--sizes"}


def surface_table(grid: Mapping[str, Any], errors: Array, chosen: Mapping[str, Any], sizes: str) -> str:
    """Return errors over the grid: rows for length scale and lambda, columns for size; * marks the choice."""
    rows = []
    for i, scale in enumerate(grid["length_scales"]):
        for j, level in enumerate(grid["regularizations"]):
            cells = []
            for k, size in enumerate(grid["sizes"]):
                point = (chosen["length_scale"], chosen["regularization"], chosen["size"])
                mark = "*" if point == (scale, level, size) else " "
                cells.append(number(float(errors[i, j, k]), 4) + mark)
            rows.append([number(scale), number(level), *cells])
    head = ["length scale", "lambda", *(f"{size} " for size in grid["sizes"])]
    return table(head, rows, [("", 1), (sizes, len(grid["sizes"]))])


def edges(grid: Grid, chosen: Choice) -> list[str]:
    """Return the options whose largest or smallest value was chosen, if there were several."""
    found = []
    for name, values in zip(OPTIONS, (grid.length_scales, grid.regularizations, grid.sizes), strict=True):
        if len(values) > 1 and getattr(chosen, name) in (values[0], values[-1]):
            found.append(OPTIONS[name])
    return found


def edge_text(found: list[str]) -> str:
    """Return the options of `edges` in words."""
    return "" if not found else f"\nAt the edge of what was tried: {', '.join(found)}; there may be better beyond it."


def verdict(what: str, ours: float, shipped: float) -> str:
    """Return in words whether the tuned error is better than that of the shipped defaults."""
    pair = f"{what}: {number(ours)} against {number(shipped)} of the shipped defaults"
    if ours == shipped:
        return f"{pair}, no better and no worse"
    if ours > shipped:
        return f"{pair}: does NOT beat them"
    return f"{pair}, {number(shipped / ours)} times better" if ours > 0 else f"{pair}: better"


def objects_text(figures: Mapping[str, Any]) -> str:
    """Return errors, choice and check of the classifier of objects."""
    chosen, check, line = figures["chosen"], figures["check"], figures["linear"]
    rows = [
        [number(level) + ("*" if level == chosen["linear_regularization"] else " "), number(100 * error), number(loss)]
        for level, error, loss in zip(line["regularizations"], line["errors"], line["losses"], strict=True)
    ]
    late = figures["late_errors_while_tuning"]
    blocks = [
        f"{figures['pictures']}: {len(figures['labels'])} objects, tuned on {figures['views_tuned_on']} views",
        f"Linear (classifier rlsc), mean over {figures['folds']} moments:\n"
        + table(["lambda", "named wrong [%]", "squared error"], rows),
        f"Gaussian kernel, batch (for classifier polk), views named wrong [%], mean over {figures['folds']} moments\n"
        + surface_table(figures["grid"], 100 * figures["errors"], chosen, "examples kept as centres"),
        f"chosen *: rlsc with lambda {number(chosen['linear_regularization'])}; polk with length scale"
        f" {number(chosen['length_scale'])} and {chosen['size']} examples" + edge_text(figures["at_the_edge"]),
        "Learning the views tuned on one after the other, named wrong in their later half: "
        + ", ".join(f"{name} {100 * value:.1f} %" for name, value in late.items())
        + f". So the classifier is {chosen['classifier']}.",
        f"Check: {figures['views_last']} last views, predicted, then learned, named wrong: "
        + ", ".join(f"{name} {number(value * figures['views_last'])}" for name, value in check.items()),
    ]
    better = "beat" if figures["beats_defaults"] else "do NOT beat"
    blocks.append(f"On these pictures the tuned settings {better} the shipped defaults: {figures['verdict']}.")
    return "\n\n".join(blocks)
