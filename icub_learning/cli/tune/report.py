"""The tables of `icub-learning tune`: errors of each lambda, the choice, and its check on the last part."""

from collections.abc import Mapping
from typing import Any

from icub_learning.reporting.tables import number, table


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
    chosen, check = figures["chosen"], figures["check"]
    rows = [
        [number(level) + ("*" if level == chosen["regularization"] else " "), number(100 * error), number(loss)]
        for level, error, loss in zip(figures["regularizations"], figures["errors"], figures["losses"], strict=True)
    ]
    late = figures["late_errors_while_tuning"]
    edge = "\nIt is at the edge of what was tried (--regularizations); there may be better beyond it."
    blocks = [
        f"{figures['pictures']}: {len(figures['labels'])} objects, tuned on {figures['views_tuned_on']} views",
        f"Classifier rlsc, mean over {figures['folds']} moments:\n"
        + table(["lambda", "named wrong [%]", "squared error"], rows),
        f"chosen *: rlsc with lambda {number(chosen['regularization'])}" + edge * figures["at_the_edge"],
        "Learning the views tuned on one after the other, named wrong in their later half: "
        + ", ".join(f"{name} {100 * value:.1f} %" for name, value in late.items())
        + f". So the classifier is {chosen['classifier']}.",
        f"Check: {figures['views_last']} last views, predicted, then learned, named wrong: "
        + ", ".join(f"{name} {number(value * figures['views_last'])}" for name, value in check.items()),
    ]
    better = "beat" if figures["beats_defaults"] else "do NOT beat"
    blocks.append(f"On these pictures the tuned settings {better} the shipped defaults: {figures['verdict']}.")
    return "\n\n".join(blocks)
