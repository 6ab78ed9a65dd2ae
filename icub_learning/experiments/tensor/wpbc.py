"""`reproduce tensor-wpbc`: tensor kernels on WPBC: build times of both layouts, errors of subsamples."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from icub_learning.arrays import Array, integer
from icub_learning.experiments.data.tables import load_wpbc
from icub_learning.experiments.figures import TIME, Comparison, Comparisons, Figures, conclude
from icub_learning.experiments.options import Arguments, checked_seed, options, progress
from icub_learning.experiments.panels import Panel, draw
from icub_learning.experiments.tensor.layout import DEGREE, compare
from icub_learning.kernel_methods import TensorKernelRegressor
from icub_learning.reporting.tables import number, table

DESCRIPTION = """\
The Wisconsin prognostic breast cancer data, 194 patients of 32 features, from Debian's package r-cran-th.data, fetched
once (reading it needs the Python package rdata). Build times of the polynomial tensor kernel of degree 2 and order 4 on
60 and 120 patients, full and packed. Then, as published, training on m of 60 patients, gamma chosen for each m on 60
others, judged on the other 74, for two targets: whether the disease came back, as a regression on +1 and -1, which is
the source's, and the time in months. All m share the splits; a split is learned with 10 subsamples of each m.

Errors are mean squared ones over that of guessing the training mean. The picture has the validation errors, as figure
23. The published errors are in figures only; they hardly depend on m."""
PUBLISHED_BUILD = {60: (0.117, 0.020), 120: (1.884, 0.329)}  # build times [s] by patients, full and packed
SIZES = (30, 40, 50, 60)
GAMMAS = (1e-3, 1e-2, 0.1, 1.0, 10.0)
TRAIN = VALIDATION = 60
TARGETS = {"class": "which class", "time": "time"}
QUICK = ("--splits", "1", "--draws", "2")
add_options = options(
    "the first split and its subsamples",
    data=".deb of r-cran-th.data, its folder with Rdata.rdb, or a .csv (default: the package)", draws=10,
    splits={"type": int, "default": 3, "help": "splits of the patients (default: 3; published: 1)"},
)  # fmt: skip


def run(args: Arguments) -> None:
    seed = checked_seed(args)
    draws, splits = integer("--draws", args.draws, 1), integer("--splits", args.splits, 1)
    data = load_wpbc(args.data)
    found: dict[str, list[dict[int, Any]]] = {name: [] for name in TARGETS}
    with threadpool_limits(1):
        times = []
        for n in (60, 120):
            some = np.arange(n)
            x, y = scale(data.features, some), scale(data.time[:, None], some)[:, 0]
            times.append(compare(n, x[:n] / x.shape[1] ** 0.25, y[:n]))
        for split in progress(range(seed, seed + splits), "splits"):
            parts = np.split(np.random.default_rng(split).permutation(len(data.time)), [TRAIN, TRAIN + VALIDATION])
            for name, target in (("class", data.recurred), ("time", data.time)):
                found[name].append(judge_split(data.features, target, parts, draws, split))
    rows = []
    for one in times:
        ours = [one[layout]["build"] if layout in one else np.nan for layout in ("full", "packed")]
        rows.append([str(one["n"]), *(number(1e3 * seconds) for seconds in (*ours, *PUBLISHED_BUILD[one["n"]]))])
    head = ["patients", "full", "packed", "full", "packed"]
    print(table(head, rows, [(f"build here, degree {DEGREE} [ms]", 2), ("published [ms]", 2)]))
    print(f"\n{splits} splits: {TRAIN} to learn, {VALIDATION} to choose gamma, the rest to judge; {draws} subsamples\n")
    for name, text in TARGETS.items():
        rows = []
        for m in SIZES:
            errors = np.array([one[m]["errors"] for one in found[name]])  # (splits, draws)
            wrong = np.mean([one[m]["wrong"] for one in found[name]]) if name == "class" else np.nan
            values = (errors.mean(), errors.std(axis=1).mean(), errors.mean(axis=1).std(), wrong)
            rows.append([str(m), *map(number, values)])
        print(table([f"{text}, m", "test error", "± subsamples", "± splits", "wrong class [%]"], rows) + "\n")
    guess = 100 * float(min(np.mean(data.recurred > 0), np.mean(data.recurred < 0)))
    print(f"Naming the more frequent class for all patients is wrong in {guess:.1f} %.")
    panels = []
    for name, some_splits in found.items():
        lines = {f"m = {m}": (GAMMAS, np.mean([one[m]["validation"] for one in some_splits], axis=0)) for m in SIZES}
        panels.append(Panel(f"target: {TARGETS[name]}", "γ", "validation error", lines))
    draw(args.out / "tensor-wpbc.png", "Tensor kernel of degree 2 on WPBC", panels)
    conclude(args, {"build": times, "splits": found, "draws": draws, "seed": seed, "degree": DEGREE}, comparisons)


def comparisons(found: Figures) -> Comparisons:
    for one in found["build"]:
        for layout, theirs in zip(("full", "packed"), PUBLISHED_BUILD[one["n"]], strict=True):
            if layout in one:
                what, better = f"{one['n']} patients: build, {layout} [ms]", "less" if layout == "packed" else ""
                yield Comparison(what, 1e3 * one[layout]["build"], round(1e3 * theirs, 6), better, TIME)


def scale(values: Array, training: NDArray[np.intp]) -> Array:
    """Return columns (n, d) with mean 0 and deviation 1 in the rows `training`; a constant one only loses its mean."""
    mean, deviation = values[training].mean(axis=0), values[training].std(axis=0)
    return (values - mean) / np.where(deviation > 0, deviation, 1.0)


def judge_split(features: Array, target: Array, parts: Any, draws: int, seed: int) -> dict[int, Any]:
    """Learn from `draws` subsamples of the training rows of one split, and judge on its test rows.

    `parts` are the indices of training, validation and test rows. Returns by m "gamma", chosen with the first
    subsample; "errors" of each subsample on the test rows, squared, over that of the training mean; "wrong", the mean
    share of wrong signs [%]; the "validation" error for each of GAMMAS.
    """
    train, held, test = parts
    x = scale(features, train) / features.shape[1] ** 0.25
    y = scale(target[:, None], train)[:, 0]
    chance = float(np.mean(y[test] ** 2))
    zero = -target[train].mean() / target[train].std()  # target 0 after scaling
    found = {}

    def learn(m: int, gamma: float, place: int) -> TensorKernelRegressor:
        shared: dict[str, Any] = {"kernel": "polynomial", "degree": DEGREE, "tol": 1e-6}
        model = TensorKernelRegressor(gamma=gamma, n_subsample=m, random_state=1000 * seed + place, **shared)
        return model.fit(x[train], y[train])

    for m in SIZES:
        validation = [float(np.mean((learn(m, gamma, 0).predict(x[held]) - y[held]) ** 2)) for gamma in GAMMAS]
        gamma = GAMMAS[int(np.argmin(validation))]
        errors, wrong = [], []
        for place in range(draws if m < len(train) else 1):
            predicted = learn(m, gamma, place).predict(x[test])
            errors.append(float(np.mean((predicted - y[test]) ** 2)) / chance)
            wrong.append(100.0 * float(np.mean((predicted > zero) != (target[test] > 0))))
        errors += errors[:1] * (draws - len(errors))
        found[m] = {"gamma": gamma, "errors": errors, "wrong": float(np.mean(wrong)), "validation": validation}
    return found
