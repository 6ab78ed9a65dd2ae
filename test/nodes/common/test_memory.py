"""Memory that is freed is the system's again."""

import subprocess
import sys

import pytest

TRIAL = """
import sys
import numpy as np
from icub_learning.nodes.common.memory import return_large_blocks

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 2**20

if sys.argv[1] == "returned" and not return_large_blocks():
    raise SystemExit(3)
for size in (8, 8, 8):  # [MiB]; having freed one, glibc keeps the next ones below this size
    np.ones(size * 2**17)
held = [np.ones(4 * 2**17) for _ in range(10)]
pin = [np.ones(2**13) for _ in range(10)]  # smaller blocks behind them
before = resident()
del held
print(before - resident())
"""


def returned(how: str) -> float:
    """MiB of 40 that a process gives back when it frees them."""
    done = subprocess.run([sys.executable, "-c", TRIAL, how], capture_output=True, text=True, check=False)
    if done.returncode == 3:
        pytest.skip("the C library has no mallopt, or MALLOC_MMAP_THRESHOLD_ is set")
    assert not done.returncode, done.stderr
    return float(done.stdout)


def test_large_blocks_are_returned_at_once():
    assert returned("returned") > 38.0
    assert returned("as by default") < 20.0  # else there would be nothing to do
