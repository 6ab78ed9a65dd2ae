"""Bytes and seconds of a fleet that pools its models: measured for up to ten robots, computed for larger fleets."""

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.report import Result
from icub_learning.dynamics import assembly
from icub_learning.dynamics.fleet import Fleet
from icub_learning.dynamics.saved_model import ModelDescription
from icub_learning.dynamics.settings import DEFAULTS, Settings
from icub_learning.models import write_model
from icub_learning.models.ledger import accounted
from icub_learning.simulation.zoo import ZOO

ROBOT = ZOO["icub_wrench_100hz"]
MEASURED, COMPUTED = (1, 3, 10), (100, 1000)


def run(quick: bool) -> Result:
    """Do one round for each size: gather every robot's model into an empty folder, and spread the pooled one to all."""
    rows: list[dict[str, Any]] = []
    for estimator, n_features in (("parametric", 2), ("semiparametric", DEFAULTS.n_random_features)):
        settings = Settings(estimator=estimator, n_random_features=n_features, forgetting=1.0, **ROBOT.settings)
        for n_robots in MEASURED[: 2 if quick else 3]:
            rows.append({"model": estimator, "robots": n_robots, "how": "measured", **_measure(settings, n_robots)})
        last = rows[-1]
        for n_robots in COMPUTED:
            share = n_robots / last["robots"]
            scaled = {name: share * last[name] for name in ("gathered [MB]", "spread [MB]", "gather [s]", "spread [s]")}
            rows.append({"model": estimator, "robots": n_robots, "how": "computed", **scaled})
    remarks = [
        "gathered, spread: bytes of all robots' models in one round; gather: reading, pooling, writing, on one core.",
        "computed: in proportion to the largest fleet that was measured.",
    ]
    return Result(rows, remarks)


def _measure(settings: Settings, n_robots: int) -> dict[str, float]:
    regressor = assembly.make_regressor(settings)
    description = ModelDescription(settings, regressor)
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for number in range(n_robots):
            estimator = assembly.make_estimator(settings, regressor)
            for _ in range(50):
                estimator.update(*rng.normal(size=(3, regressor.n_joints)), rng.normal(size=regressor.n_outputs))
            path = Path(folder, f"robot_{number}.npz")
            files.append((path.stem, write_model(path, accounted(estimator), description.header(50))))
        size = sum(path.stat().st_size for _, path in files)
        fleet = Fleet(Path(folder, "fleet"))
        start = time.perf_counter()
        fleet.gather(files)
        gathered = time.perf_counter()
        each = fleet.spread([Path(folder, f"to_{number}.npz") for number in range(n_robots)])
        spread = time.perf_counter()
    return {
        "gathered [MB]": size / 1e6,
        "spread [MB]": n_robots * each / 1e6,
        "gather [s]": gathered - start,
        "spread [s]": spread - gathered,
    }
