"""Time tensor kernels: the packed layout beside the full one, and the largest training that is promised."""

import subprocess
import sys
from typing import Any

import numpy as np

from benchmarks.report import Result
from icub_learning.experiments.tensor.layout import compare

D = 32
TRAIN = """
import sys, time
import numpy as np
from icub_learning.kernel_methods import TensorKernelRegressor
n, d = map(int, sys.argv[1:])
x = np.random.default_rng(0).normal(size=(n, d)) / d**0.25
start = time.perf_counter()
TensorKernelRegressor(kernel="polynomial", degree=3, tol=1e-8).fit(x, x[:, 0] - x[:, 1])
seconds = time.perf_counter() - start
# Not getrusage: its peak is inherited from the process that started this one.
(peak,) = (line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(seconds, int(peak) / 1024)
"""


def run(quick: bool) -> Result:
    """Time both layouts where the full one fits, then 250 samples in the packed one (quick: 150) with their memory."""
    random = np.random.default_rng(0)
    rows = []
    for n in (30, 60) if quick else (30, 60, 80, 100):
        x = random.normal(size=(n, D)) / D**0.25
        one = compare(n, x, x[:, 0] - x[:, 1] + 0.1 * random.normal(size=n))
        rows.append(
            {
                "n": n,
                "packed [s]": one["packed"]["total"],
                "full [s]": one["full"]["total"],
                "times faster": one["full"]["total"] / one["packed"]["total"],
                "MiB": None,
                "difference": one["difference"],
            }
        )
    rows.append(_large(150 if quick else 250))
    remarks = [
        "s: build and training of order 4; MiB: peak memory of a process of its own; difference: of the solutions."
    ]
    return Result(rows, remarks)


def _large(n: int) -> dict[str, Any]:
    """Train in a process of its own, so that the peak of memory is that of this training."""
    output = subprocess.run([sys.executable, "-c", TRAIN, str(n), str(D)], check=True, capture_output=True, text=True)
    seconds, peak = map(float, output.stdout.split())
    return {"n": n, "packed [s]": seconds, "full [s]": None, "times faster": None, "MiB": peak, "difference": None}
