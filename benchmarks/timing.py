"""Timing of several candidates in turns, so that whatever else the machine does falls on all of them alike."""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np

ROUNDS = 10  # turns of each candidate
SETTLING = 2  # steps at the start of each turn that are not counted: caches still hold another candidate's data


@dataclass(frozen=True)
class Spread:
    """Median and quartiles of the times of `count` steps [s]."""

    median: float
    low: float
    high: float
    count: int

    @classmethod
    def of(cls, seconds: list[float]) -> "Spread":
        low, median, high = np.percentile(seconds, [25, 50, 75])
        return cls(float(median), float(low), float(high), len(seconds))


def time_in_turns(steps: dict[str, Callable[[int], object]], seconds_each: float, most: int) -> dict[str, Spread | str]:
    """Time each `step(i)`, i = 0, 1, ..., for about `seconds_each` and at most `most` counted steps.

    A candidate so slow that the time allows no more than two steps is left out; its entry is the reason.
    """
    counts, results, taken = {}, {}, dict.fromkeys(steps, 0)
    for name, step in steps.items():
        for _ in range(2):  # the first one may compile or allocate; the second tells how long one takes
            start = perf_counter()
            step(taken[name])
            one = perf_counter() - start
            taken[name] += 1
        if one > seconds_each / 3:
            results[name] = f"left out: one step takes {one:.2g} s"
        else:
            counts[name] = int(np.clip(seconds_each / one / ROUNDS, 1, max(1, most / ROUNDS)))
    seconds: dict[str, list[float]] = {name: [] for name in counts}
    for _ in range(ROUNDS):
        for name, count in counts.items():
            step, times = steps[name], seconds[name]
            settling = SETTLING if count > 1 else 0
            for k in range(settling + count):
                i = taken[name]
                start = perf_counter()
                step(i)
                stop = perf_counter()
                taken[name] += 1
                if k >= settling:
                    times.append(stop - start)
    return {name: results.get(name) or Spread.of(seconds[name]) for name in steps}
