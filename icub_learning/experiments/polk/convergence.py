"""`reproduce polk-convergence`: POLK towards the best function: theorems 1 to 3 with their rates (POLK paper)."""

from itertools import pairwise
from typing import Any

import numpy as np

from icub_learning.arrays import Array, integer
from icub_learning.experiments.figures import THEORY, Comparison, Comparisons, Figures, conclude, gathered, slope
from icub_learning.experiments.options import Arguments, options, progress, seeds
from icub_learning.experiments.panels import Panel, draw
from icub_learning.kernel_methods import Kernel, POLKRegressor
from icub_learning.reporting.tables import number, table

DESCRIPTION = """\
Square loss, x uniform on 40 points of [-1, 1], y = a sine + noise, lambda = 0.01: the best function of the regularized
risk is the solution of a linear system, and the distance to it in the kernel's space a sum. Published: with diminishing
steps (eta_t = eta t^(-3/4), epsilon_t = eta_t^2) the iterates converge to it, the number of points without a bound
(theorem 1); with a constant step and epsilon = K eta^(3/2) they reach a neighbourhood of radius sqrt(eta) / lambda
(K + sqrt(K^2 + lambda sigma^2)) (theorem 2), and the number of points stays bounded (theorem 3). Measured: the power of
t with which distance and risk fall, the power of eta of the distance that remains, which the bound has at 1/2, and
whether the bound holds. The published table has no numbers but these."""
POINTS, SCALE, NOISE, LAMBDA = 40, 0.2, 0.3, 0.01
STEPS, PARSIMONY = (0.4, 0.2, 0.1, 0.05, 0.025), 0.05
FIRST = 1.0  # eta of the diminishing schedule
LOOKS = 40
SAMPLES = {"type": int, "help": "samples of each run (default: 100000)"}
QUICK = ("--quick", "--draws", "1")
add_options = options("samples", quick=True, draws=3, samples=SAMPLES)


def run(args: Arguments) -> None:
    n = integer("--samples", args.samples if args.samples is not None else 10_000 if args.quick else 100_000, 1000)
    steps = STEPS[:3] if args.quick else STEPS
    problem = Problem()
    runs: dict[str, Any] = {"diminishing": {"schedule": "diminishing", "step_size": FIRST}}
    runs |= {f"eta {step:g}": {"schedule": "constant", "step_size": step} for step in steps}
    found: dict[str, Any] = {}
    for name, settings in progress(runs.items(), "schedules"):
        outcomes = gathered([problem.follow(settings, n, seed) for seed in seeds(args)])
        found[name] = {key: np.mean(of_draws, axis=0) for key, of_draws in outcomes.items()}
        found[name]["variance"] = max(outcomes["variance"])
    figures, rows = _summary(found, steps), []
    for name, one in figures["runs"].items():
        cells = [number(one[key]) for key in ("distance", "closest", "bound", "risk")]
        rows.append([name, *cells, str(round(one["points"])), str(round(one["most points"]))])
    head = ["", "at the end", "closest", "bound", "risk - least", "points", "most"]
    print(f"{n} samples, {args.draws} draws; |f*| = {problem.norm:.3g}\n")
    print(table(head, rows, [("distance to f*", 3), ("", 1), ("points", 2)]))
    powers = figures["powers"]
    print(
        f"\nDiminishing steps: distance ~ t^{powers['distance']:+.2f}, risk - least ~ t^{powers['risk']:+.2f}, points ~"
        f" t^{powers['points']:+.2f} over the last nine tenths of the logarithm of t (published: both to 0, points"
        f" without a bound).\nConstant steps: what remains ~ eta^{powers['remaining']:+.2f} (the bound: eta^+0.50); the"
        f" bound of theorem 2 is {figures['loose']:.0f} times the distance."
    )
    panels = []
    for key, label in (("distances", "distance to f*"), ("risks", "risk - least"), ("orders", "points")):
        lines = {name: (one["t"], np.maximum(one[key], 1e-9)) for name, one in found.items()}
        panels.append(Panel(label, "samples t", label, lines))
    constant = [figures["runs"][f"eta {step:g}"] for step in steps]
    over = {key: (steps, [one[key] for one in constant]) for key in ("distance", "closest", "bound")}
    lines = {"remains": over["distance"], "closest": over["closest"]}
    panels.append(Panel("theorem 2", "step size η", "distance to f*", lines, {"bound": over["bound"]}))
    draw(args.out / "polk-convergence.png", "POLK: theorems 1 to 3", panels, columns=2)
    conclude(args, {"seed": args.seed, "draws": args.draws, "samples": n, **figures, "paths": found}, comparisons)


def comparisons(found: Figures) -> Comparisons:
    for name, one in found["runs"].items():
        if one["bound"] is not None:
            yield Comparison(f"{name}: distance to f*, beside its bound", one["closest"], one["bound"], "less", THEORY)
    yield Comparison("power of eta in the distance that remains", found["powers"]["remaining"], 0.5, kind=THEORY)


class Problem:
    """Regression on POINTS points, where the function f* that minimizes E (f - y)^2 / 2 + LAMBDA / 2 |f|^2 is known."""

    def __init__(self) -> None:
        self.x = np.linspace(-1, 1, POINTS)[:, None]
        self.kernel = Kernel("gaussian", SCALE)
        self.mean = np.sin(5 * self.x[:, 0])
        self.gram = self.kernel.gram(self.x)
        self.best = np.linalg.solve(self.gram + LAMBDA * POINTS * np.eye(POINTS), self.mean)
        self.norm = float(np.sqrt(self.best @ self.gram @ self.best))

    def distance(self, points: Array, weights: Array) -> float:
        """Return |f - f*| in the kernel's space for f = sum_j weights_j k(points_j, .) with at least one point."""
        own = float(weights @ self.kernel(points, points) @ weights)
        across = float(self.best @ self.kernel(self.x, points) @ weights)
        return float(np.sqrt(max(own - 2 * across + self.norm**2, 0.0)))

    def bias(self, points: Array, weights: Any) -> float:
        """Return the mean squared difference of f from the mean of y."""
        return float(np.mean((self.kernel(self.x, points) @ weights - self.mean) ** 2))

    def risk(self, points: Array, weights: Any) -> float:
        """Return the regularized risk of f, without the variance of the noise."""
        return self.bias(points, weights) / 2 + LAMBDA / 2 * float(weights @ self.kernel(points, points) @ weights)

    def follow(self, settings: dict[str, Any], n: int, seed: int) -> dict[str, Any]:
        """Learn n samples; return "t", "distances", "risks", "orders" (k,), and the largest gradient "variance"."""
        random = np.random.default_rng(seed)
        chosen = random.integers(POINTS, size=n)
        y = self.mean[chosen] + NOISE * random.uniform(-(3**0.5), 3**0.5, size=n)
        model = POLKRegressor(length_scale=SCALE, regularization=LAMBDA, parsimony=PARSIMONY, **settings)
        least = self.risk(self.x, self.best)
        stops = np.unique(np.geomspace(10, n, LOOKS).astype(int))
        found: dict[str, Any] = {"t": stops, "distances": [], "risks": [], "orders": [], "variance": 0.0}
        for seen, stop in pairwise([0, *stops]):
            model.partial_fit(self.x[chosen[seen:stop]], y[seen:stop])
            points, weights = model.dictionary_, model.coef_[:, 0]
            found["distances"].append(self.distance(points, weights))
            found["risks"].append(self.risk(points, weights) - least)
            found["orders"].append(model.model_order_)
            found["variance"] = max(found["variance"], self.bias(points, weights) + NOISE**2)  # E |g|^2, k(x, x) = 1
        return found


def _summary(found: dict[str, Any], steps: Any) -> dict[str, Any]:
    """Return the last values and the bound of each run, and the powers of t and eta."""
    runs: dict[str, Any] = {}
    for name, one in found.items():
        tail = one["t"] >= one["t"][-1] / 4
        runs[name] = {
            "distance": float(one["distances"][tail].mean()), "closest": float(one["distances"].min()),
            "risk": float(one["risks"][tail].mean()), "points": float(one["orders"][-1]),
            "most points": float(one["orders"].max()), "bound": None,
        }  # fmt: skip
        if name != "diminishing":
            model = POLKRegressor(regularization=LAMBDA, parsimony=PARSIMONY, step_size=float(name.split()[1]))
            runs[name]["bound"] = model.limit_radius(one["variance"])
    some = found["diminishing"]
    late = some["t"] >= some["t"][-1] ** 0.1 * some["t"][0] ** 0.9
    powers = {
        key: slope(some["t"][late], np.maximum(some[plural][late], 1e-12))
        for key, plural in (("distance", "distances"), ("risk", "risks"), ("points", "orders"))
    }
    constant = [runs[f"eta {step:g}"] for step in steps]
    return {
        "runs": runs, "powers": {**powers, "remaining": slope(steps, [one["distance"] for one in constant])},
        "holds": all(one["closest"] <= one["bound"] for one in constant),
        "loose": float(np.mean([one["bound"] / one["distance"] for one in constant]))
    }  # fmt: skip
