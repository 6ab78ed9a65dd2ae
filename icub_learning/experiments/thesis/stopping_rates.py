"""`reproduce corollaries-6`: SGM stopped as corollaries 2 to 9 say: excess risks on a known problem (thesis 6.3)."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from scipy.special import expit

from icub_learning.arrays import Array, integer
from icub_learning.experiments.figures import THEORY, Comparison, Comparisons, Figures, conclude, slope
from icub_learning.experiments.options import Arguments, checked_seed, options, progress
from icub_learning.experiments.panels import Panel, draw
from icub_learning.experiments.thesis.spline_rates import basis, decay, truth
from icub_learning.reporting.tables import number, table

DESCRIPTION = """\
x uniform on [0, 1], the spline kernel of order 2 (figure 5.2's with gamma = 1/2), and a function f of which the
exponent beta of the approximation error is known: 1 (f in the kernel's space) and 1/2. The smooth loss is the logistic
one, with labels of probability 1 / (1 + exp(-f)); the other is the absolute one, with y = f + uniform noise. Both have
f as their best function, and the excess risk is a sum over x. SGM draws samples with replacement and stops where each
corollary says:
  2, 6   constant steps eta n^(-1/2), t* iterations (more than a pass for beta < 1)
  3, 7   steps eta t^(-1/2), t* iterations
  4, 8   one pass, constant steps tuned to beta
  5, 9   one pass, decaying steps tuned to beta
and the theorem of the slides on batches, for the square loss and f in the space: with (b, eta, t) = (1, n^(-1/2), n),
(n^(1/2), 1, n^(1/2)) and (n, 1, n^(1/2)), which is gradient descent, the risk is at most of order n^(-1/2).
The bounds are n^(-beta / (beta + 1)) log n (2 to 5) and n^(-beta / (2 beta + 1)) log n (6 to 9), for the last iterate
and for the average. They are bounds: a risk that falls faster agrees with them. Beside the risk at t* the least one of
all iterations, which nobody knows who does not know f: how far it lies below is what stopping as they say costs."""
GAMMA, NOISE = 0.5, 1.0  # gamma of the kernel; half the width of the uniform noise
SMOOTHNESS = {1.0: 0.5, 0.5: 0.25}  # r of f = K_{r / gamma + 1/2 + epsilon}, by beta
BETAS = {"logistic": (1.0, 0.5), "absolute": (1.0, 0.5), "square": (1.0,)}  # betas with stated rates, by loss
GRID = 400  # points of x that risks are summed over
LOOKS = 24  # iterations of a run at which the risk is computed
FURTHER = 4  # length of a run as a multiple of t*, to see what stopping at t* costs
SIZES, QUICK_SIZES = (250, 500, 1000, 2000, 4000), (100, 200, 400)


@dataclass(frozen=True)
class Corollary:
    """A choice of steps and of the number of iterations, with its bound."""

    name: int | str  # its number in the thesis, or the batch in the slides
    loss: str  # "logistic", "absolute" or "square"
    constant: bool  # whether the steps are constant powers of n, else they are powers of t
    power: Callable[[float], float]  # function of beta: minus the exponent of n or t in the steps
    stop: Callable[[float], float]  # function of beta: exponent of n in t*
    batch: float = 0.0  # exponent of n in the batch size


# Minus the exponent of n in the bound, a function of beta, by loss.
RATES: dict[str, Callable[[float], float]] = {
    "logistic": lambda b: b / (b + 1), "absolute": lambda b: b / (2 * b + 1), "square": lambda b: 0.5
}  # fmt: skip
COROLLARIES = (
    Corollary(2, "logistic", True, lambda b: 0.5, lambda b: (b + 3) / (2 * (b + 1))),
    Corollary(3, "logistic", False, lambda b: 0.5, lambda b: 2 / (b + 1)),
    Corollary(4, "logistic", True, RATES["logistic"], lambda b: 1.0),
    Corollary(5, "logistic", False, RATES["logistic"], lambda b: 1.0),
    Corollary(6, "absolute", True, lambda b: 0.5, lambda b: (2 * b + 3) / (4 * b + 2)),
    Corollary(7, "absolute", False, lambda b: 0.5, lambda b: 2 / (2 * b + 1)),
    Corollary(8, "absolute", True, lambda b: 2 * RATES["absolute"](b), lambda b: 1.0),
    Corollary(9, "absolute", False, lambda b: 2 * RATES["absolute"](b), lambda b: 1.0),
    Corollary("b = 1", "square", True, lambda b: 0.5, lambda b: 1.0),
    Corollary("b = n^(1/2)", "square", True, lambda b: 0.0, lambda b: 0.5, 0.5),
    Corollary("b = n", "square", True, lambda b: 0.0, lambda b: 0.5, 1.0),
)
add_options = options("samples and their order", quick=True, draws={"help": "repetitions for each n (default: 20)"})


def run(args: Arguments) -> None:
    seed = checked_seed(args)
    draws = integer("--draws", args.draws if args.draws is not None else 5 if args.quick else 20, 1)
    sizes = QUICK_SIZES if args.quick else SIZES
    cases = [
        _summary(one, beta, sizes, [simulate(one, beta, n, draws, seed) for n in sizes])
        for one in progress(COROLLARIES, "corollaries")
        for beta in BETAS[one.loss]
    ]
    print(f"n = {sizes[0]} to {sizes[-1]}, {draws} draws: exponents of n in the excess risk\n")
    head = ["corollary, loss", "beta", "t* / n", "iterate", "average", "power", "with log n", "iterate", "average",
            "over the least"]  # fmt: skip
    last = f"n = {sizes[-1]}"
    over = [("", 1), (last, 1), ("risk ~ n^", 2), ("bound ~ n^", 2), (f"risk, {last}", 2), ("", 1)]
    rows = [
        [f"{case['corollary']}, {case['loss']}", f"{case['beta']:g}", number(case["passes"]),
         *(f"{case['exponents'][name]:+.3f}" for name in ("iterate", "average", "power", "bound")),
         *(number(case["risks"][name][-1]) for name in ("iterate", "average")), number(case["over the least"])]
        for case in cases
    ]  # fmt: skip
    print(table(head, rows, over) + "\n\nPublished: bounds without figures.")
    panels = _panels(sizes, cases)
    draw(args.out / "corollaries-6.png", "Stochastic gradients stopped early: a problem with known f", panels)
    conclude(args, {"seed": seed, "draws": draws, "sizes": sizes, "cases": cases}, comparisons)


def comparisons(found: Figures) -> Comparisons:
    for case in found["cases"]:
        what = f"{case['corollary']}, {case['loss']} loss, beta {case['beta']:g}: exponent of n"
        yield Comparison(what, case["exponents"]["average"], case["exponents"]["bound"], "less", THEORY)


def simulate(one: Corollary, beta: float, n: int, draws: int, seed: int) -> dict[str, Any]:
    """Run SGM on draws of n samples, four times as long as the corollary says. Returns iterations "t" (k,), the index
    "stop" of t* in them, and mean excess risks "iterate" and "average" (k,)."""
    random = np.random.default_rng([seed, COROLLARIES.index(one) + 2, n, round(100 * beta)])
    target, weights = truth(SMOOTHNESS[beta], GAMMA), decay(1 / (2 * GAMMA))
    grid = basis((np.arange(GRID) + 0.5) / GRID)
    best = grid @ target
    features = np.stack([basis(x) for x in random.uniform(size=(draws, n))])
    clean = features @ target
    features = features * weights
    if one.loss == "logistic":
        y = np.where(random.uniform(size=clean.shape) < expit(clean), 1.0, -1.0)
    else:
        y = clean + NOISE * random.uniform(-1, 1, size=clean.shape)
    stop = ceil(n ** one.stop(beta))
    last = FURTHER * stop
    moments = np.unique(np.concatenate([np.geomspace(max(last / 200, 1), last, LOOKS).astype(int), [stop]]))
    # eta_1 is half of its bound 2 / (kappa^2 L), kappa^2 = K(x, x), L = 1 / 4 or 1; 1 for absolute loss, as printed.
    first = 1.0 if one.loss == "absolute" else (4 if one.loss == "logistic" else 1) / float(weights @ weights)
    batch = round(n**one.batch)
    power = -one.power(beta)
    steps = first * (np.full(last, n**power) if one.constant else np.arange(1.0, last + 1) ** power)
    w, total, mean = np.zeros((draws, len(weights))), 0.0, np.zeros((draws, len(weights)))
    rows, risks = np.arange(draws), {"iterate": [], "average": []}  # type: ignore[var-annotated]
    for t in range(1, last + 1):
        phi, own = features, y
        if batch < n:
            chosen = random.integers(n, size=(draws, batch))
            phi, own = features[rows[:, None], chosen], y[rows[:, None], chosen]
        total += steps[t - 1]
        mean += (steps[t - 1] / total) * (w - mean)  # mean of w_1 to w_t with the weights of the thesis
        score = (phi @ w[:, :, None])[:, :, 0]
        derivative = score - own
        if one.loss != "square":
            derivative = -own * expit(-own * score) if one.loss == "logistic" else np.sign(derivative)
        w = w - (steps[t - 1] / batch) * (derivative[:, None] @ phi)[:, 0]
        if t in moments:
            for name, some in (("iterate", w), ("average", mean)):
                risks[name].append(float(excess(one.loss, (some * weights) @ grid.T, best).mean()))
    return {"t": moments, "stop": int(np.searchsorted(moments, stop)), **{k: np.array(v) for k, v in risks.items()}}


def excess(loss: str, scores: Array, best: Array) -> Array:
    """Return excess risks, averaged over x, of functions with values `scores` (draws, k) where f has `best` (k,)."""
    if loss == "logistic":
        chance = expit(best)
        risk, least = (chance * np.logaddexp(0, -f) + (1 - chance) * np.logaddexp(0, f) for f in (scores, best))
        return np.asarray((risk - least).mean(axis=-1))
    off = np.abs(scores - best)
    if loss == "square":
        return np.asarray((off**2).mean(axis=-1))
    # E |a - y| - E |f - y| for y uniform in f +- NOISE
    return np.asarray(np.where(off <= NOISE, off**2 / (2 * NOISE), off - NOISE / 2).mean(axis=-1))


def _summary(one: Corollary, beta: float, sizes: Any, found: list[dict[str, Any]]) -> dict[str, Any]:
    at_stop = {name: [float(some[name][some["stop"]]) for some in found] for name in ("iterate", "average")}
    largest, power = found[-1], -RATES[one.loss](beta)
    return {
        "corollary": one.name, "loss": one.loss, "beta": beta,
        "passes": float(largest["t"][largest["stop"]] / sizes[-1] ** (1 - one.batch)), "risks": at_stop,
        "exponents": {
            **{name: slope(sizes, risk) for name, risk in at_stop.items()}, "power": power,
            "bound": slope(sizes, [n**power * (1 if one.loss == "square" else np.log(n)) for n in sizes]),
        },
        "over the least": at_stop["average"][-1] / float(largest["average"].min()),
        "path": {"t": largest["t"], "iterate": largest["iterate"], "average": largest["average"]}
    }  # fmt: skip


def _panels(sizes: Any, cases: list[dict[str, Any]]) -> list[Panel]:
    panels = []
    for loss, betas in BETAS.items():
        for beta in betas:
            some = [case for case in cases if case["loss"] == loss and case["beta"] == beta]
            kind = "" if loss == "square" else "corollary "
            lines = {f"{kind}{case['corollary']}": (sizes, case["risks"]["average"]) for case in some}
            power = some[0]["exponents"]["power"]
            level = max(case["risks"]["average"][0] for case in some)
            law = {f"n^{power:.2f}": (sizes, [level * (n / sizes[0]) ** power for n in sizes])}
            panels.append(Panel(f"{loss} loss, β = {beta:g}", "samples n", "excess risk of the average", lines, law))
        if loss != "square":  # the first of the corollaries at the last beta, over the passes
            path = some[0]["path"]
            lines = {name: (path["t"] / sizes[-1], path[name]) for name in ("iterate", "average")}
            stop = {"where it stops": ([some[0]["passes"]] * 2, [path["average"].min(), path["average"].max()])}
            title = f"corollary {some[0]['corollary']}, β = {beta:g}, n = {sizes[-1]}"
            panels.append(Panel(title, "passes", "excess risk", lines, stop))
    return panels
