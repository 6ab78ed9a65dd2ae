"""`icub-learning tune` on a recording of motion: the inverse dynamics learner."""

import argparse
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from icub_learning.arrays import integer, real
from icub_learning.cli import parameter_file
from icub_learning.cli.options import make_settings, progress_bar, read_for
from icub_learning.cli.tune import picture, report
from icub_learning.cli.tune.progress import Progress, complete, fingerprint
from icub_learning.cli.tune.result import Result
from icub_learning.dynamics.motion.noise_levels import LONGEST_LAG
from icub_learning.dynamics.settings import PUBLISHED_LENGTH_SCALE, PUBLISHED_REGULARIZATION, Settings
from icub_learning.errors import RecordingError
from icub_learning.evaluation.dynamics_tuning import Samples, check, collect, overall
from icub_learning.evaluation.metrics import nmse, rmse
from icub_learning.evaluation.predict_then_learn import Evaluation, check_outputs
from icub_learning.kernel_methods.tuning import Choice, Grid, PathExplorer, Surface
from icub_learning.recording import Recording

LENGTH_SCALES = (1.25, 2.5, 5.0, 10.0)
REGULARIZATIONS = tuple(0.003 * 4.0**power for power in range(-5, 4))
SIZES = (250, 500, 1000)
FOLDS = 6
LEAST_EVENTS = 100  # messages of a recording


def tune_dynamics(args: argparse.Namespace) -> Result:
    """Choose settings on the first part of a recording, and check them on its last part.

    Raises:
        RecordingError: the recording cannot be read, or holds too little to tune on.
        ParameterError: an option is outside its range.
    """
    settings = make_settings(args)
    gap = real("--gap", args.gap, 0.0)
    horizon = real("--horizon", args.horizon, 0.0, low_open=True)
    most = integer("--most-samples", args.most_samples, 100)
    grid = Grid(
        tuple(args.length_scales or LENGTH_SCALES),
        tuple(args.regularizations or REGULARIZATIONS),
        tuple(args.sizes or SIZES),
    )
    parameter_file.check_grid(grid)
    recording, settings = read_for(args, settings)
    check_outputs(recording, settings)
    events = list(recording.events())
    if len(events) < LEAST_EVENTS:
        raise RecordingError(
            f"{args.recording} has {len(events)} messages: too few to tune on", name="recording", value=len(events),
            bound=f"{LEAST_EVENTS} messages",
        )  # fmt: skip
    tuned_on = int(args.tune_on * len(events))
    n_outputs = args.tune_on * (len(recording.wrench_stamps) if settings.output == "wrench" else len(events))
    stride = max(1, -(-int(n_outputs) // most))
    samples = collect(progress_bar("samples", "msg", len(events))(events[:tuned_on]), settings, stride)
    rate, delay = _sample_rate(recording, settings), LONGEST_LAG
    # A sample is learned from the motion around it, none of which may lie after the gap.
    gap_samples, horizon_samples = int(np.ceil(max(gap, delay) * rate)), max(1, round(horizon * rate))
    folds = samples.folds(args.folds or FOLDS, gap_samples, horizon_samples)
    explorer = PathExplorer("features", grid, folds, samples.judge(), settings.seed)
    cells = explorer.cells()
    identity = fingerprint(folds, (grid, stride, settings.seed))
    progress = Progress(args.parameters.with_suffix(".progress.json"), identity)
    results = complete(progress, [cell.key for cell in cells], lambda index: explorer.measure(cells[index]))
    surface = explorer.surface(results, "geometric")
    best = surface.best()
    tuned = replace(
        settings,
        length_scale=best.length_scale,
        nonparametric_regularization=best.regularization,
        n_random_features=best.size,
    )
    checks = _checks(events, {"tuned": tuned, "defaults": settings}, tuned_on)
    figures = _figures(args, recording, surface, best, tuned, checks, samples)
    figures["validation"] = {
        "folds": len(folds),
        "gap_s": gap_samples / rate,
        "horizon_s": horizon_samples / rate,
        "every_which_sample": stride,
    }

    def write_parameters(path: Path, comment: Sequence[str]) -> None:
        parameter_file.write_dynamics(path, args.urdf, tuned, comment)

    def draw(path: Path) -> None:
        picture.draw_dynamics(path, args.recording.name, surface, best, settings, checks)

    return Result(figures, report.dynamics_text(figures), write_parameters, draw, progress)


def _checks(events: Any, candidates: dict[str, Settings], tuned_on: int) -> dict[str, dict[str, Any]]:
    """Return the evaluation and the first sample of its last part, by kind of check and name of the settings."""
    return {
        kind: {
            name: check(
                events,
                settings,
                tuned_on,
                stop_learning=stop,
                watch=progress_bar(f"check {name}, {kind}", "msg", len(events)),
            )
            for name, settings in candidates.items()
        }
        for kind, stop in (("learning on", False), ("learning stopped", True))
    }


def _figures(
    args: argparse.Namespace,
    recording: Recording,
    surface: Surface,
    best: Choice,
    tuned: Settings,
    checks: dict[str, dict[str, tuple[Evaluation, int]]],
    samples: Samples,
) -> dict[str, Any]:
    judged = {kind: {name: _judge(*one) for name, one in by_name.items()} for kind, by_name in checks.items()}
    evaluation, start = checks["learning on"]["tuned"]
    held = replace(evaluation, predicted=evaluation.held)
    judged["learning on"]["hold"] = _judge(held, start)
    ours, shipped = (judged["learning on"][name]["overall nMSE"] for name in ("tuned", "defaults"))
    stopped = [judged["learning stopped"][name]["overall nMSE"] for name in ("tuned", "defaults")]
    return {
        "recording": str(args.recording),
        "duration_s": recording.duration,
        "tuned_on": args.tune_on,
        "samples": len(samples.inputs),
        "last_samples": len(evaluation.stamps) - start,
        "settings": {**asdict(tuned), "urdf": args.urdf},
        "grid": asdict(surface.grid),
        "errors": surface.errors,
        "fold_errors": surface.fold_errors,
        "chosen": asdict(best),
        "at_the_edge": report.edges(surface.grid, best),
        "defaults": {
            "length_scale": PUBLISHED_LENGTH_SCALE,
            "regularization": PUBLISHED_REGULARIZATION,
            "size": Settings.n_random_features,
        },
        "check": judged,
        "beats_defaults": bool(ours < shipped),
        "verdict": report.verdict("overall nMSE of the last part", ours, shipped)
        + "; "
        + report.verdict("with learning stopped before it", *stopped),
    }


def _judge(evaluation: Evaluation, start: int) -> dict[str, Any]:
    errors, measured = evaluation.errors[start:], evaluation.measured[start:]
    if not len(errors):
        raise RecordingError("the last part has no samples to judge by", name="recording", bound="samples in each part")
    ratios = nmse(errors, measured)
    if np.isnan(ratios).all():
        raise RecordingError("no output varies in the last part", name="recording", bound="outputs that vary")
    return {
        "rmse": dict(zip(evaluation.output_names, rmse(errors).tolist(), strict=True)),
        "nmse": dict(zip(evaluation.output_names, ratios.tolist(), strict=True)),
        "overall nMSE": float(overall(ratios)),
    }


def _sample_rate(recording: Recording, settings: Settings) -> float:
    """Return the rate of the samples that are learned [Hz]."""
    stamps = recording.wrench_stamps if settings.output == "wrench" else recording.joint_stamps
    return 1.0 / max(_period(stamps), _period(recording.joint_stamps))


def _period(stamps: Any) -> float:
    steps = np.diff(np.sort(stamps))
    steps = steps[steps > 0]
    if not len(steps):
        raise RecordingError("the recording has fewer than two instants", name="stamps", bound="more of them")
    return float(np.median(steps)) * 1e-9
