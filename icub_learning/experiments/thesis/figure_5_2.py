"""`reproduce figure-5.2`: random features learn splines at the optimal rate (thesis 5.4)."""

from typing import Any

import numpy as np

from icub_learning.arrays import integer
from icub_learning.experiments.figures import THEORY, Comparison, Comparisons, Figures, conclude, slope
from icub_learning.experiments.options import Arguments, checked_seed, options, progress
from icub_learning.experiments.panels import Panel, draw
from icub_learning.experiments.thesis import spline_rates
from icub_learning.reporting.tables import table

DESCRIPTION = """\
x uniform on [0, 1], features psi(omega, x) = K_{1/(2 gamma)}(omega, x) with spline kernels K_q, f = K_{r/gamma + 1/2 +
epsilon}(., x0), noise of deviation 0.5; n from 1000 to 10000. As published: the lambda at which KRLS has
the least excess risk, then the number of features whose excess risk comes within 5 % of it, both in the mean over draws
(100, as published); excess risks are exact. Likewise the number of Nyström centres, which theorem 1 bounds. Exponents
of n beside those of theorems 11 and 1, errors from leaving out a tenth of the draws. The published figure shows theory
within a standard deviation of the simulation, without numbers."""
CASES = ((11 / 16, 1 / 8), (7 / 8, 1 / 4))
NAMES = {"risk": "excess risk", "regularization": "lambda", "features": "features m", "centers": "centres m"}
DRAWS = {"help": "repetitions for each n (default: 100, as published)"}
QUICK = ("--quick", "--draws", "20")
add_options = options("samples, noise and features", quick=True, draws=DRAWS)


def run(args: Arguments) -> None:
    seed = checked_seed(args)
    draws = integer("--draws", args.draws if args.draws is not None else 5 if args.quick else 100, 2)
    sizes = (500, 1000, 2000) if args.quick else (1000, 1500, 2200, 3200, 4600, 6800, 10000)
    figures: dict[str, Any] = {"seed": seed, "draws": draws, "sizes": sizes, "cases": []}
    panels, rows = [], []
    for r, gamma in CASES:
        measured = [_measure(n, r, gamma, draws, seed) for n in progress(sizes, f"r {r:.3g}, n")]
        theory = spline_rates.rates(r, gamma)
        found, exponents, errors = {}, {}, {}
        for (name, title), of_sizes in zip(NAMES.items(), zip(*measured, strict=True), strict=True):
            found[name] = [value for value, *_ in of_sizes]
            values, *left = np.array(of_sizes, float).T  # from all draws; without a tenth of them, by tenth
            jackknife = (len(left) - 1) / np.sqrt(len(left))
            exponents[name] = slope(sizes, values)
            errors[name] = float(jackknife * np.std([slope(sizes, some) for some in left]))
            middle = np.exp(np.log(values).mean() + theory[name] * np.log(sizes / np.exp(np.log(sizes).mean())))
            ours = {f"simulated, n^{exponents[name]:.2f}": (sizes, values, jackknife * np.std(left, axis=0))}
            law = {f"theory, n^{theory[name]:.2f}": (sizes, middle)}
            panels.append(Panel(f"{title}, r = {r:.4g}, γ = {gamma:.4g}", "samples n", title, ours, law))
            rows.append([f"r = {r:.4g}, gamma = {gamma:.4g}", title, f"{exponents[name]:+.3f} ± {errors[name]:.3f}",
                         f"{theory[name]:+.3f}", f"{exponents[name] - theory[name]:+.3f}"])  # fmt: skip
        case = {"r": r, "gamma": gamma, "exponents": exponents, "their_errors": errors, "theory": theory}
        figures["cases"].append({**case, **found})
    print(f"Exponents of n, n = {sizes[0]} to {sizes[-1]}, {draws} draws each\n")
    print(table(["model", "of", "ours", "theory (published)", "difference"], rows))
    draw(args.out / "figure-5.2.png", "Random features on splines: ± by leaving out a tenth of the draws", panels)
    conclude(args, figures, comparisons)


def comparisons(found: Figures) -> Comparisons:
    for case in found["cases"]:
        for name, theory in case["theory"].items():
            ours, error = case["exponents"][name], case["their_errors"][name]
            what, better = f"r {case['r']:.4g}: exponent of {name}", "" if name == "regularization" else "less"
            why = f"by {(ours - theory) / error:.1f} standard errors of ours" if error else ""
            yield Comparison(what, ours, theory, better, THEORY, error, why)


def _measure(n: int, r: float, gamma: float, draws: int, seed: int) -> Any:
    """Return risks, lambdas, numbers of features and of centres, each from all draws, then without each tenth."""
    simulation = spline_rates.Simulation(n, r, gamma, draws, seed)
    kernel = simulation.kernel_risks()
    risk, level = spline_rates.choose(kernel)
    # Paths end a little below the bound, so that parts of the draws reach it too.
    bound = (1 + spline_rates.NEAR) / 2 * risk
    paths = (simulation.feature_risks(level, bound), simulation.center_risks(level, bound))
    here = int(np.argmin(np.abs(spline_rates.LEVELS - level)))
    outcomes = []
    for part in [np.zeros(0, int), *np.array_split(np.arange(draws), min(10, draws))]:
        some = np.delete(kernel, part, axis=0)
        bound = spline_rates.NEAR * float(some[:, here].mean())
        fewest = [spline_rates.enough(counts, np.delete(risks, part, axis=0), bound) for counts, risks in paths]
        outcomes.append((*spline_rates.choose(some), *fewest))
    return list(zip(*outcomes, strict=True))
