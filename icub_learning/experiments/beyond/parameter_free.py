"""POLK by coin betting, which has no step size, beside constant steps."""

from typing import Any

import numpy as np

from icub_learning.experiments.figures import gathered
from icub_learning.experiments.panels import Panel
from icub_learning.experiments.polk.multidist import SETTINGS, sample_mixtures
from icub_learning.kernel_methods import POLKClassifier
from icub_learning.reporting.tables import number, table

STEPS = (0.02, 0.06, 0.2, 0.6, 2.0, 6.0, 20.0, 60.0)
LOSSES = ("hinge", "logistic")
PARSIMONY = 0.04
COINS = {"coin, batches of 32": 32, "coin, one by one": 1}


def measure(seed: int, quick: bool) -> dict[str, Any]:
    """Return excess errors and orders by loss and by step size, and of coin betting."""
    draws = 1 if quick else 5
    found: dict[str, Any] = {"draws": draws, "steps": STEPS[1::2] if quick else STEPS, "losses": {}}
    common = {"length_scale": SETTINGS["length_scale"], "parsimony": PARSIMONY}
    for loss in LOSSES:
        learners: dict[str, dict[str, Any]] = {
            f"eta {step:g}": {"step_size": step, "regularization": 1e-6, "batch_size": 32} for step in found["steps"]
        }
        learners |= {name: {"schedule": "coin", "batch_size": batch} for name, batch in COINS.items()}
        outcomes: list[dict[str, Any]] = []
        for draw in range(draws):
            train, test, bayes = sample_mixtures(seed + draw)
            outcomes.append({})
            for name, settings in learners.items():
                # The average covers the last 1024 samples, whatever the batch.
                averaging = 1024 // settings["batch_size"]
                model = POLKClassifier(loss=loss, averaging=averaging, **common, **settings).fit(*train)
                outcomes[-1][name] = {"excess error": 1 - model.score(*test) - bayes, "order": model.model_order_}
        found["losses"][loss] = gathered(outcomes)
    return found


def text(found: dict[str, Any]) -> str:
    rows = []
    for name in found["losses"][LOSSES[0]]:
        of_losses = [found["losses"][loss][name] for loss in LOSSES]
        means = [(100 * np.mean(one["excess error"]), np.mean(one["order"])) for one in of_losses]
        rows.append([name, *(number(float(value)) for pair in means for value in pair)])
    title = f"POLK without a step size, {found['draws']} draws, K {PARSIMONY}: error over the Bayes error\n"
    return title + table(["", *["excess [%]", "points"] * 2], rows, [(loss, 2) for loss in LOSSES])


def panels(found: dict[str, Any]) -> list[Panel]:
    steps = found["steps"]
    lines, levels = {}, {}
    for loss in LOSSES:
        one = found["losses"][loss]
        lines[f"constant, {loss}"] = (steps, [100 * np.mean(one[f"eta {step:g}"]["excess error"]) for step in steps])
        coin = min(100 * float(np.mean(one[name]["excess error"])) for name in COINS)
        levels[f"coin, {loss}"] = ([steps[0], steps[-1]], [coin] * 2)
    return [Panel("POLK", "step size η", "error over the Bayes error [%]", lines, levels, linear_y=True)]
