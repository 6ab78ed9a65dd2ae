"""Measure whether the cost of a step depends on history: its slope over 1e6 samples, with confidence, and memory."""

import gc
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from scipy import stats
from tqdm import tqdm

from benchmarks.report import Result
from icub_learning.recursive import RecursiveLeastSquares

N_SAMPLES = 1_000_000
EARLY = 10_000  # samples after which memory is measured first
TURN = 1000  # samples that one learner learns in a row
D, T = 560, 6
BATCHES = 20  # batches of consecutive turns, each of which is one observation for the slope
CONFIDENCE = 0.95


def run(quick: bool) -> Result:
    """Time two learners in turns: one that grows old, and one that is reset to its first state each turn.

    The machine's speed drifts in such a run and affects both alike: the slope is that of the difference of their
    median times, turn by turn.
    """
    total = N_SAMPLES // 20 if quick else N_SAMPLES
    rng = np.random.default_rng(0)
    z, y = rng.normal(size=(TURN, D)) / np.sqrt(D), rng.normal(size=(TURN, T))
    old, first = RecursiveLeastSquares(D, T), RecursiveLeastSquares(D, T).state()
    medians = np.empty((total // TURN, 2))
    resident: dict[int, int] = {}
    gc.collect()
    gc.disable()
    try:
        for turn in tqdm(range(total // TURN), unit="turn"):
            for which in (0, 1) if turn % 2 else (1, 0):
                learner = old if which == 0 else RecursiveLeastSquares.from_state(first)
                seconds = np.empty(TURN)
                for i in range(TURN):
                    begin = perf_counter()
                    learner.predict(z[i])
                    learner.update(z[i], y[i])
                    seconds[i] = perf_counter() - begin
                medians[turn, which] = np.median(seconds)
            del learner
            if (turn + 1) * TURN in (EARLY, total):
                resident[(turn + 1) * TURN] = _resident()
    finally:
        gc.enable()
    at = (np.arange(len(medians)) + 0.5) * TURN / 1e6  # million samples
    row: dict[str, Any] = {"d": D, "T": T, "samples": total, "step µs": round(1e6 * float(np.median(medians[:, 0])), 2)}
    for name, values in (("old", medians[:, 0]), ("old - young", medians[:, 0] - medians[:, 1])):
        slope, half = _slope(at, 1e6 * values)
        row[f"slope of {name}, µs per million"] = f"{slope:+.3f} ± {half:.3f}"
    row["resident MiB early"], row["late"] = (round(size / 2**20, 2) for size in resident.values())
    remarks = [
        f"slope by Theil and Sen over {BATCHES} batches of medians of {TURN} steps, and its {CONFIDENCE:.0%} interval;",
        f"memory after {EARLY} samples and after {total}.",
    ]
    return Result([row], remarks, lambda figure: _draw(figure, at, medians))


def _slope(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Return the slope, a median of slopes so that bursts matter little, and half the width of its confidence interval.

    Consecutive turns are correlated, because the machine's speed drifts. An interval that takes them for independent
    is too narrow, so it is computed from batches of turns (method of batch means).
    """
    x, y = (np.median(values[: len(x) // BATCHES * BATCHES].reshape(BATCHES, -1), axis=1) for values in (x, y))
    slope, _, low, high = stats.theilslopes(y, x, CONFIDENCE)
    return float(slope), float(max(high - slope, slope - low))


def _resident() -> int:
    """Return the resident memory of this process [bytes] (Linux)."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def _draw(figure: Any, at: np.ndarray, medians: np.ndarray) -> None:
    axis = figure.subplots()
    for which, name in enumerate(("learns all the time", "starts anew each turn")):
        axis.plot(at, 1e6 * medians[:, which], label=name, alpha=0.7)
    axis.set(xlabel="million samples", ylabel=f"median of {TURN} steps, µs", ylim=(0, None))
    axis.legend()
