"""Ten million updates at a condition number of 1e8, beside the batch solution of the same samples; and silent inputs.

With the forgetting factors f_i the learner minimizes sum_i (f_(i+1) ... f_n) |y_i - z_i w|^2 plus the regularization.
The batch solution comes from QR decompositions of ten thousand weighted rows and the faded triangle of the rows before.
For automatic forgetting the true weights change twice, after a third and two thirds of the samples.
"""

import argparse
import json
import time
from typing import Any

import numpy as np
import scipy.linalg

from icub_learning.recursive import RecursiveLeastSquares
from icub_learning.recursive.adaptive_forgetting import AdaptiveForgetting

D = 12  # features
CONDITION = 1e8  # condition number of the covariance of the inputs
REGULARIZATION = 1e-3
NOISE = 0.1
BLOCK = 10_000  # rows drawn at once
AUTOMATIC = "auto"
PERIOD = 0.005  # [s] between samples, for automatic forgetting
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
        "forgetting auto": long_run(AUTOMATIC, arguments.updates, arguments.seed),
        "silent inputs, forgetting 0.99": silent(min(SILENT_UPDATES, arguments.updates), arguments.seed),
    }
    for name, part in found.items():
        print(f"{name}: {json.dumps(part)}", flush=True)
    (arguments.out / "updates.json").write_text(json.dumps(found, indent=1))
    return int(any(part["distance"] > DISTANCE_BOUND for part in found.values()))


class Stream:
    """Rows (n, D) whose covariance has the condition number CONDITION, in mixed directions, and targets (n, 1).

    Args:
        seed: seed of all random numbers.
    """

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        directions = np.linalg.qr(self._rng.normal(size=(D, D)))[0]
        self._mix = np.sqrt(np.logspace(0.0, -np.log10(CONDITION), D))[:, None] * directions
        self.change()

    def change(self) -> None:
        """Draw new true weights, by which the next targets are made."""
        self._truth = self._rng.normal(size=(D, 1))

    def rows(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the next n rows and targets."""
        z = np.ascontiguousarray(self._rng.normal(size=(n, D)) @ self._mix)
        return z, z @ self._truth + NOISE * self._rng.normal(size=(n, 1))


def long_run(forgetting: float | str, n: int, seed: int) -> dict[str, Any]:
    """Learn n samples one by one; return the distance of the weights from the batch solution, relative to it."""
    stream = Stream(seed)
    automatic = AdaptiveForgetting(1) if forgetting == AUTOMATIC else None
    learner = RecursiveLeastSquares(D, 1, REGULARIZATION, 1.0 if automatic else float(forgetting))
    triangle = np.zeros((D + 1, D + 1))  # triangular factor of all rows so far
    start = time.perf_counter()
    seconds, least = 0.0, 1.0
    blocks = n // BLOCK
    for block in range(blocks):
        if automatic is not None and block in (blocks // 3, 2 * blocks // 3):
            stream.change()
        z, y = stream.rows(BLOCK)
        factors = np.full(BLOCK, learner.forgetting)
        began = time.perf_counter()
        for k, (row, target) in enumerate(zip(z, y, strict=True)):
            if automatic is not None:
                error = row @ learner.weights - target
                learner.forgetting = factors[k] = automatic.follow(error, learner.leverage(row), PERIOD)
            learner.update(row, target)
        seconds += time.perf_counter() - began
        least = min(least, float(factors.min()))
        fading = np.cumprod(factors[::-1])[::-1]  # fading of the rows before each one, by it and all later ones
        later = np.append(fading[1:], 1.0)
        rows = np.sqrt(later)[:, None] * np.hstack([z, y])
        triangle = scipy.linalg.qr(np.vstack([np.sqrt(fading[0]) * triangle, rows]), mode="r")[0][: D + 1]
    prior = np.hstack([np.sqrt(learner.prior)[:, None] * np.eye(D), np.zeros((D, 1))])
    triangle = scipy.linalg.qr(np.vstack([prior, triangle]), mode="r")[0][: D + 1]
    batch = scipy.linalg.solve_triangular(triangle[:D, :D], triangle[:D, D:])
    distance = float(np.linalg.norm(learner.weights - batch) / np.linalg.norm(batch))
    return {
        "updates": learner.n_samples,
        "condition of the inputs' covariance": CONDITION,
        "distance": distance,
        "changes seen": 0 if automatic is None else automatic.changes,
        "least factor": least,
        "microseconds each": round(1e6 * seconds / max(learner.n_samples, 1), 2),
        "seconds": round(time.perf_counter() - start, 1),
    }


def silent(n: int, seed: int) -> dict[str, Any]:
    """Learn with all inputs first, then n samples whose second half of inputs is zero.

    The weights of those inputs are then determined by the regularization alone, which pulls them to the initial ones.
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
