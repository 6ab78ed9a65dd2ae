"""`reproduce beyond`: accelerated NYTRO, chosen features, logistic FALKON, POLK without a step size."""

from typing import Any

from icub_learning.experiments.beyond import features, logistic, nytro, parameter_free
from icub_learning.experiments.options import Arguments, checked_seed, options, progress
from icub_learning.experiments.panels import draw
from icub_learning.reporting.tables import save_figures

DESCRIPTION = """\
What the sources name as open, measured on made-up problems whose truth is known; nothing of it was published there.

nytro: NYTRO with the nu-method, with Nesterov's momentum and with conjugate gradients, beside plain gradient descent
and Nyström KRLS with the best of 30 lambda; iterations and time until the error is within 1 % of that.
features: random features drawn by leverage scores beside uniform ones, error over m, with the best of five lambda; and
Matérn features by Fastfood beside independent ones, error and time for 512 inputs.
logistic: FALKON with the logistic loss beside FALKON on targets -1 and +1 and scikit-learn's LogisticRegression on its
Nystroem features: error, log loss, time. Both FALKONs have the same centres, lambda by held-out log loss.
polk: POLK with the coin-betting schedule, which has no step size, beside constant steps, on polk-multidist's data."""
# Each module has `measure`, which returns figures, and `text` and `panels`, which show them.
PARTS = {"nytro": nytro, "features": features, "logistic": logistic, "polk": parameter_free}
WHICH = {"nargs": "+", "choices": tuple(PARTS), "default": list(PARTS), "help": "default: all"}
add_options = options("all draws", quick=True, parts=WHICH)


def run(args: Arguments) -> None:
    seed = checked_seed(args)
    figures: dict[str, Any] = {"seed": seed, "quick": args.quick}
    panels: list[Any] = []
    for name in progress(dict.fromkeys(args.parts), "parts"):
        part: Any = PARTS[name]
        figures[name] = part.measure(seed, args.quick)
        print(part.text(figures[name]) + "\n", flush=True)
        panels += part.panels(figures[name])
    print("Published: these are outlooks of the sources, without figures.")
    draw(args.out / "beyond.png", "Beyond the sources", panels)
    save_figures(args.json, figures)
