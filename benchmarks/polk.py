"""Time POLK's step beside one that factors anew for each removal, and its cost and memory over 100 000 samples."""

import pickle
from time import perf_counter
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from benchmarks.report import Result
from icub_learning.experiments.polk.multidist import SETTINGS, sample_mixtures
from icub_learning.kernel_methods import Kernel, POLKClassifier
from icub_learning.kernel_methods.online.losses import MARGIN_LOSSES

RUNS = (("hinge", 0.04), ("logistic", 0.04), ("hinge", 0.01), ("logistic", 0.01))
N_SAMPLES = 100_000


class Refactoring:
    """The same steps written plainly: each removal inverts the Gram matrix of the rest and refits all weights."""

    def __init__(self, loss: str, parsimony: float) -> None:
        self.loss, self.budget = MARGIN_LOSSES[loss], parsimony * SETTINGS["step_size"] ** 1.5
        self.kernel = Kernel("gaussian", SETTINGS["length_scale"])
        self.points, self.weights = np.zeros((0, 2)), np.zeros((0, 5))

    def step(self, x: Any, y: Any) -> None:
        scores = self.kernel(x, self.points) @ self.weights if len(self.points) else np.zeros((len(x), 5))
        step = SETTINGS["step_size"]
        slope = self.loss(scores, y)[1]
        used = slope.any(axis=1)
        points = np.concatenate([self.points, x[used]])
        weights = np.concatenate([(1 - step * SETTINGS["regularization"]) * self.weights, -step / len(x) * slope[used]])
        gram = self.kernel.gram(points)
        kept, fitted, lost = np.arange(len(points)), weights, 0.0
        while len(kept):
            inverse = cho_solve(cho_factor(gram[np.ix_(kept, kept)] + 1e-13 * np.eye(len(kept))), np.eye(len(kept)))
            costs = np.einsum("ij,ij->i", fitted, fitted) / np.diag(inverse)
            worst = int(costs.argmin())
            if lost + costs[worst] > self.budget**2:
                break
            lost += costs[worst]
            kept = np.delete(kept, worst)
            factor = cho_factor(gram[np.ix_(kept, kept)] + 1e-13 * np.eye(len(kept))) if len(kept) else None
            fitted = cho_solve(factor, gram[kept] @ weights) if factor else weights[:0]
        self.points, self.weights = points[kept], fitted


def run(quick: bool) -> Result:
    """Time both on the same stream in turns, 4000 samples each (quick: 1000); then the long run alone."""
    rows = []
    n_each = 1000 if quick else 4000
    for loss, parsimony in RUNS:
        (x, y), _, _ = sample_mixtures(0)
        polk, plain = POLKClassifier(loss=loss, parsimony=parsimony, classes=range(5), **SETTINGS), None
        plain = Refactoring(loss, parsimony)
        seconds: dict[str, list[float]] = {"POLK": [], "plain": []}
        for start in range(0, n_each, 32):
            now = slice(start, start + 32)
            for name, step in (("POLK", polk.partial_fit), ("plain", plain.step)):
                began = perf_counter()
                step(x[now], y[now])
                seconds[name].append(perf_counter() - began)
        ours, theirs = (float(np.median(seconds[name][20:])) for name in seconds)
        rows.append(
            {
                "loss": loss,
                "K": parsimony,
                "points": polk.model_order_,
                "points, plain": len(plain.points),
                "µs a step": 1e6 * ours,
                "µs, plain": 1e6 * theirs,
                "times faster": theirs / ours,
                **_long_run(loss, parsimony, N_SAMPLES // 5 if quick else N_SAMPLES),
            }
        )
    remarks = [
        "a step: 32 samples, medians; plain: inverts the Gram matrix anew for each removal.",
        "late / early: median step of the last tenth over that of the third tenth of the long run; memory likewise.",
    ]
    return Result(rows, remarks)


def _long_run(loss: str, parsimony: float, n: int) -> dict[str, Any]:
    (x, y), _, _ = sample_mixtures(0)
    model = POLKClassifier(loss=loss, parsimony=parsimony, classes=range(5), **SETTINGS)
    random, times, orders, sizes = np.random.default_rng(1), [], [], []
    for _ in range(n // 32):
        rows = random.integers(len(x), size=32)
        began = perf_counter()
        model.partial_fit(x[rows], y[rows])
        times.append(perf_counter() - began)
        orders.append(model.model_order_)
        sizes.append(len(pickle.dumps(model)) if len(times) % 100 == 0 else 0)
    tenth = len(times) // 10
    early, late = (float(np.median(times[k * tenth : (k + 1) * tenth])) for k in (2, 9))
    kept = [size for size in sizes if size]
    return {
        "samples": n,
        "most points": max(orders),
        "mean points, last tenth": float(np.mean(orders[-tenth:])),
        "late / early": late / early,
        "bytes": kept[-1],
        "bytes late / early": kept[-1] / kept[len(kept) // 3],
    }
