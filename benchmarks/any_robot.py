"""Judge the shipped defaults on each robot of the zoo and on the available real recordings, one row each, with bounds.

Only its URDF, joints and kind of output are given for a robot. Real recordings are read from $ICUB_LEARNING_DATA
(arms/*.npz with the URDF beside each, ur10/*.db3); a remark names those that are missing.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from tqdm import tqdm

from benchmarks.report import Result
from icub_learning.arrays import Array
from icub_learning.dynamics.settings import Settings
from icub_learning.evaluation.judgement import Judgement, geometric_mean, judge
from icub_learning.evaluation.metrics import nmse
from icub_learning.evaluation.off_line import identify_off_line
from icub_learning.evaluation.predict_then_learn import compare
from icub_learning.experiments.peers.cases import REAL, real_recording
from icub_learning.recording import Recording
from icub_learning.simulation.zoo import DEVELOPMENT, ZOO

DURATION, QUICK_DURATION = 60.0, 15.0  # [s] recorded of each robot of the zoo, full and quick
LIMITS = {"SP/min(P,NP)": 1.05, "worst SP/min(P,NP)": 1.2, "SP/off-line": 1.5, "smoothness": 1.5}  # upper bounds
COVERAGE = (0.90, 0.98)  # bounds on the share of measurements within two predicted standard deviations
EARLY = 2.0, 10.0  # [s] part of the start that is reported, without a bound
MEAN_LIMIT = 1.0  # upper bound of the geometric mean of SP/off-line over all recordings


def run(quick: bool) -> Result:
    """Judge all robots and recordings; quick takes 15 s of each robot of the zoo and no real recordings."""
    rows, remarks = [], []
    for name in tqdm(ZOO, "zoo", disable=None):
        rows.append(row(name, "development" if name in DEVELOPMENT else "judging", *judge_zoo(name, quick=quick)))
    for name in () if quick else REAL:
        case = real_recording(name)
        if case is None:
            remarks.append(f"{name}: not in $ICUB_LEARNING_DATA, skipped")
        else:
            rows.append(row(name, "real", *judge_recording(*case)))
    mean = geometric_mean(np.array([entry["SP/off-line"] for entry in rows]))
    remarks.append(f"SP/off-line, geometric mean over all: {mean:.3f} (at most {MEAN_LIMIT:g})")
    remarks += [f"{entry['recording']}: {broken}" for entry in rows for broken in broken_bounds(entry)]
    remarks += [f"{entry['recording']}: left out: {entry['left out']}" for entry in rows if entry["left out"]]
    return Result(rows, remarks)


def judge_zoo(name: str, quick: bool = False, seed: int = 0) -> tuple[Judgement, Array]:
    """Judge one robot of the zoo as judge_recording does; outputs with more noise than signal are left out, too."""
    found = ZOO[name].record(QUICK_DURATION if quick else DURATION, seed)
    judgement, early = judge_recording(found.recording, Settings(**found.settings))
    return replace(judgement, judged=judgement.judged & ~np.array(found.mere_noise)), early


def judge_recording(recording: Recording, settings: Settings) -> tuple[Judgement, Array]:
    """Judge one recording; return also the nMSE of SP in EARLY over the smaller of P's and NP's, (n_outputs,)."""
    off_line, results = identify_off_line(recording, settings), compare(recording, settings)
    seconds = (results["SP"].stamps - results["SP"].stamps[0]) * 1e-9
    part = (seconds >= EARLY[0]) & (seconds < EARLY[1])
    errors = {short: nmse(one.errors[part], one.measured[part]) for short, one in results.items()}
    judgement = judge(results, off_line.nmse(recording), edge=1 / off_line.bandwidth_hz)
    return judgement, errors["SP"] / np.fmin(errors["P"], errors["NP"])


def row(name: str, kind: str, judgement: Judgement, early: Array) -> dict[str, Any]:
    """Return one row of the table."""
    figures = judgement.figures()
    figures.pop("hold")
    figures["early SP/min(P,NP)"] = geometric_mean(early[judgement.judged])
    return {"recording": name, "kind": kind, **figures, "left out": ", ".join(judgement.left_out)}


def broken_bounds(figures: dict[str, Any]) -> list[str]:
    """Return, in words, the bounds that the figures of a recording violate."""
    broken = [f"{key} {figures[key]:.3g} > {limit:g}" for key, limit in LIMITS.items() if not figures[key] <= limit]
    if not COVERAGE[0] <= figures["coverage"] <= COVERAGE[1]:
        broken.append(f"coverage {figures['coverage']:.3f} outside {COVERAGE[0]:g} to {COVERAGE[1]:g}")
    return broken
