"""Random features drawn by leverage scores beside uniform ones, and Matérn features by Fastfood."""

from itertools import product
from typing import Any

import numpy as np

from icub_learning.evaluation.metrics import group_rmse
from icub_learning.experiments.falkon import SIGMA, sample
from icub_learning.experiments.figures import seconds
from icub_learning.experiments.panels import Panel
from icub_learning.kernel_methods import Kernel, RandomFeaturesKRLS
from icub_learning.kernel_methods.random_features import CosineFeatures, draw_seeds
from icub_learning.reporting.tables import number, table

DRAWINGS = ("uniform", "leverage")
LEVELS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
WIDE = 512  # number of inputs for the times of Fastfood


def measure(seed: int, quick: bool) -> dict[str, Any]:
    """Return errors and times of both drawings by problem, and kernel errors and times of Matérn features."""
    n, sizes, draws = (800, (25, 50, 100), 2) if quick else (4000, (25, 50, 100, 200, 400), 3)
    found: dict[str, Any] = {"n": n, "m": sizes, "draws": draws, "problems": {}}
    for name, (train, (x, f), scale) in _problems(n, seed).items():
        one: dict[str, Any] = {drawing: {"rmse": [], "seconds": []} for drawing in DRAWINGS}
        for m, drawing in product(sizes, DRAWINGS):
            times, errors = np.empty((2, draws, len(LEVELS)))
            for draw, (place, level) in product(range(draws), enumerate(LEVELS)):
                model = RandomFeaturesKRLS(n_features=m, sampling=drawing, regularization=level,
                                           length_scale=scale, random_state=seed + draw)  # fmt: skip
                times[draw, place] = seconds(model.fit, *train)
                errors[draw, place] = group_rmse(model.predict(x) - f)
            one[drawing]["rmse"].append(float(errors.min(axis=1).mean()))
            one[drawing]["seconds"].append(float(np.median(times)))
        found["problems"][name] = one
    found["Matérn"] = _matern(seed, 256 if quick else 2048)
    return found


def _problems(n: int, seed: int) -> dict[str, Any]:
    """Return (x, y), (x, f) and the length scale by name: ten inputs that matter alike, and two inputs on a line."""
    train, test = sample(n, seed)
    random = np.random.default_rng([seed, 7])
    where = random.uniform(-1, 1, n + 2000)
    x = np.column_stack([where, 0.01 * random.normal(size=len(where))])
    f = np.sin(12 * where) * np.exp(-3 * where**2)
    y = f + 0.3 * random.normal(size=len(f))
    return {"ten inputs": (train, test, SIGMA), "a line": ((x[:n], y[:n]), (x[n:], f[n:]), 0.1)}


def _matern(seed: int, m: int) -> dict[str, Any]:
    """Return the RMSE of the kernel by m features, and seconds for 2000 rows, of both kinds of Matérn features."""
    x = np.random.default_rng(seed).normal(size=(2000, WIDE)) / WIDE**0.5
    kernel = Kernel("matern", 1.0)
    exact = kernel.gram(x[:300])
    found: dict[str, Any] = {"m": m}
    for kind in ("fourier", "fastfood"):
        features = CosineFeatures(kernel, kind, WIDE, m, draw_seeds(seed), m)
        rows = features(x[:300])
        took = min(seconds(features, x) for _ in range(3))
        found[kind] = {"rmse": float(np.sqrt(np.mean((rows @ rows.T - exact) ** 2))), "seconds": took}
    return found


def text(found: dict[str, Any]) -> str:
    """Return the tables, and what leverage scores and Fastfood gain."""
    parts = []
    for name, one in found["problems"].items():
        columns = [[number(error, 4) for error in one[drawing]["rmse"]] for drawing in DRAWINGS]
        columns += [[number(took) for took in one[drawing]["seconds"]] for drawing in DRAWINGS]
        rows = zip(map(str, found["m"]), *columns, strict=True)
        ratio = float(np.mean(np.array(one["leverage"]["rmse"]) / np.array(one["uniform"]["rmse"])))
        parts.append(
            f"Random features by leverage scores, {name}, n {found['n']}, {found['draws']} draws\n"
            + table(["m", *DRAWINGS, *DRAWINGS], rows, [("RMSE", 2), ("fit [s]", 2)])
            + f"\nErrors with leverage scores are {ratio:.3f} times those of uniform features."
        )
    matern = found["Matérn"]
    kinds = matern["fourier"], matern["fastfood"]
    rmse, fast_rmse = (number(one["rmse"]) for one in kinds)
    took, fast_took = (number(1e3 * one["seconds"]) for one in kinds)
    parts.append(
        f"Matérn features of {WIDE} inputs, m {matern['m']}: RMSE of the kernel {rmse} independent, {fast_rmse} by"
        f" Fastfood; {took} and {fast_took} ms for 2000 rows."
    )
    return "\n\n".join(parts)


def panels(found: dict[str, Any]) -> list[Panel]:
    return [
        Panel(f"features on {name}", "m", "RMSE", {one: (found["m"], some[one]["rmse"]) for one in DRAWINGS})
        for name, some in found["problems"].items()
    ]
