"""`reproduce falkon`: FALKON against direct Nyström and KRLS: time, error and iterations over n (FALKON paper)."""

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

from threadpoolctl import threadpool_limits
from tqdm import tqdm

from icub_learning.experiments.comparison import THEORY, TIME, Comparison, Figures
from icub_learning.experiments.falkon_rivals import INPUTS, METHODS, SIGMA, measure, measure_theory
from icub_learning.experiments.measuring import slope
from icub_learning.experiments.options import checked_seed, options
from icub_learning.experiments.panels import Panel, draw
from icub_learning.reporting.tables import number, save_figures, table

DESCRIPTION = """\
A smooth function of 10 inputs with noise, Gaussian kernel of sigma 3; errors are against the function without noise.

First as in the theorem on FALKON: lambda = n^(-1/2), m = n^(1/2) centres, t = log n iterations, for which the squared
error falls at least as n^(-1/2). The rivals have the same lambda, the same centres and as many random features.

Then with m ~ sqrt(n) (1000 at n = 100000) and the lambda of the least held-out error in the training samples, chosen
for methods on centres, for random features and for KRLS. Direct Nyström, FALKON and scikit-learn's Nystroem with Ridge
solve the same problem on the same centres, and so do KRLS and its preconditioned iterations, as far as n^2 numbers fit
(4000) or can be computed again in each iteration (10000). Then FALKON's error by iterations.

Published: MillionSongs, SUSY and others, which are not in the public packages this command knows; their ratios of times
are beside ours."""
# MillionSongs: mean squared error, relative error and seconds.
PUBLISHED = {
    "FALKON": (80.30, 4.51e-3, 55.0),
    "preconditioned KRR": (None, 4.58e-3, 289.0),
    "divide and conquer": (80.35, None, 737.0),
    "random features": (80.93, None, 772.0),
    "Nyström": (80.38, None, 876.0),
}
SIZES = ((2000, 140), (4000, 200), (10_000, 316), (30_000, 548), (100_000, 1000))
QUICK_SIZES = ((500, 30), (1000, 60), (2000, 100))
SHORT = {
    "falkon": "FALKON", "nystrom": "Nyström", "sklearn": "sklearn", "features": "features",
    "preconditioned": "prec. KRLS", "krls": "KRLS",
}  # fmt: skip
PUBLISHED_NAMES = {"Nyström": "nystrom", "random features": "features", "preconditioned KRR": "preconditioned"}
add_options = options("samples and centres", quick=True)


def run(args: argparse.Namespace) -> None:
    seed = checked_seed(args)
    sizes = QUICK_SIZES if args.quick else SIZES
    with threadpool_limits(2, "blas"):
        theory = [measure_theory(n, seed) for n, _ in tqdm(sizes, "theory, n", disable=None, leave=False)]
        rows = [measure(n, m, seed) for n, m in tqdm(sizes, "n", disable=None, leave=False)]
    print(f"{INPUTS} inputs, sigma {SIGMA}, two BLAS threads\n\nlambda = n^(-1/2), m = n^(1/2), t = log n\n")
    print(_theory_text(theory))
    print("\nlambda by held-out error\n")
    print(_table(rows, ("n", "m")))
    print("\nlambda for centres, random features, KRLS: " + "; ".join(
        f"{', '.join(number(row['lambda'][name], 1) for name in ('nystrom', 'features', 'krls'))} at n = {row['n']}"
        for row in rows
    ))  # fmt: skip
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
    for theirs, name in PUBLISHED_NAMES.items():
        most = [row for row in rows if f"{name}_s" in row][-1]
        ours, published_ratio = most[f"{name}_s"] / most["falkon_s"], PUBLISHED[theirs][2] / fastest
        relation = "more" if ours > published_ratio else "less"
        print(f"FALKON gains {ours:.1f} times over {METHODS[name]} at n = {most['n']}, {relation} than the published"
              f" {published_ratio:.1f}.")  # fmt: skip
    print("The published figures are of other data, 463715 samples, and other machines.")
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
    paths = {f"n = {row['n']}": (range(1, len(row["path"]) + 1), row["path"]) for row in rows}
    what = ("FALKON by iterations", "iterations", "RMSE over direct Nyström's")
    panels.append(Panel(*what, paths, linear_x=True, linear_y=True))
    ns = [row["n"] for row in theory]
    squares = {METHODS[name]: (ns, [row[f"{name}_error"] ** 2 for row in theory]) for name in ("falkon", "features")}
    first = theory[0]["falkon_error"] ** 2
    law = {"n^(-1/2)": (ns, [first * (n / ns[0]) ** -0.5 for n in ns])}
    panels.append(Panel("λ = n^(-1/2), m = √n, t = log n", "samples n", "squared error", squares, law))
    draw(picture, "FALKON and its rivals", panels, columns=2)
    save_figures(args.json, {"seed": seed, "theory": theory, "rows": rows, "growth": growth, "published": PUBLISHED})


def comparisons(found: Figures) -> Iterator[Comparison]:
    theory = found["theory"]
    squares = [row["falkon_error"] ** 2 for row in theory]
    yield Comparison("exponent of n in the squared error, theory's setting", slope([r["n"] for r in theory], squares),
                     -0.5, "less", THEORY)  # fmt: skip
    yield Comparison("exponent of n in the time", found["growth"], 1.5, "less", TIME)
    base = found["published"]["FALKON"][2]
    for theirs, name in PUBLISHED_NAMES.items():
        some = [row for row in found["rows"] if f"{name}_s" in row][-1]
        ours, published = some[f"{name}_s"] / some["falkon_s"], found["published"][theirs][2] / base
        yield Comparison(f"time of {theirs} over FALKON's, here at n {some['n']}", ours, published, "more", TIME)


def _table(rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> str:
    names = [name for name in METHODS if any(f"{name}_s" in row for row in rows)]
    cells = []
    for row in rows:
        times = [number(row.get(f"{name}_s")) for name in names]
        errors = [number(row.get(f"{name}_error"), 4) for name in names]
        cells.append([*(number(row[one]) if one == "lambda" else str(row[one]) for one in columns), *times, *errors])
    short = [SHORT[name] for name in names]
    over = [("", len(columns) - 1), ("fit [s]", len(names)), ("RMSE", len(names))]
    return table([*columns, *short, *short], cells, over)


def _theory_text(rows: Sequence[dict[str, Any]]) -> str:
    falls = {
        name: -slope([row["n"] for row in rows], [row[f"{name}_error"] ** 2 for row in rows])
        for name in ("falkon", "nystrom", "features")
    }
    text = ", ".join(f"n^-{value:.2f} with {METHODS[name]}" for name, value in falls.items())
    reached = "as fast as theory promises" if falls["falkon"] >= 0.5 else "more slowly than theory promises"
    return (
        f"{_table(rows, ('n', 'm', 'lambda', 't'))}\n\nThe squared error falls as {text}; theory: n^-0.50 or faster,"
        f" so FALKON's falls {reached}."
    )
