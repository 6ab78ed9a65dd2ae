"""`reproduce tensor-selection`: tensor kernels: true features found among 5000 from few samples."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import Lasso

from icub_learning.arrays import Array
from icub_learning.experiments.figures import SAME, Comparison, Comparisons, Figures, conclude, gathered, seconds
from icub_learning.experiments.options import Arguments, options, progress, seeds
from icub_learning.kernel_methods import TensorKernelRegressor
from icub_learning.reporting.plots import GREEN, GREY, RED, new_figure, save, style
from icub_learning.reporting.tables import number, table

DESCRIPTION = """\
X ~ N(0, 1), d = 5000, s = 17 true weights of sizes 0.7 to 1, noise 0.05, 4000 samples of which m are trained on
(subsampling); features count where |w_j| > 2 std(w). The linear tensor kernel of order 4 needs no tensor. Published,
one run with gamma chosen by hand: m 120 11 true and 223 false, m 140 13 and 202, m 160 13 and 184. gamma is chosen
here by the error on 500 further samples. Beside it scikit-learn's Lasso, its strength chosen the same way. The picture
has the weights of the first draw, as figures 20 to 22 and 25 to 27."""
N, D, S, NOISE, VALIDATION = 4000, 5000, 17, 0.05, 500
SIZES = (120, 140, 160)
GAMMAS = (0.01, 0.1, 1.0, 10.0)
ALPHAS = (0.02, 0.05, 0.1, 0.2)
PUBLISHED = {120: (11, 223), 140: (13, 202), 160: (13, 184)}
QUICK = ("--draws", "1")
add_options = options("the first problem", draws=5)


def run(args: Arguments) -> None:
    found: dict[tuple[int, str], list[dict[str, float]]] = {}
    weights: dict[int, tuple[Array, NDArray[np.intp]]] = {}  # weights and true features of the first draw, by m
    for seed in progress(seeds(args), "draws"):
        random = np.random.default_rng(seed)
        # Only the samples that are used are drawn, which is the same as choosing m of 4000.
        x = random.normal(size=(max(SIZES) + VALIDATION, D))
        w = np.zeros(D)
        support = random.choice(D, S, replace=False)
        w[support] = np.sign(random.normal(size=S)) * (1 - 0.3 * random.uniform(size=S))
        y = x @ w + NOISE * random.normal(size=len(x))
        held = slice(len(x) - VALIDATION, None)
        for m in SIZES:
            models = [TensorKernelRegressor(gamma=gamma) for gamma in GAMMAS]
            rivals = [Lasso(alpha=alpha, fit_intercept=False, max_iter=5000) for alpha in ALPHAS]
            for name, candidates in (("order 4", models), ("lasso", rivals)):
                took = sum(seconds(model.fit, x[:m], y[:m]) for model in candidates) / len(candidates)
                best = min(candidates, key=lambda model: float(np.sum((model.predict(x[held]) - y[held]) ** 2)))
                size = np.abs(best.coef_)
                chosen = np.flatnonzero(size > 2 * best.coef_.std())
                true = int(np.isin(chosen, support).sum())
                if name == "order 4":
                    weights.setdefault(m, (best.coef_, support))
                top = int(np.isin(np.argsort(-size)[:S], support).sum())
                outcome = {"true": true, "false": len(chosen) - true, "true in top 17": top, "seconds": took}
                found.setdefault((m, name), []).append(outcome)
    figures = {f"m {m}, {name}": gathered(outcomes) for (m, name), outcomes in found.items()}
    rows = []
    for (m, name), one in zip(found, figures.values(), strict=True):
        published = PUBLISHED[m] if name == "order 4" else ("-", "-")
        rows.append([f"m {m}, {name}", *(number(float(np.mean(k))) for k in one.values()), *map(str, published)])
    head = ["samples, method", "true", "false", "true in top 17", "s a fit", "true", "false"]
    print(f"d {D}, s {S}: features with |w_j| > 2 std(w), mean of {args.draws} draws")
    print(table(head, rows, [("here", 4), ("published", 2)]))
    _draw(args.out / "tensor-selection.png", weights)
    conclude(args, {"draws": args.draws, "seed": args.seed, "found": figures, "published": PUBLISHED}, comparisons)


def comparisons(found: Figures) -> Comparisons:
    for m, (true, false) in found["published"].items():
        ours = found["found"][f"m {m}, order 4"]
        for what, published, better in (("true", true, "more"), ("false", false, "less")):
            mean, spread = float(np.mean(ours[what])), float(np.std(ours[what]))
            yield Comparison(f"m {m}: {what} features found", mean, published, better, SAME, spread)


def _draw(path: Path, weights: Mapping[int, tuple[Array, NDArray[np.intp]]]) -> None:
    figure = new_figure(14, 3.8)
    for axes, (m, (values, support)) in zip(figure.subplots(1, len(weights)), weights.items(), strict=True):
        bound = 2 * values.std()
        over = np.flatnonzero(np.abs(values) > bound)
        true = np.intersect1d(over, support)
        axes.plot(values, color=GREY, linewidth=0.6)
        axes.plot(over, values[over], ".", color=RED, markersize=2, label=f"over the threshold: {len(over)}")
        axes.plot(true, values[true], ".", color=GREEN, markersize=8, label=f"true: {len(true)} of {len(support)}")
        for edge in (-bound, bound):
            axes.axhline(edge, color=GREY, linestyle="--", linewidth=0.8)
        axes.legend(frameon=False, fontsize=8)
        style(axes, f"m = {m}", "weight", "feature")
    save(figure, path, "Features found by the tensor kernel of order 4", "--out")
