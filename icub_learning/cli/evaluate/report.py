"""The figures of `evaluate`, and the tables that show them."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics.settings import Settings
from icub_learning.evaluation.metrics import group_rmse, nmse, percentiles, rmse
from icub_learning.evaluation.predict_then_learn import Evaluation
from icub_learning.recording import Recording
from icub_learning.reporting.tables import number, table
from icub_learning.reporting.wrench_errors import GROUPS

MODE_TITLES = {"causal": "causal", "smoothed": "smoothed (non-causal)", "recorded": "recorded accelerations"}


def figures_of(
    path: Path,
    recording: Recording,
    settings: Settings,
    results: Mapping[str, Mapping[str, Evaluation]],
    transient: float,
    steady_from: float,
) -> dict[str, Any]:
    """Return everything that is printed, as nested dicts.

    Args:
        path: path of the recording.
        recording: the recording.
        settings: settings of the evaluation.
        results: evaluations by kind of derivatives, then by estimator.
        transient: length of the transient [s].
        steady_from: fraction of the samples before the steady state.
    """
    first = next(iter(next(iter(results.values())).values()))  # what is accepted depends on neither
    return {
        "recording": str(path),
        "duration_s": recording.duration,
        "settings": {**asdict(settings), "urdf": _short(settings.urdf)},
        "transient_s": transient,
        "steady_from": steady_from,
        "samples": {
            "joint_states": first.n_joint_states,
            "wrenches": len(recording.wrench_stamps),
            "predicted": first.n_predicted,
            "compared": len(first.stamps),
            "without_measurement": first.n_unpaired,
            "refused": dict(first.refused.most_common()),
            "last_refusal": first.last_refusal,
        },
        "results": {
            mode: {short: _judge(result, settings.output, transient, steady_from) for short, result in by_name.items()}
            | {"hold": _hold_errors(next(iter(by_name.values())), settings.output, transient, steady_from)}
            for mode, by_name in results.items()
        },
    }


def parts(evaluation: Evaluation, transient: float, steady_from: float) -> dict[str, slice]:
    """Return the slices of the compared samples that are transient and steady state; they do not overlap."""
    stamps = evaluation.stamps
    steady = int(steady_from * len(stamps))
    early = stamps - stamps[:1] >= round(transient * 1e9)
    first_late = int(np.argmax(early)) if early.any() else len(stamps)
    return {"transient": slice(0, min(first_late, steady)), "steady": slice(steady, len(stamps))}


def _judge(evaluation: Evaluation, output: str, transient: float, steady_from: float) -> dict[str, Any]:
    return {
        **_errors(evaluation, evaluation.errors, output, transient, steady_from),
        "learned": evaluation.n_learned,
        "predict_s": percentiles(evaluation.predict_seconds),
        "learn_s": percentiles(evaluation.learn_seconds),
    }


def _hold_errors(evaluation: Evaluation, output: str, transient: float, steady_from: float) -> dict[str, Any]:
    """Return the errors of predicting the newest measurement received before."""
    return _errors(evaluation, evaluation.held - evaluation.measured, output, transient, steady_from)


def _errors(evaluation: Evaluation, errors: Array, output: str, transient: float, steady_from: float) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for part, where in parts(evaluation, transient, steady_from).items():
        rmses = dict(zip(evaluation.output_names, rmse(errors[where]).tolist(), strict=True))
        if output == "wrench":
            rmses |= {f"{group} (3 axes)": group_rmse(errors[where, columns]) for group, columns in GROUPS.items()}
        ratios = nmse(errors[where], evaluation.measured[where]).tolist()
        result[part] = {
            "samples": len(errors[where]),
            "rmse": rmses,
            "nmse": dict(zip(evaluation.output_names, ratios, strict=True)),
        }
    return result


def _short(urdf: str) -> str:
    return urdf if len(urdf) < 500 else "(XML text)"


def text(report: Mapping[str, Any]) -> str:
    """Return the tables of all figures."""
    results, samples = report["results"], report["samples"]
    unit = "N, N m" if report["settings"]["output"] == "wrench" else "unit of the recording's efforts, N m by ROS"
    titles = {
        "transient": f"first {report['transient_s']:g} s",
        "steady": f"last {100 * (1 - report['steady_from']):.3g} %",
    }
    blocks = [
        f"{report['recording']}: {report['duration_s']:.1f} s, {samples['joint_states']} joint states,"
        f" {samples['wrenches']} wrenches"
    ]
    for part, title in titles.items():
        n_samples = next(iter(results.values()))["P"][part]["samples"]
        heading = "Transient" if part == "transient" else "Steady state"
        for figure, caption in (("rmse", f"RMSE [{unit}]"), ("nmse", "nMSE")):
            blocks.append(
                f"{heading} ({title}, {n_samples} samples): {caption}\n" + _error_table(results, part, figure)
            )
    blocks.append(
        "hold: the newest measurement received before, repeated; smooth signals make it hard to beat at high rates"
    )
    blocks.append("Time per sample [µs]\n" + _time_table(results))
    blocks.append(_samples_text(report))
    return "\n\n".join(blocks)


def _error_table(results: Mapping[str, Any], part: str, figure: str) -> str:
    names = list(next(iter(results.values()))["P"][part][figure])
    columns = [(mode, short) for mode in results for short in ("P", "NP", "SP")]
    hold = next(iter(results.values()))["hold"][part][figure]
    rows = [
        [name, *(number(results[mode][short][part][figure][name]) for mode, short in columns), number(hold[name])]
        for name in names
    ]
    over = [(MODE_TITLES[mode], 3) for mode in results]
    return table(["output", *(short for _, short in columns), "hold"], rows, [*over, ("", 1)])


def _time_table(results: Mapping[str, Any]) -> str:
    rows = [
        [
            f"{short} {mode}",
            *(
                number(1e6 * by_name[short][work][key])
                for work in ("predict_s", "learn_s")
                for key in ("p50", "p99", "max")
            ),
        ]
        for mode, by_name in results.items()
        for short in ("P", "NP", "SP")
    ]
    keys = ["p50", "p99", "max"]
    return table(["estimator", *keys, *keys], rows, [("predict", 3), ("learn", 3)])


def _samples_text(report: Mapping[str, Any]) -> str:
    samples = report["samples"]
    learned = next(iter(report["results"].values()))["SP"]["learned"]
    lines = [
        f"{samples['joint_states']} joint states: {samples['predicted']} predicted, {samples['compared']} compared,"
        f" {learned} learned, {samples['without_measurement']} without a measurement"
    ]
    refused = samples["refused"]
    if refused:
        lines.append(f"{sum(refused.values())} messages or efforts refused:")
        width = max(map(len, refused))
        lines += [f"  {reason.ljust(width)}  {count}" for reason, count in refused.items()]
        lines.append(f"  last: {samples['last_refusal']}")
    else:
        lines.append("no message refused")
    if not learned:
        settings = report["settings"]
        lines.append(
            f"Nothing was learned: are the joint states more than max_gap = {settings['max_gap']:g} s apart,"
            f" or the wrenches more than tolerance = {settings['tolerance']:g} s from them? (--max-gap, --tolerance)"
        )
    return "\n".join(lines)
