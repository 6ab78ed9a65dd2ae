"""Accelerated NYTRO beside plain NYTRO and Nyström KRLS."""

from typing import Any

import numpy as np

from icub_learning.evaluation.metrics import path_errors
from icub_learning.experiments.falkon import SIGMA, sample
from icub_learning.experiments.figures import seconds
from icub_learning.experiments.panels import Panel
from icub_learning.kernel_methods import NYTRO, NystromKRLS
from icub_learning.reporting.tables import number, table

METHODS = {"gradient": "plain", "nu": "nu-method", "nesterov": "Nesterov", "cg": "conjugate gradients"}
LAMBDAS = tuple(np.logspace(-10, 0, 30).tolist())
ITERATIONS = 500
NEAR = 1.01


def measure(seed: int, quick: bool) -> dict[str, Any]:
    """Return "rmse" and "seconds" of the best Nyström KRLS, and for each of METHODS errors and when it is near."""
    n, m, iterations = (1000, 100, 200) if quick else (10_000, 500, ITERATIONS)
    train, test = sample(n, seed)
    shared: dict[str, Any] = {"n_centers": m, "length_scale": SIGMA, "random_state": seed}
    krls = NystromKRLS(path=LAMBDAS, **shared)
    took = seconds(krls.fit, *train)
    best = min(path_errors(krls, *test))
    found: dict[str, Any] = {"n": n, "m": m, "iterations": iterations, "rmse": best, "seconds": took, "methods": {}}
    for method in METHODS:
        errors = path_errors(NYTRO(method=method, max_iter=iterations, tol=0.0, **shared).fit(*train), *test)
        enough = next((k for k, error in enumerate(errors, start=1) if error <= NEAR * best), None)
        again = NYTRO(method=method, max_iter=enough or iterations, path=[1], tol=0.0, **shared)
        least = {"least": min(errors), "at": int(np.argmin(errors)) + 1}
        found["methods"][method] = {"errors": errors, **least, "enough": enough, "seconds": seconds(again.fit, *train)}
    return found


def text(found: dict[str, Any]) -> str:
    rows = [
        [METHODS[name], str(one["enough"] or "-"), number(one["seconds"]), number(one["least"], 4), str(one["at"]),
         number(one["errors"][-1], 4)]
        for name, one in found["methods"].items()
    ]  # fmt: skip
    rows.append(["Nyström KRLS, best of 30 lambda", "-", number(found["seconds"]), number(found["rmse"], 4), "-", "-"])
    head = ["NYTRO", "iterations", "seconds", "least RMSE", "at", f"RMSE at {found['iterations']}"]
    title = f"Accelerated NYTRO, n {found['n']}, m {found['m']}: until the RMSE is within 1 % of Nyström KRLS\n"
    return title + table(head, rows, [("until within 1 %", 2), ("", 3)])


def panels(found: dict[str, Any]) -> list[Panel]:
    lines = {METHODS[name]: (range(1, len(one["errors"]) + 1), one["errors"]) for name, one in found["methods"].items()}
    level = {"Nyström KRLS": ([1, found["iterations"]], [found["rmse"]] * 2)}
    return [Panel(f"NYTRO, n = {found['n']}, m = {found['m']}", "iterations", "RMSE", lines, level)]
