"""Measure the cost of learning and of recognizing an example, over the numbers of classes and of examples.

The thesis updates a Cholesky factor and solves for all columns of W at each example (Algorithm 2). Here that is done
with the package's own compiled factor, so that only the method differs. All learn the same examples in turns.
"""

import gc
from time import perf_counter
from typing import Any

import numpy as np
from tqdm import tqdm

from benchmarks.report import Result
from benchmarks.timing import Spread, time_in_turns
from icub_learning.recognition import AdaptiveClassifier, IncrementalClassifier
from icub_learning.recursive import RegularizedCovariance

SIZES = ((1280, 10), (1280, 100), (1280, 1000), (4096, 51))  # d, T
N_EXAMPLES = 500  # examples in a cycle, which the steps repeat
SECONDS_EACH = 8.0
FULL = 1000  # examples learned before the timing starts: more than a classifier keeps
# d, T and number of examples whose costs are followed; FEW others are learned beforehand
FOLLOWED = ((64, 20, 100_000), (256, 20, 100_000), (1280, 10, 30_000), (1280, 1000, 30_000))
FEW, TURN = 100, 100  # examples learned beforehand; examples in a turn
RECOGNIZED = (2, 100, 1000)  # numbers of known objects, with 1280 features and three views each
N_RECOGNIZED = 1000  # views that are recognized


class Resolving:
    """Algorithm 2 as it is printed: all columns of W are solved for at each example."""

    def __init__(self, d: int, n_classes: int) -> None:
        self.covariance = RegularizedCovariance(d)
        self.sums = np.zeros((n_classes, d))
        self.weights = np.zeros((d, n_classes))

    def learn(self, x: np.ndarray, place: int) -> None:
        self.covariance.update(x)
        self.sums[place] += x
        self.weights = self.covariance.solve(self.sums)[0].T


def run_learn(quick: bool) -> Result:
    """Time one example at all sizes (quick: two small ones)."""
    sizes = ((256, 10), (256, 100)) if quick else SIZES
    rows: list[dict[str, Any]] = []
    for d, n_classes in tqdm(sizes, unit="size"):
        rows += _time_one_size(d, n_classes, SECONDS_EACH / 10 if quick else SECONDS_EACH)
    first: dict[tuple[int, str], float] = {}
    for row in rows:
        if row["µs"] is not None:
            smallest = first.setdefault((row["d"], row["step"]), row["µs"])
            row["x fewest classes"] = round(row["µs"] / smallest, 3)
    remarks = [
        "µs: median of one step and its quartiles; learn: one example; then scores: and what it says of the next one;",
        f"{FULL} examples and at least one of each class were learned before.",
        "x re-solving: how many times faster than learning by re-solving all columns.",
    ]
    return Result(rows, remarks)


def _time_one_size(d: int, n_classes: int, seconds_each: float) -> list[dict[str, Any]]:
    rng = np.random.default_rng(d + n_classes)
    x = rng.normal(size=(N_EXAMPLES, d)) / np.sqrt(d)
    labels = [str(place) for place in range(n_classes)]
    plain, scoring, adaptive = IncrementalClassifier(d), IncrementalClassifier(d), AdaptiveClassifier(d)
    resolving = Resolving(d, n_classes)
    first = x[np.arange(max(FULL, n_classes)) % N_EXAMPLES]
    targets = np.arange(len(first)) % n_classes
    for classifier in (plain, scoring, adaptive):
        classifier.learn(first, [labels[target] for target in targets])
    resolving.covariance.update(first)
    np.add.at(resolving.sums, targets, first)
    learned = 0

    def resolve(i: int) -> None:
        nonlocal learned
        resolving.learn(x[i % N_EXAMPLES], i % n_classes)
        learned += 1

    def learn_and_score(i: int) -> None:
        scoring.learn(x[i % N_EXAMPLES], labels[i % n_classes])
        scoring.scores(x[(i + 1) % N_EXAMPLES])

    steps = {
        "IncrementalClassifier, learn": lambda i: plain.learn(x[i % N_EXAMPLES], labels[i % n_classes]),
        "IncrementalClassifier, learn then scores": learn_and_score,
        "AdaptiveClassifier, learn": lambda i: adaptive.learn(x[i % N_EXAMPLES], labels[i % n_classes]),
        "re-solving all columns": resolve,
    }
    spreads = time_in_turns(steps, seconds_each, 2000)
    twin = IncrementalClassifier(d)
    twin.learn(first, [labels[target] for target in targets])
    for i in range(learned):
        twin.learn(x[i % N_EXAMPLES], labels[i % n_classes])
    error = np.abs(twin.weights - resolving.weights).max() / np.abs(resolving.weights).max()
    if not error < 1e-8:
        raise AssertionError(f"the two ways differ by {error:.1e} at d = {d}")
    slow = spreads["re-solving all columns"]
    rows = []
    for name, spread in spreads.items():
        row: dict[str, Any] = {"d": d, "T": n_classes, "step": name}
        if isinstance(spread, Spread):
            faster = round(slow.median / spread.median, 1) if isinstance(slow, Spread) else None
            row |= {
                "µs": round(1e6 * spread.median, 1),
                "quartiles": f"{1e6 * spread.low:.4g}..{1e6 * spread.high:.4g}",
                "a second": round(1.0 / spread.median, 1),
                "x re-solving": faster,
            }
        else:
            row |= {"µs": None, "quartiles": spread, "a second": None, "x re-solving": None}
        rows.append(row | {"x fewest classes": None})
    return rows


def run_history(quick: bool) -> Result:
    """Follow 30 000 and 100 000 examples (quick: a tenth, with 64 features), beside a classifier kept young."""
    cases = ((*FOLLOWED[0][:2], FOLLOWED[0][2] // 10),) if quick else FOLLOWED
    rows = [_follow(kind, *case) for case in cases for kind in KINDS]
    remarks = [
        f"early, late: median µs of the first and of the last tenth of the examples, after {FEW} others.",
        f"noise: the same ratio for a classifier that is given back its state after {FEW} every 1000: the machine's.",
    ]
    return Result(rows, remarks)


KINDS = {"IncrementalClassifier": IncrementalClassifier, "AdaptiveClassifier": AdaptiveClassifier}


def _follow(kind: str, d: int, n_classes: int, total: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    x, labels = rng.normal(size=(1000, d)) / np.sqrt(d), [f"object {i % n_classes}" for i in range(1000)]
    times = np.empty((2, total))  # [s] of the old classifier and of the young one
    old = KINDS[kind](d)
    old.learn(x[-FEW:], labels[-FEW:])
    first, young = old.state(), old
    gc.collect()
    gc.disable()
    try:
        for start in tqdm(range(0, total, TURN), unit="turn", desc=f"{kind}, d = {d}, T = {n_classes}"):
            if start % 1000 == 0:
                young = KINDS[kind].from_state(first)
            for which, classifier in enumerate((old, young)):
                for i in range(start, start + TURN):
                    row, label = x[i % 1000], labels[i % 1000]
                    begin = perf_counter()
                    classifier.learn(row, label)
                    times[which, i] = perf_counter() - begin
    finally:
        gc.enable()
    before, after = (np.median(part, axis=1) for part in (times[:, : total // 10], times[:, -total // 10 :]))
    return {
        "classifier": kind,
        "d": d,
        "T": n_classes,
        "examples": total,
        "early µs": round(1e6 * before[0], 3),
        "late µs": round(1e6 * after[0], 3),
        "late / early": round(float(after[0] / before[0]), 4),
        "noise": round(float(after[1] / before[1]), 4),
        "corrected": round(float(after[0] / before[0] / (after[1] / before[1])), 4),
    }


def run_recognize(quick: bool) -> Result:
    """Time the recognition of one view by an AdaptiveClassifier that knows 2 to 1000 objects (quick: to 100)."""
    remarks = ["ms: of one view, label, confidence and typicality; the fastest, the first tenth, the median."]
    return Result([_recognize(n_classes) for n_classes in (RECOGNIZED[:-1] if quick else RECOGNIZED)], remarks)


def _recognize(n_classes: int) -> dict[str, Any]:
    rng, classifier = np.random.default_rng(0), AdaptiveClassifier(1280)
    objects = np.abs(rng.normal(size=(n_classes, 1280)))

    def view(place: int) -> np.ndarray:
        return np.asarray(objects[place] + 0.5 * np.abs(rng.normal(size=1280)))

    for place in range(3 * n_classes):
        classifier.learn(view(place % n_classes), str(place % n_classes))
    begin = perf_counter()
    classifier.calibrate()
    calibrating, times = perf_counter() - begin, []
    for place in range(N_RECOGNIZED):
        x = view(place % n_classes)
        begin = perf_counter()
        classifier.judge(x)
        times.append(perf_counter() - begin)
    fastest, tenth, median = 1e3 * np.quantile(times, [0.0, 0.1, 0.5])
    return {
        "T": n_classes,
        "fastest ms": round(float(fastest), 3),
        "tenth ms": round(float(tenth), 3),
        "median ms": round(float(median), 3),
        "calibrating s": round(calibrating, 2),
    }
