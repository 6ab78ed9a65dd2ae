"""Measure the time until `icub-learning COMMAND --help` has finished, each command in a process of its own."""

import os
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np

from benchmarks.report import Result
from icub_learning.cli.main import COMMANDS

BOUND = 0.3  # [s] upper bound of the median
TURNS = 11  # rounds through all commands; the first one fills the file caches and does not count


def run(quick: bool) -> Result:
    """Measure all commands (quick: three rounds)."""
    names = ["", *COMMANDS]
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    for turn in range(3 if quick else TURNS):
        for name in names:
            found = _measure(name)
            if turn:
                times[name].append(found)
    bare = float(np.median([_measure(None)[0] for _ in range(3 if quick else TURNS)]))
    rows: list[dict[str, Any]] = []
    for name, pairs in times.items():
        elapsed, cpu = np.array(pairs).T
        median = float(np.median(elapsed))
        rows.append(
            {
                "command": name or "icub-learning itself",
                "median [s]": round(median, 3),
                "max [s]": round(float(elapsed.max()), 3),
                "CPU [s]": round(float(np.median(cpu)), 3),
                f"below {BOUND} s": "yes" if median < BOUND else "NO",
            }
        )
    remarks = [
        f"wall time of `python -m icub_learning.cli COMMAND --help`; python alone, importing nothing: {bare:.3f} s.",
        f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores at the end.",
    ]
    return Result(rows, remarks)


def _measure(name: str | None) -> tuple[float, float]:
    """Return wall and CPU time [s] of the help of one command, or of the interpreter alone if `name` is None."""
    line = [sys.executable, "-m", "icub_learning.cli", *filter(None, [name]), "--help"]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(line if name is not None else [sys.executable, "-c", ""], check=True, stdout=subprocess.DEVNULL)
    elapsed, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return elapsed, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
