"""Measure whether an update costs the same after 100 000 samples as after 1 000, in time and in memory.

A machine's speed drifts over such a run by more than the effect to be found. So a second learner of the same kind,
which is reset to its first state every 1000 updates and thus stays young, learns the same samples in turns with the
first one: its drift is that of the machine, and the ratio of the two drifts, old / young, is the effect of history.
"""

import gc
import tracemalloc
from time import perf_counter
from typing import Any

import numpy as np
from tqdm import tqdm

from benchmarks.report import Result
from icub_learning.recursive import RecursiveLeastSquares

EARLY, LATE = (1_000, 11_000), (90_000, 100_000)
TURN = 100  # updates that one learner makes in a row
SIZES = ((50, 6), (560, 6))


def run(quick: bool) -> Result:
    """Follow 100 000 updates at each size (quick: a tenth of them, at the smaller size)."""
    scale = 10 if quick else 1
    rows, curves = [], {}
    for d, n_outputs in SIZES[:1] if quick else SIZES:
        row, curve = _follow(d, n_outputs, scale)
        rows.append(row)
        curves[f"d = {d}"] = curve
    remarks = [
        f"early, late: median µs of the updates {EARLY[0] // scale}..{EARLY[1] // scale} "
        f"and {LATE[0] // scale}..{LATE[1] // scale}.",
        "noise: the same ratio for a learner that is kept young, that is, of the machine alone.",
        "spread: quartiles of the early updates over their median. bytes: traced growth between the two windows.",
    ]
    return Result(rows, remarks, lambda figure: _draw(figure, curves, scale))


def _follow(d: int, n_outputs: int, scale: int) -> tuple[dict[str, Any], np.ndarray]:
    rng = np.random.default_rng(0)
    z, y = rng.normal(size=(1000, d)) / np.sqrt(d), rng.normal(size=(1000, n_outputs))
    total = LATE[1] // scale
    times = np.empty((2, total))  # [s] of the old learner and of the young one
    old, first = RecursiveLeastSquares(d, n_outputs), RecursiveLeastSquares(d, n_outputs).state()
    young = old
    gc.collect()
    gc.disable()
    try:
        for start in tqdm(range(0, total, TURN), unit="turn", desc=f"d = {d}"):
            if start % 1000 == 0:
                young = RecursiveLeastSquares.from_state(first)
            for which, learner in enumerate((old, young)):
                for i in range(start, start + TURN):
                    row, target = z[i % 1000], y[i % 1000]
                    begin = perf_counter()
                    learner.predict(row)
                    learner.update(row, target)
                    times[which, i] = perf_counter() - begin
    finally:
        gc.enable()
    early, late = (slice(window[0] // scale, window[1] // scale) for window in (EARLY, LATE))
    medians = {when: np.median(times[:, window], axis=1) for when, window in (("early", early), ("late", late))}
    ratio, noise = medians["late"] / medians["early"]
    low, high = np.percentile(times[0, early], [25, 75]) / medians["early"][0]
    return {
        "d": d,
        "T": n_outputs,
        "early µs": round(1e6 * medians["early"][0], 3),
        "late µs": round(1e6 * medians["late"][0], 3),
        "late / early": round(float(ratio), 4),
        "noise": round(float(noise), 4),
        "corrected": round(float(ratio / noise), 4),
        "spread": f"{low:.3f}..{high:.3f}",
        "bytes": growth(d, n_outputs, scale),
    }, times[0]


def growth(d: int, n_outputs: int, scale: int) -> int:
    """Return how many bytes more Python and NumPy hold after the late window than before the early one."""
    rng = np.random.default_rng(0)
    z, y = rng.normal(size=(1000, d)), rng.normal(size=(1000, n_outputs))
    learner = RecursiveLeastSquares(d, n_outputs)
    tracemalloc.start()
    try:
        for i in range(LATE[1] // scale):
            if i == EARLY[0] // scale:
                gc.collect()
                before = tracemalloc.get_traced_memory()[0]
            learner.update(z[i % 1000], y[i % 1000])
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()


def _draw(figure: Any, curves: dict[str, np.ndarray], scale: int) -> None:
    axis = figure.subplots()
    for name, seconds in curves.items():
        parts = seconds.reshape(-1, 1000 // scale)
        middle = np.arange(len(parts)) * parts.shape[1] + parts.shape[1] / 2
        low, median, high = 1e6 * np.percentile(parts, [25, 50, 75], axis=1)
        axis.plot(middle, median, label=name)
        axis.fill_between(middle, low, high, alpha=0.3)
    axis.set(xlabel="samples learned", ylabel="one step, µs (median, quartiles)", ylim=(0, None))
    axis.legend()
