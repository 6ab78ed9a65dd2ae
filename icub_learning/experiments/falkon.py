"""`reproduce falkon`: FALKON against direct Nyström and KRLS: time, error and iterations over n (FALKON paper)."""

import warnings
from collections.abc import Mapping, Sequence
from math import ceil, log, sqrt
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

from icub_learning.evaluation.metrics import group_rmse, path_errors
from icub_learning.experiments.figures import THEORY, TIME, Comparison, Comparisons, Figures, conclude, seconds, slope
from icub_learning.experiments.options import Arguments, checked_seed, options, progress
from icub_learning.experiments.panels import Panel, draw
from icub_learning.kernel_methods import FALKON, KRLS, Kernel, NystromKRLS, PreconditionedKRLS, RandomFeaturesKRLS
from icub_learning.reporting.tables import number, table

DESCRIPTION = """\
Functions of 10 inputs with noise, Gaussian kernel of sigma 3; errors are against the function without noise.

First as in the theorem on FALKON: lambda = n^(-1/2), m = n^(1/2) centres, t = log n iterations, for which the squared
error falls at least as n^(-1/2), times a factor that grows with the norm of the function in the kernel's space. So the
function is one of norm 3 there, a sum of 20 kernels. The rivals have the same lambda, the same centres and as many
random features. Then a smooth function outside of that space is learned with m ~ sqrt(n) (1000 at n = 100000) and the
lambda of the least held-out error in the training samples, chosen for methods on centres, for random features and for
KRLS. Methods on centres have the same ones; KRLS goes as far as n^2 numbers fit (4000), its iterations to 10000.

Published: times on MillionSongs, SUSY and others, which are in no package; those of the rivals were measured on other
machines than FALKON's, so that their ratio says nothing, and none is compared."""
# Published times [s] on MillionSongs, 463715 samples, by the names that the methods have here.
PUBLISHED = {"falkon": 55.0, "preconditioned": 289.0, "divide and conquer": 737.0, "features": 772.0, "nystrom": 876.0}
SIZES = ((2000, 140), (4000, 200), (10_000, 316), (30_000, 548), (100_000, 1000))
QUICK_SIZES = ((500, 30), (1000, 60), (2000, 100))
SIGMA, NOISE, INPUTS, TEST = 3.0, 0.3, 10, 5000
TERMS, NORM = 20, 3.0  # number of kernels in the function of the kernel's space, and its norm there
LAMBDAS = tuple(10.0**power for power in range(-8, 0))
MOST_KRLS, MOST_PRECONDITIONED = 4000, 10_000  # most samples for KRLS and for its preconditioned form
MOST_CHOOSING, MOST_CHOOSING_KRLS = 20_000, 2000  # most samples to choose lambda on, the last fifth held out
METHODS = {
    "falkon": "FALKON", "nystrom": "Nyström", "sklearn": "scikit-learn",
    "features": "random features", "preconditioned": "prec. KRLS", "krls": "KRLS",
}  # fmt: skip
add_options = options("samples and centres", quick=True)


def run(args: Arguments) -> None:
    seed = checked_seed(args)
    sizes = QUICK_SIZES if args.quick else SIZES
    with threadpool_limits(2, "blas"):
        theory = [measure_theory(n, seed) for n, _ in progress(sizes, "theory, n")]
        rows = [measure(n, m, seed) for n, m in progress(sizes, "n")]
    ns = [n for n, _ in sizes]
    squares = {name: [row[f"{name}_error"] ** 2 for row in theory] for name in ("falkon", "nystrom", "features")}
    falls = ", ".join(f"n^{slope(ns, errors):.2f} with {METHODS[name]}" for name, errors in squares.items())
    falkon, last = [row["falkon_s"] for row in rows], rows[-1]
    growth = slope(ns[-3:], falkon[-3:]) if sizes is SIZES else None  # quick fits, of milliseconds, have no law
    print(f"{INPUTS} inputs, sigma {SIGMA}, two BLAS threads\n\nlambda = n^(-1/2), m = n^(1/2), t = log n\n")
    print(_table(theory, ("n", "m", "lambda", "t")))
    print(f"\nThe squared error falls as {falls}; theory: n^-0.50 or faster.\n\nlambda by held-out error\n")
    print(_table(rows, ("n", "m")))
    print("\nlambda for centres, random features, KRLS: " + "; ".join(
        f"{', '.join(number(level, 1) for level in row['lambda'].values())} at n = {row['n']}" for row in rows
    ))  # fmt: skip
    print(
        f"\nn = {last['n']}, m = {last['m']}: FALKON takes {last['falkon_iterations']} iterations to a residual of"
        f" 1e-3, and has {last['falkon_error'] / last['nystrom_error']:.4f} times the error of direct Nyström, in"
        f" {last['falkon_s'] / last['nystrom_s']:.2f} times its time, {last['falkon_s'] / last['sklearn_s']:.2f} times"
        f" scikit-learn's.\nIterations to within 1 % of direct Nyström's error: "
        + ", ".join(f"{row['iterations_to_1_percent']} at n = {row['n']}" for row in rows)
        + (f"\nTime grows as n^{growth:.2f} with m ~ sqrt(n) (published: n^1.5).\n" if growth else "\n")
    )
    times = ", ".join(f"{METHODS.get(name, name)} {took:g}" for name, took in PUBLISHED.items())
    print(f"Published, MillionSongs, 463715 samples, several machines [s]: {times}")
    panels = []
    for key, title, label in (("s", "fit, m ~ √n", "time [s]"), ("error", "error", "RMSE")):
        lines = {}
        for name, text in METHODS.items():
            some = [row for row in rows if f"{name}_{key}" in row]
            lines[text] = ([row["n"] for row in some], [row[f"{name}_{key}"] for row in some])
        law = {"n^1.5": (ns, [falkon[-1] * (n / last["n"]) ** 1.5 for n in ns])} if key == "s" else {}
        panels.append(Panel(title, "samples n", label, lines, law))
    paths = {f"n = {row['n']}": (range(1, len(row["path"]) + 1), row["path"]) for row in rows}
    what = ("FALKON by iterations", "iterations", "RMSE over direct Nyström's")
    panels.append(Panel(*what, paths, linear_x=True, linear_y=True))
    lines = {METHODS[name]: (ns, squares[name]) for name in ("falkon", "features")}
    law = {"n^(-1/2)": (ns, [squares["falkon"][0] * (n / ns[0]) ** -0.5 for n in ns])}
    panels.append(Panel("λ = n^(-1/2), m = √n, t = log n", "samples n", "squared error", lines, law))
    draw(args.out / "falkon.png", "FALKON and its rivals", panels, columns=2)
    figures = {"seed": seed, "theory": theory, "rows": rows, "growth": growth, "published": PUBLISHED}
    conclude(args, figures, comparisons)


def comparisons(found: Figures) -> Comparisons:
    falls = slope(*np.transpose([(row["n"], row["falkon_error"] ** 2) for row in found["theory"]]))
    yield Comparison("exponent of n in the squared error, theory's setting", falls, -0.5, "less", THEORY)
    if found["growth"] is not None:
        yield Comparison("exponent of n in the time", found["growth"], 1.5, "less", TIME)


def _table(rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> str:
    shown = {name: title for name, title in METHODS.items() if any(f"{name}_s" in row for row in rows)}
    cells = []
    for row in rows:
        times = [number(row.get(f"{name}_s")) for name in shown]
        errors = [number(row.get(f"{name}_error"), 4) for name in shown]
        cells.append([*(number(row[one]) if one == "lambda" else str(row[one]) for one in columns), *times, *errors])
    over = [("", len(columns) - 1), ("fit [s]", len(shown)), ("RMSE", len(shown))]
    return table([*columns, *shown.values(), *shown.values()], cells, over)


def sample(n: int, seed: int, inside: bool = False) -> Any:
    """Return (x, y) to learn from, (n, 10) and (n,), and (x, f) to test on, where f is free of noise. With `inside`, f
    is a sum of TERMS kernels with norm NORM in their space; else it is smooth but not in that space."""
    random = np.random.default_rng([seed, n])
    x = random.normal(size=(n + TEST, INPUTS))
    clean = np.sin(2 * x[:, 0]) + np.cos(x[:, 1] * x[:, 2]) + 0.5 * np.tanh(x[:, 3:].sum(axis=1))
    if inside:
        kernel, same = Kernel("gaussian", SIGMA), np.random.default_rng(seed)  # the same f for each n
        places, weights = same.normal(size=(TERMS, INPUTS)), same.normal(size=TERMS)
        clean = kernel(x, places) @ weights * NORM / np.sqrt(weights @ kernel.gram(places) @ weights)
    y = clean[:n] + NOISE * random.normal(size=n)
    return (x[:n], y - y.mean()), (x[n:], clean[n:] - y.mean())


def choose_levels(train: Any, m: int, seed: int) -> dict[str, float]:
    """Return the lambda of least held-out error for centres, random features and KRLS, from training samples alone."""
    models: dict[str, Any] = {
        "nystrom": NystromKRLS(n_centers=m, path=LAMBDAS, length_scale=SIGMA, random_state=seed),
        "features": RandomFeaturesKRLS(n_features=m, path=LAMBDAS, length_scale=SIGMA, random_state=seed),
        "krls": KRLS(path=LAMBDAS, length_scale=SIGMA),
    }
    chosen = {}
    for name, model in models.items():
        x, y = (part[: MOST_CHOOSING_KRLS if name == "krls" else MOST_CHOOSING] for part in train)
        learned = 4 * len(x) // 5
        predicted = model.fit(x[:learned], y[:learned]).predict_path(x[learned:])[..., 0]
        chosen[name] = LAMBDAS[int(((predicted - y[learned:]) ** 2).mean(axis=1).argmin())]
    return chosen


def measure(n: int, m: int, seed: int) -> dict[str, Any]:
    """Fit all methods to n samples, each with its own lambda; the three on centres share theirs, and the m centres.

    Returns "n", "m"; NAME_s [s] and NAME_error (RMSE) for each of METHODS that can take n samples; "lambda" by method;
    "falkon_iterations"; "path", FALKON's error by iterations over direct Nyström's; "iterations_to_1_percent".
    """
    train, test = sample(n, seed)
    levels = choose_levels(train, m, seed)
    # scikit-learn draws its centres itself: they are given to the others, so that all solve the same problem.
    centers = Nystroem(gamma=1 / (2 * SIGMA**2), n_components=m, random_state=seed)
    reference = make_pipeline(centers, Ridge(alpha=levels["nystrom"] * n, fit_intercept=False))
    row: dict[str, Any] = {"n": n, "m": m, "lambda": levels, "sklearn_s": seconds(reference.fit, *train)}
    models = _make(n, m, centers.components_, levels, seed)
    row.update(_judge(models, train, test), sklearn_error=group_rmse(reference.predict(test[0]) - test[1]))
    row["falkon_iterations"] = models["falkon"].n_iter_
    row["path"] = [error / row["nystrom_error"] for error in path_errors(models["falkon"], *test)]
    near = np.abs(np.array(row["path"]) - 1) <= 0.01
    row["iterations_to_1_percent"] = int(near.argmax()) + 1 if near.any() else None
    return row


def measure_theory(n: int, seed: int) -> dict[str, Any]:
    """Fit the methods as in the theorem on FALKON: lambda = n^(-1/2), m = n^(1/2) centres, t = log n iterations. The
    rivals have the same lambda and centres, or m features. Returns "n", "m", "lambda", "t", times and errors."""
    train, test = sample(n, seed, inside=True)
    m, level, t = ceil(sqrt(n)), 1 / sqrt(n), ceil(log(n))
    centers = train[0][np.random.default_rng([seed, n, m]).permutation(n)[:m]]
    models = _make(n, m, centers, dict.fromkeys(("nystrom", "features", "krls"), level), seed)
    models["falkon"].set_params(max_iter=t, tol=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the theorem prescribes t iterations
        return {"n": n, "m": m, "lambda": level, "t": t, **_judge(models, train, test)}


def _make(n: int, m: int, centers: Any, levels: Mapping[str, float], seed: int) -> dict[str, Any]:
    common: dict[str, Any] = {"length_scale": SIGMA}
    on_centers = {"centers": centers, "regularization": levels["nystrom"], **common}
    on_all = {"regularization": levels["krls"], **common}
    models: dict[str, Any] = {
        "falkon": FALKON(tol=1e-3, random_state=seed, **on_centers), "nystrom": NystromKRLS(**on_centers),
        "features": RandomFeaturesKRLS(n_features=m, regularization=levels["features"], random_state=seed, **common)
    }  # fmt: skip
    if n <= MOST_PRECONDITIONED:
        models["preconditioned"] = PreconditionedKRLS(centers=centers, tol=1e-3, **on_all)
    if n <= MOST_KRLS:
        models["krls"] = KRLS(**on_all)
    return models


def _judge(models: Mapping[str, Any], train: Any, test: Any) -> dict[str, float]:
    """Return times [s] (of the faster of two fits if the first takes less than 10 s) and test errors of all models."""
    found = {}
    for name, model in models.items():
        took = seconds(model.fit, *train)
        found[f"{name}_s"] = min(took, seconds(model.fit, *train)) if took < 10 else took
        found[f"{name}_error"] = group_rmse(model.predict(test[0]) - test[1])
    return found
