"""Ten million updates at a condition of 1e8, beside the batch solution of the same window; and silent inputs.

With forgetting f the learner minimizes sum_i f^(n - i) |y_i - z_i w|^2 plus the regularization. The batch solution is
computed from the last samples alone, as far back as their weight is above 1e-17, by a QR decomposition of the stacked,
weighted rows; without forgetting, by QR decompositions of ten thousand rows and the triangle of those before.
"""

import argparse
import json
import time
from typing import Any

import numpy as np
import scipy.linalg

from icub_learning.recursive import RecursiveLeastSquares

D = 12  # features
CONDITION = 1e8  # of the covariance of the inputs
REGULARIZATION = 1e-3
NOISE = 0.1
BLOCK = 10_000  # rows drawn at once
LEAST_WEIGHT = 1e-17  # of a sample in the batch solution
SILENT_FORGETTING, SILENT_UPDATES = 0.99, 1_000_000
DISTANCE_BOUND = 1e-8


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--updates", type=int, default=10_000_000)
    parser.add_argument("--seed", type=int, default=0)


def run(arguments: argparse.Namespace) -> int:
    """Update; write updates.json; return 1 if a distance is above 1e-8."""
    found = {
        "forgetting 1": long_run(1.0, arguments.updates, arguments.seed),
        "forgetting 0.9999": long_run(0.9999, arguments.updates, arguments.seed),
        "silent inputs, forgetting 0.99": silent(min(SILENT_UPDATES, arguments.updates), arguments.seed),
    }
    for name, part in found.items():
        print(f"{name}: {json.dumps(part)}", flush=True)
    (arguments.out / "updates.json").write_text(json.dumps(found, indent=1))
    return int(any(part["distance"] > DISTANCE_BOUND for part in found.values()))


class Stream:
    """Rows (n, D) whose covariance has the condition CONDITION, in mixed directions, and targets (n, 1).

    Args:
        seed: of all that is random.
    """

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        directions = np.linalg.qr(self._rng.normal(size=(D, D)))[0]
        self._mix = np.sqrt(np.logspace(0.0, -np.log10(CONDITION), D))[:, None] * directions
        self._truth = self._rng.normal(size=(D, 1))

    def rows(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the next n rows and targets."""
        z = np.ascontiguousarray(self._rng.normal(size=(n, D)) @ self._mix)
        return z, z @ self._truth + NOISE * self._rng.normal(size=(n, 1))


def long_run(forgetting: float, n: int, seed: int) -> dict[str, Any]:
    """Learn n samples one by one; return the distance of the weights from the batch solution, relative to it."""
    stream = Stream(seed)
    learner = RecursiveLeastSquares(D, 1, REGULARIZATION, forgetting)
    window = int(np.ceil(np.log(LEAST_WEIGHT) / np.log(forgetting))) if forgetting < 1.0 else 0
    kept: list[tuple[np.ndarray, np.ndarray]] = []
    triangle = np.hstack([np.sqrt(REGULARIZATION) * np.eye(D), np.zeros((D, 1))])  # of all rows, without forgetting
    start = time.perf_counter()
    seconds = 0.0
    for _ in range(n // BLOCK):
        z, y = stream.rows(BLOCK)
        began = time.perf_counter()
        for row, target in zip(z, y, strict=True):
            learner.update(row, target)
        seconds += time.perf_counter() - began
        if window:
            kept = [*kept, (z, y)][-(window // BLOCK + 1) :]
        else:
            triangle = scipy.linalg.qr(np.vstack([triangle, np.hstack([z, y])]), mode="r")[0][: D + 1]
    if window:
        z, y = (np.vstack(part) for part in zip(*kept, strict=True))
        weight = forgetting ** (0.5 * np.arange(len(z) - 1, -1, -1.0))[:, None]
        prior = np.sqrt(learner.prior)[:, None] * np.eye(D)
        stacked = np.vstack([np.hstack([prior, np.zeros((D, 1))]), weight * np.hstack([z, y])])
        triangle = scipy.linalg.qr(stacked, mode="r")[0][: D + 1]
    batch = scipy.linalg.solve_triangular(triangle[:D, :D], triangle[:D, D:])
    distance = float(np.linalg.norm(learner.weights - batch) / np.linalg.norm(batch))
    return {
        "updates": learner.n_samples,
        "condition of the inputs' covariance": CONDITION,
        "distance": distance,
        "microseconds each": round(1e6 * seconds / max(learner.n_samples, 1), 2),
        "seconds": round(time.perf_counter() - start, 1),
    }


def silent(n: int, seed: int) -> dict[str, Any]:
    """Learn with all inputs first, then n samples whose second half of inputs is zero.

    Their weights are determined by the regularization alone then, which pulls them to the initial weights.
    """
    rng = np.random.default_rng(seed)
    truth, initial = rng.normal(size=(2, D, 1))
    learner = RecursiveLeastSquares(D, 1, REGULARIZATION, SILENT_FORGETTING, initial)
    for _ in range(1000):
        z = rng.normal(size=D)
        learner.update(z, z @ truth)
    half = D // 2
    largest = 0.0
    for done in range(0, n, BLOCK):
        block = rng.normal(size=(min(BLOCK, n - done), D))
        block[:, half:] = 0.0
        targets = block @ truth + NOISE * rng.normal(size=(len(block), 1))
        for row, target in zip(block, targets, strict=True):
            learner.update(row, target)
        largest = float(np.abs(learner.weights[half:] - initial[half:]).max())
    prior = learner.prior / REGULARIZATION
    return {
        "updates": n,
        "distance": largest,
        "prior of the silent inputs, relative": [
            round(float(prior[half:].min()), 3),
            round(float(prior[half:].max()), 3),
        ],
        "finite": bool(np.isfinite(learner.weights).all()),
    }
