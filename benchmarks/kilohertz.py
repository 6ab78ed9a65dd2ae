"""Time a thousand samples a second in one process, each predicted and learned within its millisecond."""

import gc
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from tqdm import tqdm

from benchmarks.report import Result
from icub_learning.recursive import RecursiveLeastSquares

RATE = 1000  # [Hz]
SECONDS = 60.0
D, T = 1000, 6  # the thesis' operating point, which ran at 20 Hz there


def run(quick: bool) -> Result:
    """Time the core alone, and the whole semiparametric learner with regressor and features."""
    seconds = 5.0 if quick else SECONDS
    rows = [_follow(name, make(), seconds) for name, make in (("core", _core), ("semiparametric", _semiparametric))]
    return Result(rows, [f"ms of a cycle (predict, then learn) at {RATE} Hz; late: cycles longer than their period."])


def _core() -> Callable[[int], None]:
    rng = np.random.default_rng(0)
    z, y = rng.normal(size=(1000, D)) / np.sqrt(D), rng.normal(size=(1000, T))
    learner = RecursiveLeastSquares(D, T)

    def step(i: int) -> None:
        learner.predict(z[i % 1000])
        learner.update(z[i % 1000], y[i % 1000])

    return step


def _semiparametric() -> Callable[[int], None]:
    from icub_learning.dynamics import SemiparametricEstimator, WrenchRegressor
    from icub_learning.robots import find_urdf

    joints = ("r_shoulder_pitch", "r_shoulder_roll", "r_shoulder_yaw", "r_elbow")
    regressor = WrenchRegressor.from_urdf(find_urdf("icub"), joints, "r_arm_ft_sensor")
    estimator = SemiparametricEstimator(regressor, n_random_features=D)
    rng = np.random.default_rng(0)
    motions, measured = rng.normal(size=(1000, 3, len(joints))), rng.normal(size=(1000, T))

    def step(i: int) -> None:
        motion = motions[i % 1000]
        estimator.predict(*motion)
        estimator.update(*motion, measured[i % 1000])

    return step


def _follow(name: str, step: Callable[[int], None], seconds: float) -> dict[str, Any]:
    for i in range(300):  # the features' scale is set by then
        step(i)
    count = round(seconds * RATE)
    taken, started = np.empty(count), np.empty(count)
    gc.collect()
    gc.freeze()
    start = time.perf_counter()
    with tqdm(total=round(seconds), unit="s", desc=name) as bar:
        for k in range(count):
            due = start + k / RATE
            if (left := due - time.perf_counter()) > 2e-4:
                time.sleep(left - 1e-4)
            while time.perf_counter() < due:
                pass
            begin = time.perf_counter()
            step(k)
            end = time.perf_counter()
            taken[k], started[k] = end - begin, begin - due
            if k % RATE == RATE - 1:
                bar.update(1)
    gc.unfreeze()
    p50, p99, largest = np.percentile(taken, (50, 99, 100)) * 1e3
    return {
        "learner": name,
        "d": D,
        "T": T,
        "seconds": seconds,
        "rate reached, Hz": round(count / (time.perf_counter() - start), 1),
        "p50": round(float(p50), 3),
        "p99": round(float(p99), 3),
        "max": round(float(largest), 3),
        "late": int((taken > 1 / RATE).sum()),
        "begun late, p99": round(float(np.percentile(started, 99)) * 1e3, 3),
    }
