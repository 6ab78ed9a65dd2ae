"""The figures of `evaluate`, and the tables that show them."""

import argparse
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from icub_learning.arrays import Array
from icub_learning.cli.evaluate.cases import Case
from icub_learning.dynamics.settings import Settings
from icub_learning.errors import ParameterError, RecordingError
from icub_learning.evaluation.judgement import FEW_LEVELS, judge
from icub_learning.evaluation.metrics import group_rmse, nmse, percentiles, rmse
from icub_learning.evaluation.off_line import identify_off_line
from icub_learning.evaluation.predict_then_learn import Evaluation
from icub_learning.evaluation.robot_check.motion import check_velocities
from icub_learning.evaluation.robot_check.observation import WRONG, Observation
from icub_learning.evaluation.robot_check.timing import FEWEST, check_rates
from icub_learning.recording import Recording
from icub_learning.reporting.tables import number, table
from icub_learning.reporting.wrench_errors import GROUPS

Figures = dict[str, Any]
MODE_TITLES = {"causal": "causal", "smoothed": "smoothed (non-causal)", "recorded": "recorded accelerations"}


@dataclass(frozen=True)
class OffLine:
    """Off-line identification, with which the learners are compared, or why there is none."""

    outputs: tuple[Array, Array] | None = None  # errors and measurements of the part judged, (n, n_outputs) each
    bandwidth_hz: float = float("nan")  # bandwidth of its filter
    failure: str = ""  # why there is none; "" otherwise

    @classmethod
    def of(cls, recording: Recording, settings: Settings, steady_from: float, test: Recording | None) -> "OffLine":
        """Identify on the part of the recording before the steady state, or on all of it if there is a test."""
        try:
            found = identify_off_line(recording, settings, (0.0, 1.0 if test else steady_from))
            predicted, measured = found.predict(test) if test else found.predict(recording, (steady_from, 1.0))
        except (RecordingError, ParameterError) as error:  # such as one that is too short; on-line learning needs none
            return cls(failure=str(error))
        return cls((predicted - measured, measured), found.bandwidth_hz)

    @property
    def nmse(self) -> Array | None:
        """The nMSE (n_outputs,); None where there is none."""
        return None if self.outputs is None else nmse(*self.outputs)


def figures_of(
    args: argparse.Namespace, case: Case, results: Mapping[str, Mapping[str, Evaluation]], off_line: OffLine,
    test: Case | None,
) -> Figures:  # fmt: skip
    """Return all that is printed, as nested dicts, from evaluations by kind of derivatives, then by estimator."""
    recording, settings = (test or case).recording, case.settings
    by_name = next(iter(results.values()))
    first = next(iter(by_name.values()))  # the accepted samples depend on neither derivatives nor estimator
    judged = {"test": slice(None)} if test else _parts(first.stamps, args.transient, args.steady_from)
    seen, measured = Observation(recording, settings.urdf), settings.velocity_source != "estimated"
    checked = check_rates(seen)[: 1 + (settings.output == "wrench")] + check_velocities(seen) * measured
    judgement, begin = None, 0.0 if test else args.steady_from
    if (1.0 - begin) * len(first.stamps) > FEW_LEVELS + 1:  # so few values always look like quantization
        judgement = judge(by_name, off_line.nmse, begin, 1 / off_line.bandwidth_hz)
    return {
        "recording": str(case.path), "test": str(test.path) if test else None, "duration_s": recording.duration,
        "settings": {**asdict(settings), "urdf": settings.urdf if len(settings.urdf) < 500 else "(XML text)"},
        "remarks": [*case.remarks, *(test.remarks if test else ())],
        "horizon_s": args.horizon, "transient_s": args.transient, "steady_from": args.steady_from,
        "samples": {
            "joint_states": first.n_joint_states, "wrenches": len(recording.wrench_stamps),
            "predicted": first.n_predicted, "compared": len(first.stamps), "without_measurement": first.n_unpaired,
            "refused": dict(first.refused.most_common()), "last_refusal": first.last_refusal,
            "sensor_faults": dict(first.faults.most_common()),
            "findings": [f"{one.text}: {one.remedy}" for one in checked if one.verdict == WRONG],
        },
        "results": {mode: _results(found, off_line, settings.output, judged) for mode, found in results.items()},
        "off_line": {"bandwidth_hz": off_line.bandwidth_hz, "failure": off_line.failure},
        "judgement": None if judgement is None else {**judgement.figures(), "left_out": list(judgement.left_out)},
    }  # fmt: skip


def _parts(stamps: np.ndarray, transient: float, steady_from: float) -> dict[str, slice]:
    """Return the slices of the compared samples that are transient and steady state; they do not overlap."""
    steady = int(steady_from * len(stamps))
    early = stamps - stamps[:1] >= round(transient * 1e9)
    first_late = int(np.argmax(early)) if early.any() else len(stamps)
    return {"transient": slice(0, min(first_late, steady)), "steady": slice(steady, len(stamps))}


def _results(by_name: Mapping[str, Evaluation], off_line: OffLine, output: str, judged: Mapping[str, slice]) -> Figures:
    """Return the errors of each estimator, of holding the newest measurement, and of off-line identification."""
    first = next(iter(by_name.values()))
    pairs = {short: (one.errors, one.measured) for short, one in by_name.items()}
    pairs["hold"] = first.held - first.measured, first.measured
    names = first.output_names
    found: Figures = {
        short: {part: _errors(errors[where], measured[where], names, output) for part, where in judged.items()}
        for short, (errors, measured) in pairs.items()
    }
    for short, one in by_name.items():
        times = {"predict_s": percentiles(one.predict_seconds), "learn_s": percentiles(one.learn_seconds)}
        found[short] |= {"learned": one.n_learned, "withheld": one.n_withheld, "seen": dict(one.seen), **times}
    # Off-line identification is judged on the last part alone.
    found["off-line"] = {[*judged][-1]: _errors(*off_line.outputs, names, output)} if off_line.outputs else {}
    return found


def _errors(errors: Array, measured: Array, names: tuple[str, ...], output: str) -> Figures:
    errors, measured = errors[held := ~np.isnan(errors).all(axis=1)], measured[held]  # nothing is held at the start
    rmses = dict(zip(names, rmse(errors).tolist(), strict=True))
    if output == "wrench":
        rmses |= {f"{group} (3 axes)": group_rmse(errors[:, columns]) for group, columns in GROUPS.items()}
    ratios = dict(zip(names, nmse(errors, measured).tolist(), strict=True))
    return {"samples": len(errors), "rmse": rmses, "nmse": ratios}


def text(report: Mapping[str, Any]) -> str:
    results, samples = report["results"], report["samples"]
    unit = "N, N m" if report["settings"]["output"] == "wrench" else "unit of the recording's efforts, N m by ROS"
    titles = {
        "transient": f"Transient (first {report['transient_s']:g} s",
        "steady": f"Steady state (last {100 * (1 - report['steady_from']):.3g} %",
        "test": "With learning off (all of the test",
    }
    name, states = report["test"] or report["recording"], samples["joint_states"]
    wrenches = f", {samples['wrenches']} wrenches" if report["settings"]["output"] == "wrench" else ""
    head = f"{name}: {report['duration_s']:.1f} s, {states} joint states{wrenches}"
    learned = [f"learned from {report['recording']}"] if report["test"] else []
    blocks = ["\n".join(["; ".join([head, *learned]), *report["remarks"]])]
    if report["horizon_s"]:
        blocks.append(f"Each prediction is {report['horizon_s']:g} s beyond all that was learned; so is hold.")
    if report["judgement"]:
        blocks.append(_verdict(report["judgement"]))
    shown = next(iter(results.values()))["P"]
    for part in filter(shown.__contains__, titles):
        for figure, caption in (("rmse", f"RMSE [{unit}]"), ("nmse", "nMSE")):
            title = f"{titles[part]}, {shown[part]['samples']} samples): {caption}\n"
            blocks.append(title + _error_table(results, part, figure))
    off_line, before = report["off_line"], report["recording"] if report["test"] else "the part before"
    how = f"least squares, zero-phase filter of {off_line['bandwidth_hz']:g} Hz, on {before}"
    how = f"none: {off_line['failure']}" if off_line["failure"] else how
    text = "hold: the newest measurement received before; smooth signals make it hard to beat at high rates"
    blocks += [f"off-line: {how}\n{text}", "Time per sample [µs]\n" + _time_table(results), _samples_text(report)]
    return "\n\n".join(blocks)


def _verdict(judgement: Mapping[str, Any]) -> str:
    if np.isnan(judgement["coverage"]):
        return f"SP is not judged: no output varies beyond the steps of its sensor ({', '.join(judgement['left_out'])})"
    lines = [
        f"SP: nMSE {number(judgement['SP/min(P,NP)'])} times that of the better of P and NP, worst output"
        f" {number(judgement['worst SP/min(P,NP)'])}; {number(judgement['SP/off-line'])} times that of off-line",
        f"SP: successive differences {number(judgement['smoothness'])} times those measured (worst output);"
        f" {100 * judgement['coverage']:.1f} % of measurements within two predicted standard deviations",
    ]
    if judgement["left_out"]:
        lines.append(f"mere quantization noise, left out of these means: {', '.join(judgement['left_out'])}")
    return "\n".join(lines)


def _estimators(by_name: Mapping[str, Any]) -> list[str]:
    return [short for short in by_name if short not in ("hold", "off-line")]


def _error_table(results: Mapping[str, Any], part: str, figure: str) -> str:
    first = next(iter(results.values()))
    names = list(first["P"][part][figure])
    others = ("hold",) if part == "transient" else ("off-line", "hold")  # off-line learns from the transient
    columns = [(mode, short) for mode in results for short in _estimators(first)]
    rows = []
    for name in names:
        found = [results[mode][short][part][figure][name] for mode, short in columns]
        found += [first[short].get(part, {}).get(figure, {}).get(name) for short in others]
        rows.append([name, *map(number, found)])
    over = [(MODE_TITLES[mode], len(_estimators(first))) for mode in results]
    return table(["output", *(short for _, short in columns), *others], rows, [*over, ("", len(others))])


def _time_table(results: Mapping[str, Any]) -> str:
    keys, works = ["p50", "p99", "max"], ("predict_s", "learn_s")
    rows = [
        [f"{short} {mode}", *(number(1e6 * by_name[short][work][key]) for work in works for key in keys)]
        for mode, by_name in results.items()
        for short in _estimators(by_name)
    ]
    return table(["estimator", *keys, *keys], rows, [("predict", 3), ("learn", 3)])


def _samples_text(report: Mapping[str, Any]) -> str:
    samples, by_name = report["samples"], next(iter(report["results"].values()))
    learned = by_name["SP"]["learned"]
    head = f"{samples['joint_states']} joint states: {samples['predicted']} predicted, {samples['compared']} compared,"
    lines = [f"{head} {learned} learned by SP, {samples['without_measurement']} without a measurement"]
    if refused := samples["refused"]:
        width, hints = max(map(len, refused)), {"joint_order": "  (--joint-order any takes them)"}
        lines += [f"{sum(refused.values())} messages or efforts refused:"]
        lines += [f"  {reason.ljust(width)}  {count}{hints.get(reason, '')}" for reason, count in refused.items()]
        lines.append(f"  last: {samples['last_refusal']}")
    else:
        lines.append("no message refused")
    lines += [f"{count} samples not learned: {fault}" for fault, count in samples["sensor_faults"].items()]
    for short in _estimators(by_name):
        if (own := by_name[short])["withheld"] or own["seen"]:
            seen = ", ".join(f"{count} {what}" for what, count in own["seen"].items()) or "something that had not ended"
            lines.append(f"{own['withheld']} not learned by {short} while touched: {seen} (--watch never learns all)")
    if learned:
        lines += samples["findings"] * (samples["joint_states"] >= FEWEST)
    elif not report["test"]:
        lines += _why_nothing_was_learned(report, samples["joint_states"], report["duration_s"])
    return "\n".join(lines)


def _why_nothing_was_learned(report: Mapping[str, Any], n: int, duration: float) -> list[str]:
    samples, settings = report["samples"], report["settings"]
    if sum(samples["refused"].values()) >= samples["predicted"]:
        return ["Nothing was learned: all measurements were refused, see above."]
    if n < FEWEST:
        return [f"Nothing was learned: {n} joint states in {duration:.3g} s are too few; record some seconds at least."]
    gaps = [f"are joint states more than max_gap = {settings['max_gap']:g} s apart (--max-gap)?"]
    if duration <= settings["max_gap"]:
        gaps = [f"is a recording of {duration:.3g} s too short?"]
    if settings["output"] == "wrench":
        gaps.append(f"are wrenches more than tolerance = {settings['tolerance']:g} s from joint states (--tolerance)?")
    return ["Nothing was learned:", *(f"  {reason}" for reason in (*samples["findings"], *gaps))]
