"""Compare kernel methods with each other and with scikit-learn: what subsampling, paths and preconditioning save.

Every comparison is made in one run, its parts in turns on the same machine, with errors beside times: no method is
fast by doing less.
"""

import os
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

from benchmarks.report import Result
from icub_learning.evaluation.metrics import group_rmse
from icub_learning.experiments.data.tables import pumadyn, unit_interval
from icub_learning.experiments.figures import seconds, slope
from icub_learning.kernel_methods import FALKON, NYTRO, IncrementalNystromKRLS, NystromKRLS


def run_subsampling(quick: bool) -> Result:
    """Compare few centres with little regularization to many with much: pumadyn32nh, sigma 2.66 (thesis fig. 4.1)."""
    inputs, target = pumadyn(None)
    rows = []
    cases = {"m = 62, lambda = 1e-7": (62, 1e-7), "m = 1000, lambda = 1e-3": (1000, 1e-3)}
    scalings = {
        "inputs in [0, 1], raw target": (unit_interval(inputs), target),
        "inputs in [0, 1], standard target": (
            unit_interval(inputs),
            (target - target.mean()) / target.std(),
        ),
        "standard inputs and target": (
            (inputs - inputs.mean(0)) / inputs.std(0),
            (target - target.mean()) / target.std(),
        ),
    }
    for scaling, (x, y) in scalings.items():
        errors: dict[str, list[float]] = {case: [] for case in cases}
        times: dict[str, list[float]] = {case: [] for case in cases}
        for trial in range(2 if quick else 10):
            order = np.random.default_rng(trial).permutation(len(x))
            train, test = order[: len(x) // 2], order[len(x) // 2 :]
            for case, (m, level) in cases.items():
                model = NystromKRLS(length_scale=2.66, n_centers=m, regularization=level, random_state=trial)
                times[case].append(seconds(model.fit, x[train], y[train]))
                errors[case].append(group_rmse(model.predict(x[test]) - y[test]))
        for case in cases:
            rows.append(
                {
                    "scaling": scaling,
                    "case": case,
                    "test RMSE": float(np.mean(errors[case])),
                    "its spread": float(np.std(errors[case])),
                    "fit s": float(np.median(times[case])),
                    "target's deviation": float(y.std()),
                }
            )
    few, many = rows[0], rows[1]
    remarks = [
        f"inputs in [0, 1], raw target: error {few['test RMSE'] / many['test RMSE']:.3f} times, time "
        f"{few['fit s'] / many['fit s']:.3f} times that of m = 1000",
        "published: 0.33 for both, 3 times faster",
    ]
    return Result(rows, remarks)


def run_incremental(quick: bool) -> Result:
    """Time the path over m = 1..1000 beside one fit at 1000 and separate fits at L levels (thesis fig. 4.2)."""
    inputs, target = pumadyn(None)
    x, y = unit_interval(inputs), target - target.mean()
    x, y = x[:4096], y[:4096]
    most = 200 if quick else 1000
    settings: dict[str, Any] = {"length_scale": 2.66, "regularization": 1e-5, "random_state": 0}
    rounds = 3
    counts = (1, 2, 5, 10, 20)
    times: dict[str, list[float]] = {}

    def note(name: str, work: Callable[[], object]) -> None:
        times.setdefault(name, []).append(seconds(work))

    for _ in range(rounds):
        note("one fit", lambda: NystromKRLS(n_centers=most, **settings).fit(x, y))
        note("whole path", lambda: IncrementalNystromKRLS(n_centers=most, **settings).fit(x, y))
    for count in counts:
        levels = np.linspace(most / count, most, count).astype(int)
        note(
            f"separate fits, {count} levels",
            lambda levels=levels: [NystromKRLS(n_centers=int(m), **settings).fit(x, y) for m in levels],
        )
    path = IncrementalNystromKRLS(n_centers=most, **settings).fit(x, y)
    note("predictions of the whole path, 500 samples", lambda: path.predict_path(x[:500]))
    whole = NystromKRLS(n_centers=most, **settings).fit(x, y)
    apart = float(np.abs(path.predict(x[:500]) - whole.predict(x[:500])).max())
    _check(f"predictions of the path at m = {most}, beside one fit", apart, 1e-3 * float(np.std(y)))
    one = min(times["one fit"])
    rows = [{"what": what, "s": min(some), "x one fit": min(some) / one} for what, some in times.items()]
    naive = np.array([min(times[f"separate fits, {count} levels"]) for count in counts])
    growth = slope(counts[1:], naive[1:])
    remarks = [
        f"{most} levels by the path: {rows[1]['x one fit']:.2f} times one fit",
        f"separate fits at L levels grow as L^{growth:.2f}",
        f"largest difference of predictions at m = {most}: {apart:.1e}",
    ]
    return Result(rows, remarks)


def run_falkon(quick: bool) -> Result:
    """Time FALKON beside direct Nyström and scikit-learn's Nystroem + Ridge, n = 1e5, m = 1000, two BLAS threads."""
    n, m, d = (10_000, 200, 10) if quick else (100_000, 1000, 10)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n + 5000, d))
    clean = np.sin(2 * x[:, 0]) + np.cos(x[:, 1] * x[:, 2]) + 0.5 * np.tanh(x[:, 3:].sum(axis=1))
    y = clean + 0.3 * rng.normal(size=len(x))
    clean -= y[:n].mean()
    y -= y[:n].mean()
    level, scale = 1e-6, 3.0
    # scikit-learn draws its centres itself; the others get the same ones, so that all solve the same problem.
    reference = make_pipeline(
        Nystroem(gamma=1 / (2 * scale**2), n_components=m, random_state=0), Ridge(alpha=level * n, fit_intercept=False)
    )
    settings: dict[str, Any] = {"length_scale": scale, "regularization": level}
    rows = []
    with threadpool_limits(min(2, os.cpu_count() or 1), "blas"):
        first = seconds(reference.fit, x[:n], y[:n])
        centers = reference[0].components_
        models: dict[str, Any] = {"scikit-learn Nystroem + Ridge": reference}
        times = {"scikit-learn Nystroem + Ridge": [first]}
        models["direct Nyström (NystromKRLS)"] = NystromKRLS(centers=centers, **settings)
        models["FALKON"] = FALKON(centers=centers, tol=1e-3, **settings)
        models["FALKON, K_nm not kept"] = FALKON(centers=centers, tol=1e-3, storage="none", **settings)
        for _ in range(2):
            for name, model in models.items():
                times.setdefault(name, []).append(seconds(model.fit, x[:n], y[:n]))
        memory = _allocated(lambda: models["FALKON, K_nm not kept"].fit(x[:n], y[:n]))
        for name, model in models.items():
            error = group_rmse(model.predict(x[n:]) - clean[n:])
            rows.append({"method": name, "s": min(times[name]), "test RMSE": error, "all runs s": _listed(times[name])})
    for row in rows:
        _check(row["method"], row["test RMSE"], 1.1 * rows[0]["test RMSE"])
    ours, sklearn = rows[2], rows[0]
    remarks = [
        f"n = {n}, m = {m}, d = {d}, lambda = {level:g}; FALKON: {models['FALKON'].n_iter_} iterations, "
        f"{sklearn['s'] / ours['s']:.2f} times faster than scikit-learn, "
        f"error {ours['test RMSE'] / rows[1]['test RMSE']:.4f} times that of direct Nyström",
        f"K_nm not kept: {sklearn['s'] / rows[3]['s']:.2f} times faster than scikit-learn, traced peak of allocations "
        f"{memory / 2**20:.0f} MiB; m^2 numbers are {8 * m * m / 2**20:.0f} MiB, K_nm as it is kept "
        f"{4 * n * m / 2**20:.0f} MiB",
    ]
    return Result(rows, remarks)


def run_nytro(quick: bool) -> Result:
    """Time NYTRO over m beside Nyström KRLS, n = 1e4 (NYTRO paper, fig. 2)."""
    n, iterations = (2000, 50) if quick else (10_000, 200)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 12))
    y = np.sin(x[:, 0]) + 0.3 * rng.normal(size=n)
    sizes = (100, 200, 400) if quick else (250, 500, 1000, 2000)
    rows = []
    for m in sizes:
        row: dict[str, Any] = {"m": m}
        settings: dict[str, Any] = {"length_scale": 3.0, "n_centers": m, "random_state": 0}
        nytro = NYTRO(max_iter=iterations, path=[iterations], tol=0.0, **settings)
        nystrom = NystromKRLS(regularization=1e-3, **settings)
        row["NYTRO s"] = min(seconds(nytro.fit, x, y) for _ in range(2))
        row["NystromKRLS s"] = min(seconds(nystrom.fit, x, y) for _ in range(2))
        for name, model in (("NYTRO", nytro), ("NystromKRLS", nystrom)):
            row[f"{name} RMSE"] = group_rmse(model.predict(x) - np.sin(x[:, 0]))
            _check(f"{name}, m = {m}", row[f"{name} RMSE"], 0.6 * float(np.std(np.sin(x[:, 0]))))
        rows.append(row)
    slopes = {name: slope(sizes, [row[name] for row in rows]) for name in rows[0] if name.endswith(" s")}
    remarks = [
        f"n = {n}, t = {iterations}: time grows as m^{growth:.2f} ({name[:-2]})" for name, growth in slopes.items()
    ]
    return Result(rows, remarks, lambda figure: _draw(figure, rows))


def _check(what: str, error: float, most: float) -> None:
    """Raise AssertionError unless an error is small: no method is fast by doing less."""
    if not error < most:
        raise AssertionError(f"{what}: error {error:.3g}, but must be below {most:.3g}")


def _draw(figure: Any, rows: list[dict[str, Any]]) -> None:
    axis = figure.subplots()
    for name in ("NYTRO s", "NystromKRLS s"):
        axis.loglog([row["m"] for row in rows], [row[name] for row in rows], marker=".", label=name[:-2])
    axis.set(xlabel="centres m", ylabel="fit, s")
    axis.grid(which="both", alpha=0.3)
    axis.legend()


def _allocated(work: Callable[[], object]) -> int:
    """Return the peak of the memory that NumPy and Python allocate during `work` [bytes]."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _listed(times: list[float]) -> str:
    return " ".join(f"{one:.3g}" for one in times)
