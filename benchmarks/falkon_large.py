"""Time FALKON on as many synthetic samples as SUSY has: from a file in one process, and over Dask workers."""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.report import Result

N, QUICK_N, D, M = 5_000_000, 100_000, 18, 1000  # SUSY: 5 000 000 samples of 18 inputs
TEST = 10_000
BLOCK = 250_000  # rows drawn at once, and rows in a Dask block
SETTINGS = {"length_scale": 4.0, "regularization": 1e-6, "tol": 1e-3, "random_state": 0}
WAYS = {"one process, file": "file", "two Dask workers": "dask"}


def run(quick: bool) -> Result:
    """Draw the samples into a file, fit in a process of its own for each way, and report time, error and memory."""
    n, m = (QUICK_N, M // 5) if quick else (N, M)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        draw(Path(folder), n)
        for name, way in WAYS.items():
            line = [sys.executable, "-m", "benchmarks.falkon_large", folder, str(n), way, str(m)]
            done = subprocess.run(line, capture_output=True, text=True, check=True)
            seconds, error, iterations, memory = map(float, done.stdout.split()[-4:])
            rows.append(
                {"way": name, "s": seconds, "test RMSE": error, "iterations": iterations, "peak memory MiB": memory}
            )
    return Result(
        rows,
        [
            f"n = {n}, d = {D}, m = {m}, synthetic; in single precision inputs take {4 * n * D / 2**20:.0f} MiB, and "
            f"K_nm would take {4 * n * m / 2**20:.0f} MiB",
            "peak memory: resident, of the largest process, with the pages of the file that the system kept mapped",
        ],
    )


def draw(folder: Path, n: int) -> None:
    """Write inputs and targets block by block."""
    rng = np.random.default_rng(0)
    with open(folder / "x", "wb") as inputs, open(folder / "y", "wb") as targets:
        for begin in range(0, n + TEST, BLOCK):
            x = rng.normal(size=(min(BLOCK, n + TEST - begin), D)).astype(np.float32)
            noise = 0.3 * rng.normal(size=len(x)) * (np.arange(begin, begin + len(x)) < n)  # test samples have none
            x.tofile(inputs)
            (target(x) + noise).tofile(targets)


def target(x: np.ndarray) -> np.ndarray:
    """Return the noise-free targets (n,) of inputs (n, D)."""
    return np.sin(x[:, 0]) + np.cos(x[:, 1] * x[:, 2]) + 0.5 * np.tanh(x[:, 3:].sum(axis=1))


def fit(folder: Path, n: int, way: str, m: int) -> None:
    """Fit and print seconds, test error, iterations and the peak memory [MiB]."""
    from icub_learning.kernel_methods import FALKON

    x = np.memmap(folder / "x", dtype=np.float32, mode="r", shape=(n + TEST, D))
    y = np.memmap(folder / "y", dtype=np.float64, mode="r", shape=(n + TEST,))
    model = FALKON(n_centers=m, **SETTINGS)
    if way == "file":
        began = time.perf_counter()
        model.fit(x[:n], y[:n])
        spent = time.perf_counter() - began
    else:
        import dask.array
        from distributed import Client, LocalCluster

        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
            parts = [
                dask.array.from_array(some[:n], chunks=(BLOCK, *some.shape[1:]), name=f"rows of {name}")
                for name, some in (("x", x), ("y", y))
            ]
            began = time.perf_counter()
            model.fit(*parts)
            spent = time.perf_counter() - began
    error = float(np.sqrt(np.mean((model.predict(np.asarray(x[n:], dtype=np.float64)) - y[n:]) ** 2)))
    kinds = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
    peak = max(resource.getrusage(kind).ru_maxrss for kind in kinds) / 1024
    print(spent, error, model.n_iter_, peak)


if __name__ == "__main__":
    fit(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
