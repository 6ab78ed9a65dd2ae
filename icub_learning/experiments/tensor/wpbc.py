"""Tensor kernels on breast cancer prognosis (WPBC): build times and errors of subsamples."""

import argparse

import numpy as np
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from icub_learning.experiments.data.tables import load_wpbc
from icub_learning.experiments.options import add_common_options, add_data_option, seeds
from icub_learning.experiments.tensor.layout import PUBLISHED_BUILD, compare
from icub_learning.kernel_methods import TensorKernelRegressor
from icub_learning.reporting.tables import number, save_figures, table

DESCRIPTION = """\
The Wisconsin prognostic breast cancer data, 194 patients of 32 features, from Debian's package r-cran-th.data, fetched
once (reading it needs the Python package rdata); the target is the time in months. Build times of the polynomial tensor
kernel of degree 2 and order 4 on 60 and 120 patients, full and packed; then, as published, training on m of 60
patients, gamma chosen on 60 others, judged on the rest; mean squared error of targets of unit variance. The published
errors are in figures only; they hardly depend on m.

example:
  icub-learning reproduce tensor-wpbc --json out/tensor-wpbc.json"""
SIZES = (30, 40, 50, 60)
GAMMAS = (1e-3, 1e-2, 0.1, 1.0, 10.0)
TRAIN = VALIDATION = 60


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this experiment."""
    add_data_option(parser, ".deb of r-cran-th.data, its folder with Rdata.rdb, or a .csv (default: the package)")
    add_common_options(parser, "the first split and its subsamples", picture=False, draws=5)


def run(args: argparse.Namespace) -> None:
    """Time both layouts, then learn from subsamples and print errors."""
    draws = seeds(args)
    x, y = load_wpbc(args.data)
    x = (x - x.mean(axis=0)) / x.std(axis=0) / x.shape[1] ** 0.25
    y = (y - y.mean()) / y.std()
    with threadpool_limits(1):
        times = [compare(n, x[:n], y[:n]) for n in (60, 120)]
        errors: dict[int, list[float]] = {m: [] for m in SIZES}
        for seed in tqdm(draws, "draws", disable=None, leave=False):
            order = np.random.default_rng(seed).permutation(len(x))
            train, held, test = np.split(order, [TRAIN, TRAIN + VALIDATION])
            for m in SIZES:
                best = (np.inf, np.inf)
                for gamma in GAMMAS:
                    model = TensorKernelRegressor(
                        kernel="polynomial", degree=2, gamma=gamma, n_subsample=m, random_state=seed, tol=1e-6
                    ).fit(x[train], y[train])
                    wrong = [float(np.mean((model.predict(x[rows]) - y[rows]) ** 2)) for rows in (held, test)]
                    best = min(best, (wrong[0], wrong[1]))
                errors[m].append(best[1])
    rows = []
    for one in times:
        n = one["n"]
        full = one["full"]["build"] if "full" in one else None
        published = [number(1e3 * seconds) for seconds in PUBLISHED_BUILD[n]]
        rows.append([str(n), number(full and 1e3 * full), number(1e3 * one["packed"]["build"]), *published])
    head = ["patients", "full", "packed", "full", "packed"]
    print(table(head, rows, [("build here [ms]", 2), ("published [ms]", 2)]))
    print()
    found = [[str(m), number(float(np.mean(one))), number(float(np.std(one)))] for m, one in errors.items()]
    print(table(["m", "test error", "± draws"], found))
    save_figures(args.json, {"build": times, "errors": errors, "draws": args.draws, "seed": args.seed})
