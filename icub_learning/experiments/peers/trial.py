"""A rival over one tape: its settings are searched on the first part, then it predicts and learns all of it."""

import hashlib
import json
from contextlib import suppress
from functools import cache
from itertools import pairwise
from pathlib import Path
from time import thread_time
from typing import Any

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics import assembly
from icub_learning.dynamics.settings import Settings
from icub_learning.evaluation.judgement import geometric_mean
from icub_learning.evaluation.metrics import mean_rmse, nmse
from icub_learning.evaluation.off_line import identify_off_line
from icub_learning.experiments.peers.rivals import Learner, Rival, Told
from icub_learning.experiments.peers.tape import FIRST, SEARCH, Tape
from icub_learning.recording.recording import Recording
from icub_learning.reporting.tables import write_json

START, STEADY = (FIRST, 10.0), 0.7  # interval "start" [s]; share of the recording before part "last"
WINDOWS = ((0.0, 0.15), (0.0, 1.0), (1.0, 2.0), (2.0, 4.0))  # windows after the change of task [s]
CURVE = tuple(np.geomspace(0.5, 64.0, 15).tolist())  # edges of the time bins of errors [s]
AFTER = tuple(np.concatenate([[0.05, 0.15, 0.3], np.geomspace(0.5, 8.0, 9)]).tolist())  # edges after a change [s]
WAITS = (2.0, 0.0, 5.0)  # candidate waits [s] before a rival learns on top of rigid bodies, which err at first
WORST = 1e6  # nMSE given to a learner that diverged
GROUPS = slice(0, 3), slice(3, 6)  # force and torque of a wrench


def predictions(tape: Tape, learner: Learner, base: Array | None, end: int, wait: float = 0.0) -> tuple[Array, float]:
    """Return predictions (end, n_outputs) of the first `end` joint states, and processor time for each [us]. Each is
    predicted before its measurement is learned, from `wait` [s] on, on top of `base` (n, n_outputs) if any."""
    made = np.full((end, tape.measured.shape[1]), np.nan)
    targets = tape.measured if base is None else tape.measured - base
    began = thread_time()
    with np.errstate(all="ignore"):
        for step in tape.order.tolist():
            if step >= end:
                break
            if step >= 0:
                made[step] = learner.predict(tape.motions[step])
            elif tape.times[-1 - step] >= wait:
                learner.learn(tape.motions[-1 - step], targets[-1 - step])
    return made if base is None else made + base[:end], 1e6 * (thread_time() - began) / max(end, 1)


def errors_between(tape: Tape, made: Array, begin: float, end: float) -> Array:
    """Return the nMSE (n_outputs,) between two times [s]; WORST where predictions are not finite."""
    rows = np.flatnonzero(_rows(tape, begin, np.nextafter(end, np.inf))[: len(made)])
    measured, predicted = tape.measured[rows], made[rows]
    if not len(measured):
        return np.full(made.shape[1], np.nan)
    with np.errstate(all="ignore"):
        bad = ~(np.abs(predicted) < 1e6 * (1 + np.abs(measured).max())).all()
    return np.full(made.shape[1], WORST) if bad else np.minimum(nmse(predicted - measured, measured), WORST)


def mean_between(tape: Tape, made: Array, begin: float, end: float) -> float:
    """Return the geometric mean over the judged outputs of the nMSE between two times [s]."""
    errors = errors_between(tape, made, begin, end)[tape.judged]
    return geometric_mean(errors[np.isfinite(errors)])


def score(tape: Tape, made: Array, changes_at: float | None) -> dict[str, Any]:
    """Return all errors of predictions (n, n_outputs): at the start, in the last part, over time, after a change."""
    last = float(tape.times[-1])
    found: dict[str, Any] = {
        "start": mean_between(tape, made, *START), "last": mean_between(tape, made, STEADY * last, last),
        "curve": _curve(tape, made, CURVE, 0.0)
    }  # fmt: skip
    if changes_at is not None:
        found["after"] = _curve(tape, made, AFTER, changes_at)
        windows = [_rows(tape, changes_at + begin, changes_at + end) for begin, end in WINDOWS]
        errors = made - tape.measured
        found["windows"] = [[float(mean_rmse(errors[rows][:, group])) for group in GROUPS] for rows in windows]
    return found


def _rows(tape: Tape, begin: float, end: float) -> np.ndarray:
    return (tape.times >= begin) & (tape.times < end) & np.isfinite(tape.measured).all(axis=1)


def _curve(tape: Tape, made: Array, edges: tuple[float, ...], since: float) -> list[float]:
    """Return geometric means over outputs of mean squared errors in time bins, over the whole recording's variance."""
    variance = np.nanvar(tape.measured, axis=0)[tape.judged]
    values = []
    for begin, end in pairwise(edges):
        rows = _rows(tape, since + begin, since + end)
        with np.errstate(all="ignore"):
            squares = ((made - tape.measured)[rows][:, tape.judged] ** 2).mean(axis=0) if rows.any() else np.nan
        values.append(float(np.exp(np.mean(np.log(np.clip(squares / variance, 1e-12, WORST))))))
    return values


def attempt(
    tape: Tape, rival: Rival, told: Told, base: Array | None, end: int, wait: float = 0.0, **settings: Any
) -> tuple[Array, float]:
    """Return the predictions of a rival with the given settings, and their cost; see `predictions`."""
    return predictions(tape, rival.make(told, **settings), base, end, wait)


def search(tape: Tape, rival: Rival, told: Told, base: Array | None, quick: bool) -> tuple[dict[str, Any], int]:
    """Return the settings with the least error in the part for choosing them, and how many were tried. In turn, each
    setting takes its best value with the others fixed, twice; quick: once, of its first two values."""
    more = {} if base is None else {"wait": WAITS}
    choices = {name: values[: 2 if quick else None] for name, values in {**rival.choices, **more}.items()}
    best = {name: values[0] for name, values in choices.items()}

    @cache
    def error(*values: Any) -> float:
        made, _ = attempt(tape, rival, told, base, tape.search_end, **dict(zip(choices, values, strict=True)))
        value = mean_between(tape, made, FIRST, SEARCH * float(tape.times[-1]))
        return value if np.isfinite(value) else WORST

    for _ in range(1 if quick else 2):
        for name, values in choices.items():
            best = min(({**best, name: value} for value in values), key=lambda tried: error(*tried.values()))
    return best, error.cache_info().currsize


def compete(
    tape: Tape, rival: Rival, settings: Settings, on_top: bool, seed: int, quick: bool, changes_at: float | None
) -> dict[str, Any]:
    """Search a rival's settings, run it over the tape, and return its errors, settings and cost."""
    base = tape.rigid if on_top else None
    targets = tape.measured if base is None else tape.measured - base
    late = (tape.times >= FIRST) & np.isfinite(targets).all(axis=1)
    mean_y, scale_y = _scale(targets[late])
    if on_top:
        mean_y = np.zeros_like(mean_y)  # residuals of rigid bodies are expected to have mean 0
    scales = (*_scale(tape.motions[late]), mean_y, scale_y)
    known = np.flatnonzero(late[: tape.search_end])
    told = Told(assembly.make_regressor(settings), scales, tape.motions[known], targets[known], seed)
    chosen, tried = search(tape, rival, told, base, quick)
    made, microseconds = attempt(tape, rival, told, base, len(tape.times), **chosen)
    return {**score(tape, made, changes_at), "settings": chosen, "tried": tried, "microseconds": microseconds}


def _scale(values: Array) -> tuple[Array, Array]:
    """Return means and standard deviations of columns; the deviation is 1 where a column hardly varies."""
    deviation = values.std(axis=0)
    return values.mean(axis=0), np.where(deviation > 1e-6 * max(deviation.max(), 1e-12), deviation, 1.0)


def off_line(tape: Tape, recording: Recording, settings: Settings) -> dict[str, Any]:
    """Identify on the first 70 % of a recording, off line, and predict the rest from the same motions as the others."""
    found = identify_off_line(recording, settings, (0.0, STEADY))
    made = np.full_like(tape.measured, np.nan)
    for row in np.flatnonzero(tape.times >= STEADY * tape.times[-1]):
        made[row] = found.regressor(*np.split(tape.motions[row], 3)) @ found.parameters
    last = float(tape.times[-1])
    return {"last": mean_between(tape, made, STEADY * last, last), "settings": {"bandwidth": found.bandwidth_hz}}


def kept(path: Path, key: str, work: Any) -> dict[str, Any]:
    """Return the result of `work` from an earlier run with the same key; else call it and keep its result."""
    digest = hashlib.sha256(key.encode()).hexdigest()
    with suppress(OSError, ValueError, KeyError, TypeError):
        found = json.loads(path.read_text())
        if found["key"] == digest:
            return dict(found["outcome"])
    outcome: dict[str, Any] = work()
    write_json(path, {"key": digest, "outcome": outcome}, "--out")
    return outcome
