"""Measure what accuracy it costs to learn one sample in N, as with `learning_share` where there are too many."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from tqdm import tqdm

from benchmarks.any_robot import DURATION
from benchmarks.report import Result
from icub_learning.dynamics import assembly
from icub_learning.dynamics.settings import Settings
from icub_learning.evaluation.judgement import geometric_mean
from icub_learning.evaluation.predict_then_learn import Evaluation, evaluate
from icub_learning.experiments.peers.cases import REAL, real_recording
from icub_learning.recording import Recording
from icub_learning.simulation.zoo import ZOO

WAYS = ((2, True), (4, True), (4, False))  # N of which one is learned, and whether it counts for those left out
PARTS = {
    "2 to 10 s": lambda share, seconds: (seconds > 2.0) & (seconds < 10.0),
    "last 30 %": lambda share, _: share > 0.7,
}


class Thinned:
    """An estimator that learns one in `every` samples, which counts for all of them or for itself alone."""

    def __init__(self, estimator: Any, every: int, counted: bool) -> None:
        self._estimator, self._every, self._count = estimator, every, every if counted else 1
        self._n = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._estimator, name)

    def update(self, *sample: Any, **more: Any) -> None:
        """Learn one sample, or leave it out."""
        self._n += 1
        if self._n % self._every == 0:
            self._estimator.update(*sample, **more, count=self._count)


def run(quick: bool) -> Result:
    """Judge SP on real recordings and on the zoo (quick: on two real recordings)."""
    rows: list[dict[str, Any]] = []
    for name, recording, settings in tqdm(list(_cases(quick)), "recordings", disable=None):
        every = [_errors(_evaluate(recording, settings, *way)) for way in ((1, True), *WAYS)]
        row = {"recording": name}
        for (number, counted), found in zip(WAYS, every[1:], strict=True):
            for part, error in found.items():
                row[f"1 in {number}{'' if counted else ', not counted'}: {part}"] = round(error / every[0][part], 3)
        rows.append(row)
    if rows:
        means = {key: round(geometric_mean(np.array([row[key] for row in rows])), 3) for key in list(rows[0])[1:]}
        rows.append({"recording": "geometric mean", **means})
    return Result(rows, ["nMSE of SP, mean of the outputs, over that of learning each sample."])


def _cases(quick: bool) -> Iterator[tuple[str, Recording, Settings]]:
    for name in REAL[:2] if quick else REAL:
        if (case := real_recording(name)) is not None:
            yield name, *case
    for name in () if quick else ZOO:
        found = ZOO[name].record(DURATION, 0)
        yield name, found.recording, Settings(**found.settings)


def _evaluate(recording: Recording, settings: Settings, every: int, counted: bool) -> Evaluation:
    settings = replace(settings, estimator="semiparametric")
    regressor = assembly.make_regressor(settings)
    estimator = Thinned(assembly.make_estimator(settings, regressor), every, counted)
    return evaluate(assembly.make_stream(settings, regressor, estimator), recording.events())


def _errors(evaluation: Evaluation) -> dict[str, float]:
    seconds = (evaluation.stamps - evaluation.stamps[0]) * 1e-9
    share = seconds / seconds[-1]
    squares = np.mean(evaluation.errors**2 / np.var(evaluation.measured, axis=0), axis=1)
    return {part: float(np.mean(squares[chosen(share, seconds)])) for part, chosen in PARTS.items()}
