"""What the demonstration found: figures, tables and a picture."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from icub_learning.arrays import Array
from icub_learning.cli.report import number, table
from icub_learning.dynamics.metrics import group_rmse, percentiles

TRANSIENT = 3.0  # [s] after the switch: 30 samples of the thesis, which learned at 10 Hz
STEADY = 0.3  # the last part of each plane's time that counts as steady
GROUPS = {"force": slice(0, 3), "torque": slice(3, 6)}
UNITS = {"force": "N", "torque": "N m"}
PARTS = {"steady_before": "steady, XY", "transient": f"first {TRANSIENT:g} s of XZ", "steady_after": "steady, XZ"}
PUBLISHED = (
    "Published for the real iCub (thesis, 8.4.3; 10 Hz): steady state SP ≈ NP ≈ 1 N and 0.1 N m, P 2-3 N and"
    "\n0.5-0.7 N m; in the first samples after the change of plane SP far better than NP."
)


def parts(stamps: np.ndarray, switch: int) -> dict[str, np.ndarray]:
    """Masks of the samples of each part; `switch` is the stamp of the change of plane [ns]."""
    before, after = stamps <= switch, stamps > switch
    steady_before = switch - STEADY * (switch - stamps[0]) if len(stamps) else 0
    steady_after = stamps[-1] - STEADY * (stamps[-1] - switch) if len(stamps) else 0
    return {
        "steady_before": before & (stamps > steady_before),
        "transient": after & (stamps <= switch + round(TRANSIENT * 1e9)),
        "steady_after": after & (stamps > steady_after),
    }


def errors_of(stamps: np.ndarray, errors: Array, switch: int) -> dict[str, Any]:
    """RMSE of force and torque (three axes each) in each part."""
    return {
        part: {"samples": int(mask.sum()), **{g: group_rmse(errors[mask][:, axes]) for g, axes in GROUPS.items()}}
        for part, mask in parts(stamps, switch).items()
    }


def timing_of(joint_states: np.ndarray, predictions: np.ndarray) -> dict[str, Any]:
    """How one node kept up.

    Args:
        joint_states: (n, 3) stamp, publication and arrival of each [ns].
        predictions: (m, 3) likewise.

    Counted are the joint states from the node's first prediction to its last: without a prediction, and with two.
    What came before the first joint state heard here is left out. Latency runs from the publication of a joint state
    to that of its prediction, by the clock of the middleware, and to the arrival of the prediction here.
    """
    predictions = predictions[predictions[:, 0] >= joint_states[:, 0].min()]
    stamps, mine, theirs = np.intersect1d(joint_states[:, 0], predictions[:, 0], return_indices=True)
    first, last = predictions[:, 0].min(), predictions[:, 0].max()
    asked = joint_states[(joint_states[:, 0] >= first) & (joint_states[:, 0] <= last), 0]
    published = joint_states[mine, 1]
    return {
        "predictions": len(predictions),
        "rate_hz": (len(stamps) - 1) / max(1e-9, (stamps[-1] - stamps[0]) * 1e-9) if len(stamps) > 1 else 0.0,
        "latency_to_publication_s": percentiles((predictions[theirs, 1] - published) * 1e-9),
        "latency_to_arrival_s": percentiles((predictions[theirs, 2] - published) * 1e-9),
        "joint_states_without_prediction": int(np.setdiff1d(asked, stamps).size),
        "predicted_twice": int(len(predictions) - np.unique(predictions[:, 0]).size),
        "predictions_of_unknown_stamp": int(np.setdiff1d(predictions[:, 0], joint_states[:, 0]).size),
    }


def stream_of(times: np.ndarray) -> dict[str, Any]:
    """Rate of a topic of the simulation, and how many of its regularly spaced messages did not get here."""
    stamps = np.unique(times[:, 0])
    steps = np.diff(stamps)
    period = int(np.median(steps)) if len(steps) else 0
    seconds = (times[-1, 2] - times[0, 2]) * 1e-9 if len(times) else 0.0
    return {
        "messages": len(times),
        "rate_hz": (len(times) - 1) / seconds if seconds else 0.0,
        "lost": int(np.sum(np.rint(steps / period) - 1)) if period else 0,
    }


def text(figures: Mapping[str, Any]) -> str:
    """The tables."""
    errors, nodes = figures["rmse"], figures["nodes"]
    columns = [(part, group) for part in PARTS for group in GROUPS]
    rows = [[short, *(number(errors[short][part][group]) for part, group in columns)] for short in errors]
    for other in ("P", "NP"):
        ratios = [errors["SP"][part][group] / errors[other][part][group] for part, group in columns]
        rows.append([f"SP / {other}", *(number(ratio, 2) for ratio in ratios)])
    head = ["", *(f"{group} [{UNITS[group]}]" for _, group in columns)]
    blocks = [
        "RMSE of the predicted wrench, SIMULATED arm, three axes together\n"
        + table(head, rows, [(title, len(GROUPS)) for title in PARTS.values()]),
        PUBLISHED,
    ]
    rows = [
        [
            short,
            str(node["predictions"]),
            number(node["rate_hz"]),
            *(number(1e3 * node["latency_to_publication_s"][key]) for key in ("p50", "p99", "max")),
            *(number(1e3 * node["latency_to_arrival_s"][key]) for key in ("p50", "p99")),
            str(node["joint_states_without_prediction"]),
            str(node["predicted_twice"]),
        ]
        for short, node in nodes.items()
    ]
    head = ["node", "predictions", "Hz", "p50", "p99", "max", "p50", "p99", "missed", "twice"]
    over = [("", 2), ("published [ms]", 3), ("received here [ms]", 2), ("", 2)]
    blocks.append("Predictions and their delay after the publication of the joint state\n" + table(head, rows, over))
    states, wrenches = figures["joint_states"], figures["wrenches"]
    blocks.append(
        f"simulation: {states['messages']} joint states at {states['rate_hz']:.1f} Hz ({states['lost']} lost on the way"
        f" here), {wrenches['messages']} wrenches at {wrenches['rate_hz']:.1f} Hz ({wrenches['lost']} lost)"
    )
    return "\n\n".join(blocks)


def plot(path: Path, series: Mapping[str, tuple[np.ndarray, Array]], switch: int) -> None:
    """Error of force and torque over the whole run, and closer around the switch.

    Args:
        path: of the picture.
        series: by estimator: stamps (n,) [ns] and errors (n, 6).
        switch: stamp of the change of plane [ns].
    """
    from matplotlib.figure import Figure

    from icub_learning.cli.plots import COLOURS, LABELS, log_scale, save, style, thin
    from icub_learning.dynamics.metrics import windowed_rmse

    figure = Figure(figsize=(13, 7), layout="constrained", facecolor="white")
    grid = figure.add_gridspec(2, 2, width_ratios=(1.7, 1))
    for row, (group, axes_of_group) in enumerate(GROUPS.items()):
        for column, (window, span) in enumerate(((TRANSIENT, None), (TRANSIENT / 10, (-3.0, 12.0)))):
            axes = figure.add_subplot(grid[row, column])
            for short, (stamps, errors) in series.items():
                seconds = (stamps - switch) * 1e-9
                samples = max(1, round(window / max(1e-6, float(np.median(np.diff(seconds))))))
                error = windowed_rmse(errors[:, axes_of_group], samples)
                shown = slice(None) if span is None else (seconds >= span[0]) & (seconds <= span[1])
                axes.plot(*thin(seconds[shown], error[shown]), color=COLOURS[short], label=LABELS[short], linewidth=1.5)
            axes.axvline(0.0, color="#22262b", linewidth=1.0, linestyle=(0, (4, 3)))
            log_scale(axes)
            axes.margins(x=0)
            style(axes, f"{group}, RMSE over {window:g} s", UNITS[group])
            place = axes.get_xaxis_transform()
            for x, text_, side in ((-0.01, "XY circles ", "right"), (0.01, " XZ circles", "left")):
                axes.text(x, 0.97, text_, transform=place, ha=side, va="top", fontsize=8, color="#22262b")
            if row == 1:
                axes.set_xlabel("time after the switch of plane [s]", fontsize=8)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=10)
    title = "Simulated iCub arm: wrench at the upper-arm sensor, predicted before it is learned, live over DDS"
    figure.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold")
    save(figure, path)
