"""Compare the motion filter with its defaults to the best window chosen by hand, on each robot of the zoo.

The window is a polynomial fitted to the positions, and with a weight to the velocities, of the last samples, evaluated
at the newest one. Its length, order and weight are chosen for each robot, separately for velocities and accelerations,
to minimize the same errors against the truth by which it is judged. Nothing is chosen for the filter.
"""

from itertools import product
from typing import Any

import numpy as np
from tqdm import tqdm

from benchmarks.report import Result
from icub_learning.arrays import Array
from icub_learning.dynamics import MotionFilter
from icub_learning.evaluation.judgement import geometric_mean
from icub_learning.evaluation.metrics import group_rmse
from icub_learning.simulation.zoo import DEVELOPMENT, ZOO, ZooRecording

DURATION, QUICK_DURATION = 30.0, 8.0  # [s] recorded of each robot, full and quick
WARM_UP = 0.25  # share of the recording, at its start, that does not count
SPANS = (0.02, 0.03, 0.045, 0.07, 0.1, 0.15, 0.2, 0.3, 0.45)  # [s] lengths of the windows
ORDERS = (2, 3)
WEIGHTS = (0.0, 0.01, 0.05, 0.25)  # [s] standard deviation of positions over that of velocities; 0: positions alone
JUDGED = 3000  # largest number of judged samples, evenly spaced
CHUNK = 1_000_000  # numbers in the design matrices that are held at once
LIMIT = 1.1  # ratio of the filter's error to that of the best window above which a robot is named


def run(quick: bool) -> Result:
    """Judge the filter on all robots; quick takes 8 s of each."""
    rows = []
    for name in tqdm(ZOO, "zoo", disable=None):
        found = ZOO[name].record(QUICK_DURATION if quick else DURATION, 0)
        places = judged_samples(len(found.position))
        own = errors(filtered(found)[places], found, places)
        best, how = best_window(found, places)
        row: dict[str, Any] = {"robot": name, "used for": "development" if name in DEVELOPMENT else "judging"}
        for what, error, rival, chosen in zip(("velocity", "acceleration"), own, best, how, strict=True):
            row |= {what: float(f"{error:.3g}"), f"{what}, window": float(f"{rival:.3g}")}
            row |= {f"{what} ratio": round(error / rival, 3), f"window for {what}": chosen}
        rows.append(row)
    remarks = [
        "RMSE in rad/s and rad/s^2 over all joints, newest sample, after the first quarter; ratio: filter/window."
    ]
    for what in ("velocity", "acceleration"):
        ratios = {row["robot"]: row[f"{what} ratio"] for row in rows}
        mean = geometric_mean(np.array(list(ratios.values())))
        above = ", ".join(f"{name} {value:g}" for name, value in ratios.items() if value > LIMIT) or "none"
        remarks.append(f"{what} ratio: geometric mean {mean:.3f}; above {LIMIT}: {above}")
    return Result(rows, remarks)


def judged_samples(n: int) -> np.ndarray:
    """Return the indices, among n samples, of those at which errors count."""
    return np.unique(np.linspace(int(WARM_UP * n), n - 1, JUDGED).astype(int))


def filtered(found: ZooRecording) -> Array:
    """Return the filter's velocity and acceleration at each sample once it is the newest, (n, 2, n_joints)."""
    recording = found.recording
    motion = MotionFilter(recording.position.shape[1])
    values = np.zeros((len(recording.position), 2, recording.position.shape[1]))
    last = int(recording.joint_stamps[0]) - 1
    for place, stamp in enumerate(recording.joint_stamps.tolist()):
        if stamp > last:  # a stream refuses samples that are not newer
            velocity = None if recording.velocity is None else recording.velocity[place]
            motion.add(stamp, recording.position[place], velocity)
            last = stamp
        values[place] = motion.newest()[2:]
    return values


def best_window(found: ZooRecording, places: np.ndarray) -> tuple[Array, list[str]]:
    """Return the smallest RMSE of velocity and of acceleration over all windows, and how they were reached."""
    recording = found.recording
    rate = 1e9 / float(np.median(np.diff(recording.joint_stamps)))
    lengths = sorted({max(round(rate * span), 4) for span in SPANS})
    weights = WEIGHTS if recording.velocity is not None else (0.0,)
    best, how = np.full(2, np.inf), ["", ""]
    for length, order, weight in product(lengths, ORDERS, weights):
        one = errors(window(found, places, length, order, weight), found, places)
        for index in np.flatnonzero(one < best):
            best[index], how[index] = one[index], f"{length} samples, order {order}, weight {weight:g} s"
    return best, how


def window(found: ZooRecording, places: np.ndarray, length: int, order: int, weight: float) -> Array:
    """Return velocity and acceleration of polynomials fitted to the last samples, (len(places), 2, n_joints).

    Args:
        found: the recording.
        places: indices of the newest samples.
        length: number of samples in a window.
        order: order of the polynomials.
        weight: weight of the velocities [s].
    """
    recording = found.recording
    stamps = recording.joint_stamps
    values = np.empty((len(places), 2, recording.position.shape[1]))
    chunk = max(CHUNK // (length * (order + 1)), 1)
    for first in range(0, len(places), chunk):
        ends = places[first : first + chunk]
        members = np.maximum(ends[:, None] - np.arange(length), 0)
        times = (stamps[members] - stamps[ends][:, None]) * 1e-9
        span = np.maximum(-times[:, -1:], 1e-9)
        u = times / span
        design, data = u[..., None] ** np.arange(order + 1), recording.position[members]
        if weight and recording.velocity is not None:
            powers = np.arange(order + 1)
            slopes = powers * u[..., None] ** np.maximum(powers - 1, 0) / span[..., None]
            design = np.concatenate([design, weight * slopes], axis=1)
            data = np.concatenate([data, weight * recording.velocity[members]], axis=1)
        scale = np.sqrt((design**2).sum(axis=1))  # norms of the columns
        scaled = (design / scale[:, None]).swapaxes(1, 2)
        fitted = np.linalg.solve(scaled @ scaled.swapaxes(1, 2), scaled @ data) / scale[..., None]
        values[first : first + chunk, 0] = fitted[:, 1] / span
        values[first : first + chunk, 1] = 2.0 * fitted[:, 2] / span**2
    return values


def errors(values: Array, found: ZooRecording, places: np.ndarray) -> Array:
    """Return the RMSE of velocity and of acceleration, (2,)."""
    truth = found.velocity[places], found.acceleration[places]
    return np.array([group_rmse(values[:, index] - one) for index, one in enumerate(truth)])
