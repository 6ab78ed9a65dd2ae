"""FALKON against direct Nyström, KRLS and scikit-learn over the number of samples."""

import argparse
from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from icub_learning.evaluation.metrics import group_rmse
from icub_learning.experiments.measuring import seconds, slope
from icub_learning.experiments.options import add_common_options, checked_seed
from icub_learning.experiments.panels import Panel, draw
from icub_learning.kernel_methods import FALKON, KRLS, NystromKRLS
from icub_learning.reporting.tables import number, save_figures, table

DESCRIPTION = """\
A smooth function of 10 inputs with noise, Gaussian kernel of sigma 3. n grows to 100000, with m centres ~ sqrt(n) (1000
at the end) and lambda = 1e-6, on which direct Nyström, FALKON and scikit-learn's Nystroem with Ridge solve the same
problem with the same centres; KRLS as far as n^2 numbers fit (n = 4000). Errors are against the function without noise.
Then FALKON's error by iterations. Published: MillionSongs, SUSY and others, which are not in the public packages this
command knows; their ratios of times are beside ours.

example:
  icub-learning reproduce falkon --json out/falkon.json"""
# MillionSongs: mean squared error, relative error and seconds.
PUBLISHED = {
    "FALKON": (80.30, 4.51e-3, 55.0),
    "preconditioned KRR": (None, 4.58e-3, 289.0),
    "divide and conquer": (80.35, None, 737.0),
    "random features": (80.93, None, 772.0),
    "Nyström": (80.38, None, 876.0),
}
SIZES = ((2000, 140), (4000, 200), (10_000, 316), (30_000, 548), (100_000, 1000))
QUICK = ((500, 30), (1000, 60), (2000, 100))
MOST_KRLS = 4000
SIGMA, LAMBDA, NOISE, INPUTS, TEST = 3.0, 1e-6, 0.3, 10, 5000
METHODS = {"falkon": "FALKON", "nystrom": "direct Nyström", "sklearn": "scikit-learn Nystroem + Ridge", "krls": "KRLS"}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this experiment."""
    add_common_options(parser, "samples and centres", quick=True)


def run(args: argparse.Namespace) -> None:
    """Measure, print and draw."""
    seed = checked_seed(args)
    sizes = QUICK if args.quick else SIZES
    with threadpool_limits(2, "blas"):
        rows = [_measure(n, m, seed) for n, m in tqdm(sizes, "n", disable=None, leave=False)]
    cells = []
    for row in rows:
        times = [number(row.get(f"{name}_s")) for name in METHODS]
        errors = [number(row.get(f"{name}_error"), 4) for name in METHODS]
        cells.append([str(row["n"]), str(row["m"]), *times, *errors])
    short = ["FALKON", "Nyström", "sklearn", "KRLS"]
    print(f"{INPUTS} inputs, sigma {SIGMA}, lambda {LAMBDA:g}, two BLAS threads\n")
    print(table(["n", "m", *short, *short], cells, [("", 1), ("fit [s]", 4), ("RMSE", 4)]))
    last = rows[-1]
    print(
        f"\nn = {last['n']}, m = {last['m']}: FALKON takes {last['falkon_iterations']} iterations to a residual of"
        f" 1e-3, has {last['falkon_error'] / last['nystrom_error']:.4f} times the error of direct Nyström and is"
        f" {last['nystrom_s'] / last['falkon_s']:.2f} times faster than it, {last['sklearn_s'] / last['falkon_s']:.2f}"
        f" times faster than scikit-learn.\nIterations to within 1 % of direct Nyström's error: "
        + ", ".join(f"{row['iterations_to_1_percent']} at n = {row['n']}" for row in rows)
    )
    falkon = [row["falkon_s"] for row in rows]
    growth = slope([row["n"] for row in rows[-3:]], falkon[-3:])
    print(f"Time grows as n^{growth:.2f} with m ~ sqrt(n) (published: n^1.5).")
    head = ["published, MillionSongs", "MSE", "relative error", "time [s]", "over FALKON's"]
    fastest = PUBLISHED["FALKON"][2]
    published = [
        [name, number(square, 4), number(relative), number(time), f"{time / fastest:.1f}"]
        for name, (square, relative, time) in PUBLISHED.items()
    ]
    print("\n" + table(head, published))
    ours, theirs = last["nystrom_s"] / last["falkon_s"], PUBLISHED["Nyström"][2] / fastest
    relation = "more" if ours > theirs else "less"
    print(
        f"\nOurs gains {ours:.1f} times over direct Nyström, {relation} than the published {theirs:.1f}, which is of"
        " other data, 463715 samples, and other machines."
    )
    picture = args.out / "falkon.png"
    panels = []
    for key, title, label in (("s", "fit, m ~ √n", "time [s]"), ("error", "error", "RMSE")):
        lines = {}
        for name, text in METHODS.items():
            some = [row for row in rows if f"{name}_{key}" in row]
            lines[text] = ([row["n"] for row in some], [row[f"{name}_{key}"] for row in some])
        ns = [row["n"] for row in rows]
        law = {"n^1.5": (ns, [falkon[-1] * (n / last["n"]) ** 1.5 for n in ns])} if key == "s" else {}
        panels.append(Panel(title, "samples n", label, lines, law))
    panels.append(
        Panel(
            "FALKON by iterations",
            "iterations",
            "RMSE over direct Nyström's",
            {f"n = {row['n']}": (range(1, len(row["path"]) + 1), row["path"]) for row in rows},
            linear_x=True,
            linear_y=True,
        )
    )
    draw(picture, "FALKON, direct Nyström and KRLS", panels)
    save_figures(args.json, {"seed": seed, "rows": rows, "growth": growth, "published": PUBLISHED})


def _measure(n: int, m: int, seed: int) -> dict[str, Any]:
    """Times and errors of all methods on the same samples and centres."""
    random = np.random.default_rng([seed, n])
    x = random.normal(size=(n + TEST, INPUTS))
    clean = np.sin(2 * x[:, 0]) + np.cos(x[:, 1] * x[:, 2]) + 0.5 * np.tanh(x[:, 3:].sum(axis=1))
    y = clean + NOISE * random.normal(size=len(x))
    mean = y[:n].mean()
    y, clean, train, test = y - mean, clean - mean, slice(0, n), slice(n, None)
    # scikit-learn draws its centres itself: they are given to the others, so that all solve the same problem.
    features = Nystroem(gamma=1 / (2 * SIGMA**2), n_components=m, random_state=seed)
    reference = make_pipeline(features, Ridge(alpha=LAMBDA * n, fit_intercept=False))
    row: dict[str, Any] = {"n": n, "m": m, "sklearn_s": seconds(reference.fit, x[train], y[train])}
    settings: dict[str, Any] = {"length_scale": SIGMA, "regularization": LAMBDA}
    models: dict[str, Any] = {
        "sklearn": reference,
        "nystrom": NystromKRLS(centers=features.components_, **settings),
        "falkon": FALKON(centers=features.components_, tol=1e-3, random_state=seed, **settings),
    }
    if n <= MOST_KRLS:
        models["krls"] = KRLS(**settings)
    for name, model in models.items():
        if name != "sklearn":
            row[f"{name}_s"] = min(seconds(model.fit, x[train], y[train]) for _ in range(2))
        row[f"{name}_error"] = group_rmse(model.predict(x[test]) - clean[test])
    row["falkon_iterations"] = models["falkon"].n_iter_
    path = [
        group_rmse(one[:, 0] - clean[test]) / row["nystrom_error"] for one in models["falkon"].predict_path(x[test])
    ]
    row["path"] = path
    near = np.abs(np.array(path) - 1) <= 0.01
    row["iterations_to_1_percent"] = int(near.argmax()) + 1 if near.any() else None
    return row
