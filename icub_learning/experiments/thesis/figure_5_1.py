"""`reproduce figure-5.1`: features and centres that theory asks for, and those that suffice (thesis 4, 5)."""

from typing import Any

import numpy as np

from icub_learning.arrays import Array, integer
from icub_learning.experiments.figures import THEORY, Comparison, Comparisons, Figures, conclude
from icub_learning.experiments.options import Arguments, checked_seed, options, progress
from icub_learning.experiments.panels import Panel, draw
from icub_learning.kernel_methods import Kernel, diagnostics
from icub_learning.kernel_methods.subsampling.centers import CenterBasis
from icub_learning.kernel_methods.subsampling.least_squares import BasisFeatures
from icub_learning.reporting.tables import number, table

DESCRIPTION = """\
Exponents c of the numbers m = n^c of random features (theorem 11: lambda^-(alpha + (1 + gamma - alpha)(2r - 1))) and of
centres (theorem 1: lambda^-1, with leverage scores lambda^-gamma) that give the optimal rate, lambda = n^(-1 / (2r +
gamma)), over the smoothness r and the decay gamma of the eigenvalues, for alpha = 1 and alpha = gamma.

Then what suffices on n samples of two inputs whose mean and noise are known (Gaussian kernel), beside the bounds of
theorem 5 (delta = 1/4: the risk of Nyström KRLS is at most twice that of KRLS) and of theorem 1, uniform and by
leverage scores. And theorems 2, 3, 4 and 6: KOLS has the risk sigma^2 rank(K) / n, KRLS at lambda* = 1 / (n SNR) at
most sigma^2 d_eff / n, early stopping and NYTRO after t = 1 / (gamma lambda*) iterations at most 4 (1 + 1 / (t - 1))^2
times KRLS's and Nyström KRLS's."""
SCALE, NOISE, DELTA = 0.5, 0.5, 0.25
LEVELS = tuple(10.0**power for power in range(-6, 0))
GRID = 101  # points of r and of gamma
BOUNDS = ("theorem 5", "theorem 1", "theorem 1, leverage")
add_options = options("samples and centres", quick=True, draws=5, samples={"type": int, "help": "n (default: 1000)"})


def run(args: Arguments) -> None:
    seed, draws = checked_seed(args), integer("--draws", args.draws, 1)
    n = integer("--samples", args.samples if args.samples is not None else 200 if args.quick else 1000, 50)
    problem = Problem(n, seed)
    rows = [problem.compare(level, draws, seed) for level in progress(LEVELS, "lambda")]
    head = ["lambda", "d_eff", "dimension", "suffices", "theorem 5", "uniform", "leverage", "bound / suffices"]
    cells = [
        [f"{row['lambda']:.0e}", number(row["effective"]), number(row["maximal"]), str(row["enough"]),
         *(str(row[name]) for name in BOUNDS), number(row["theorem 5"] / row["enough"])]
        for row in rows
    ]  # fmt: skip
    print(f"n = {n}, Gaussian kernel of sigma {SCALE}, noise {NOISE}, {draws} draws of centres: numbers of centres m\n")
    print(table(head, cells, [("dimensions", 2), ("m that", 1), ("m by", 1), ("by theorem 1", 2), ("theorem 5", 1)]))
    checks = problem.check(seed)
    cells = [[name, number(risk, 4), number(bound, 4)] for name, (risk, bound) in checks.items()]
    print("\nExpected risks, fixed design\n\n" + table(["", "ours", "published bound"], cells))
    maps, panels = exponents(), []
    for name, values in list(maps.items())[2:]:
        curves = {f"γ = {maps['gamma'][k]:g}": (maps["r"], values[k]) for k in range(0, GRID, GRID // 4)}
        title = name.replace("alpha", "α").replace("gamma", "γ")
        panels.append(Panel(title, "r", "c, m = n^c", curves, linear_x=True, linear_y=True))
    draw(args.out / "figure-5.1.png", "Features and centres for optimal rates", panels, columns=2)
    over = {name: (LEVELS, [row[name] for row in rows]) for name in ("enough", *BOUNDS, "effective", "maximal")}
    lines = {"suffices (risk at most twice KRLS's)": over["enough"], **{name: over[name] for name in BOUNDS}}
    dimensions = {name: over[name] for name in ("effective", "maximal")}
    ratios = {f"λ = {row['lambda']:.0e}": (row["path"]["m"], row["path"]["ratio"]) for row in rows}
    panels = [
        Panel("centres m", "λ", "m", lines, {f"n = {n}": (LEVELS, [n] * len(LEVELS))}),
        Panel("dimensions", "λ", "dimension", dimensions, {"1 / λ": (LEVELS, [1 / level for level in LEVELS])}),
        Panel("expected risk over KRLS's", "centres m", "ratio", ratios, {"1 + 4 δ": ([2, n], [1 + 4 * DELTA] * 2)}),
    ]
    draw(args.out / "figure-5.1-centres.png", "Centres: bounds, and what suffices", panels)
    conclude(args, {"seed": seed, "n": n, "rows": rows, "checks": checks, "maps": maps}, comparisons)


def comparisons(found: Figures) -> Comparisons:
    for row in found["rows"]:
        what = f"centres for twice KRLS's risk, lambda {row['lambda']:.0e}, beside theorem 5's"
        yield Comparison(what, row["enough"], row["theorem 5"], "less", THEORY)
    for name, (risk, bound) in found["checks"].items():
        if "theorem 2" not in name:  # theorem 2 is an equality, not a bound
            yield Comparison(f"{name}: expected risk beside its bound", risk, bound, "less", THEORY)


def exponents() -> dict[str, Any]:
    """Return "r", "gamma" and for each panel of figure 5.1 the exponents c, m = n^c, by gamma (rows) and r."""
    r, gamma = np.linspace(0.5, 1.0, GRID), np.linspace(0.0, 1.0, GRID)[:, None]
    scale = 2 * r + gamma

    def features(alpha: Any) -> Array:
        return np.asarray((alpha + (1 + gamma - alpha) * (2 * r - 1)) / scale)

    found = {"random features, alpha = 1": features(1.0), "random features, alpha = gamma": features(gamma)}
    found |= {"Nyström, uniform": 1 / scale, "Nyström, leverage scores": gamma / scale}
    return {"r": r, "gamma": gamma[:, 0], **found}


class Problem:
    """Samples x in [-1, 1]^2 with y = mu + noise, whose mean, noise variance and kernel matrix are known."""

    def __init__(self, n: int, seed: int) -> None:
        self.x = np.random.default_rng(seed).uniform(-1, 1, (n, 2))
        self.kernel = Kernel("gaussian", SCALE)
        self.values, self.vectors = np.linalg.eigh(self.kernel.gram(self.x))
        self.values = np.maximum(self.values, 0.0)
        sources = np.random.default_rng([seed, 1]).uniform(-1, 1, (8, 2))
        weights = np.random.default_rng([seed, 2]).normal(size=8)
        self.mean = self.kernel(self.x, sources) @ weights  # mu, a function in the kernel's space
        self.n = n

    def risk(self, filtered: Array) -> float:
        """Return the expected risk of Q y, where Q has the eigenvectors of K and the eigenvalues `filtered` (n,)."""
        left = (1 - filtered) * (self.vectors.T @ self.mean)
        return float(NOISE**2 * (filtered**2).sum() + left @ left) / self.n

    def nystrom_features(self, m: int, random: np.random.Generator) -> Array:
        """Return A = K_nm R (n, k) of m uniform centres."""
        return BasisFeatures(CenterBasis(self.kernel, self.x[random.permutation(self.n)[:m]]))(self.x)

    def compare(self, level: float, draws: int, seed: int) -> dict[str, Any]:
        """Return bounds at lambda, the least m that suffices ("enough"), dimensions, and "path", risk ratios over m."""
        ridge = level * self.n
        scores = diagnostics.leverage_scores(self.x, length_scale=SCALE, regularization=level)
        effective, maximal = float(scores.sum()), float(self.n * scores.max())
        base = self.risk(self.values / (self.values + ridge))
        sizes = np.unique(np.geomspace(2, self.n, 24).astype(int))
        ratios = []
        for m in sizes:
            some = []
            for draw_ in range(draws):
                a = self.nystrom_features(int(m), np.random.default_rng([seed, draw_, int(m)]))
                smoother = a @ np.linalg.solve(a.T @ a + ridge * np.eye(a.shape[1]), a.T)
                some.append(diagnostics.fixed_design_risk(smoother, self.mean, NOISE**2))
            ratios.append(float(np.mean(some)) / base)
        return {
            "lambda": level, "effective": effective, "maximal": maximal,
            "enough": next(int(m) for m, ratio in zip(sizes, ratios, strict=True) if ratio <= 1 + 4 * DELTA),
            "theorem 5": diagnostics.centers_for_expected_risk(maximal, self.n, float(self.values[-1]), level, DELTA),
            "theorem 1": diagnostics.centers_for_optimal_rate(maximal, 1.0, level, DELTA),
            "theorem 1, leverage": diagnostics.leverage_centers_for_optimal_rate(effective, self.n, DELTA),
            "path": {"m": sizes, "ratio": ratios},
        }  # fmt: skip

    def check(self, seed: int) -> dict[str, tuple[float, float]]:
        """Return expected risks and the bounds of theorems 2, 3, 4 and 6 on them, by name."""
        positive = self.values > self.values[-1] * self.n * np.finfo(float).eps
        ratio = float(((self.vectors.T @ self.mean)[positive] ** 2 / self.values[positive]).sum()) / NOISE**2
        level = 1 / (self.n * ratio)
        shrunk = self.values / (self.values + level * self.n)
        t = max(2, round(1 / level))  # gamma = 1 / max k(x, x) = 1
        early = self.risk(1 - (1 - self.values / self.n) ** t)
        factor = 4 * (1 + 1 / (t - 1)) ** 2
        a = self.nystrom_features(min(50, self.n), np.random.default_rng([seed, 3]))
        u, s, _ = np.linalg.svd(a, full_matrices=False)
        smoothers = [(u * gains) @ u.T for gains in (s**2 / (s**2 + self.n / t), 1 - (1 - s**2 / self.n) ** t)]
        nystrom, nytro = (diagnostics.fixed_design_risk(one, self.mean, NOISE**2) for one in smoothers)
        return {
            "theorem 2: KOLS": (self.risk(positive.astype(float)), NOISE**2 * int(positive.sum()) / self.n),
            "theorem 3: KRLS at 1 / (n SNR)": (self.risk(shrunk), NOISE**2 * float(shrunk.sum()) / self.n),
            "theorem 4: early stopping": (early, factor * self.risk(self.values / (self.values + self.n / t))),
            "theorem 6: NYTRO, m 50": (nytro, factor * nystrom),
        }
