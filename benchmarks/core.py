"""One full step of recursive least squares (predict, update, new weights) beside other ways to do it.

Every candidate learns the same samples in turns with the others, on one BLAS thread, and must end with the weights of
the batch solution. The floor, which no method that keeps a d x d matrix can beat, is to read and write its triangle.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from tqdm import tqdm

from benchmarks.contestants import CONTESTANTS, MISSING
from benchmarks.report import Result
from benchmarks.timing import Spread, time_in_turns
from icub_learning.recursive import _cholesky

FEATURES = (100, 200, 560, 1000, 2000)
OUTPUTS = (1, 6, 100, 1000)
LARGEST = (4096, 6)
N_SAMPLES = 400  # samples in a cycle, which the steps repeat
SECONDS_EACH = 1.5
FLOOR = "memory floor"


def run(quick: bool) -> Result:
    """Time all contestants at all sizes (quick: three of them)."""
    cases = [*((d, t) for d in FEATURES for t in OUTPUTS), LARGEST]
    if quick:
        cases = [(100, 6), (560, 1), (560, 6)]
    rows = []
    for d, n_outputs in tqdm(cases, unit="size"):
        rows += time_one_size(d, n_outputs, SECONDS_EACH / 5 if quick else SECONDS_EACH)
    remarks = [f"{name}: not measured, {reason}" for name, reason in MISSING.items()]
    remarks.append("µs: median of one step and its quartiles; x: times the median of Sherman-Morrison, of the floor.")
    return Result(rows, remarks, lambda figure: _draw(figure, rows))


def time_one_size(d: int, n_outputs: int, seconds_each: float) -> list[dict[str, Any]]:
    rng = np.random.default_rng(d + n_outputs)
    z = rng.normal(size=(N_SAMPLES, d)) / np.sqrt(d)
    y = z @ rng.normal(size=(d, n_outputs)) + 0.1 * rng.normal(size=(N_SAMPLES, n_outputs))
    able = {name: kind for name, kind in CONTESTANTS.items() if d * n_outputs <= getattr(kind, "largest", np.inf)}
    made = {name: kind(d, n_outputs) for name, kind in able.items()}
    learned = dict.fromkeys(made, 0)
    triangle = np.ones(d * (d + 1) // 2)

    def stepper(name: str) -> Callable[[int], None]:
        kernel = getattr(made[name], "kernel", None)

        def step(i: int) -> None:
            made[name].step(z[i % N_SAMPLES], y[i % N_SAMPLES])
            learned[name] += 1

        def step_on_kernel(i: int) -> None:
            _cholesky.use(kernel)
            step(i)

        return step_on_kernel if kernel else step

    steps = {name: stepper(name) for name in made}
    steps[FLOOR] = lambda i: np.negative(triangle, out=triangle)
    before = _cholesky.use("portable")
    try:
        spreads = time_in_turns(steps, seconds_each, 1000)
    finally:
        _cholesky.use(before)
    _check(made, learned, z, y)
    spreads |= {name: "left out: too large for it" for name in CONTESTANTS if name not in able}
    known = {name: spread.median for name, spread in spreads.items() if isinstance(spread, Spread)}
    rows = []
    for name, spread in spreads.items():
        row: dict[str, Any] = {"d": d, "T": n_outputs, "method": name}
        if isinstance(spread, Spread):
            row |= {
                "µs": round(1e6 * spread.median, 2),
                "quartiles": f"{1e6 * spread.low:.4g}..{1e6 * spread.high:.4g}",
                "steps": spread.count,
                "x S-M": round(spread.median / known["Sherman-Morrison"], 3),
                "x floor": round(spread.median / known[FLOOR], 3),
            }
        else:
            row |= {"µs": None, "quartiles": spread, "steps": 0, "x S-M": None, "x floor": None}
        rows.append(row)
    return rows


def _check(made: dict[str, Any], learned: dict[str, int], z: np.ndarray, y: np.ndarray) -> None:
    """Raise AssertionError unless each contestant holds the solution for its samples: none is fast by doing less."""
    for name, one in made.items():
        seen = np.bincount(np.arange(learned[name]) % N_SAMPLES, minlength=N_SAMPLES)[:, None]
        exact = np.linalg.solve(z.T @ (seen * z) + np.eye(z.shape[1]), z.T @ (seen * y))
        error = np.abs(one.weights() - exact).max() / np.abs(exact).max()
        if not error < 1e-7:
            raise AssertionError(f"{name} is off by {error:.1e} at d = {z.shape[1]}")


def _draw(figure: Any, rows: list[dict[str, Any]]) -> None:
    axes = figure.subplots(1, 2)
    for axis, fixed, value, varied in ((axes[0], "T", 6, "d"), (axes[1], "d", 560, "T")):
        for name in dict.fromkeys(row["method"] for row in rows):
            points = [
                (row[varied], row["µs"]) for row in rows if (row["method"], row[fixed]) == (name, value) and row["µs"]
            ]
            style = {"color": "black", "linestyle": ":"} if name == FLOOR else {"marker": "."}
            axis.loglog(*zip(*points, strict=True), label=name, **style) if points else None
        axis.set(
            xlabel={"d": "features d", "T": "outputs T"}[varied], ylabel="one step, µs", title=f"{fixed} = {value}"
        )
        axis.grid(which="both", alpha=0.3)
    axes[0].legend(fontsize="small")
