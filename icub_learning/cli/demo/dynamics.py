"""The first part of the demonstration: a simulated arm follows circles, and three nodes learn its inverse dynamics."""

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from icub_learning.arrays import Array
from icub_learning.cli.demo.watching import StatusLine
from icub_learning.evaluation.metrics import mean_rmse, windowed_mean_rmse
from icub_learning.reporting import plots
from icub_learning.reporting.tables import number, table
from icub_learning.reporting.wrench_errors import EXPECTED, GROUPS, PUBLISHED, UNITS, WINDOW

PLANES = ("circle_xy", "circle_xz")
# [s] of simulated time: at 0.7 rad/s the simulation takes 2.0 to 3.5 s to change over from one circle to the other
CHANGEOVER = 4.0
RATE = 200.0  # [Hz] rate of joint states and wrenches
TRANSIENT = 3.0  # [s] time that 30 samples took in the thesis, where learning ran at 10 Hz
STEADY = 1 / 3  # last share of each plane's time that counts as steady state
PARTS = ("XY steady", f"XZ first {WINDOW}", f"XZ first {TRANSIENT:g} s", "XZ steady")
RATIOS = {  # two estimators, the part, and the largest ratio of errors that the thesis leads one to expect
    "SP/P, steady": ("SP", "P", PARTS[3], EXPECTED["SP/P, steady"]),
    "SP/NP, steady": ("SP", "NP", PARTS[3], EXPECTED["SP/NP, steady"]),
    "SP/NP, first 30": ("SP", "NP", PARTS[1], EXPECTED["SP/NP, first 30"]),
    "SP/NP, first 3 s": ("SP", "NP", PARTS[2], None),
}
CIRCLE = 1.05  # [s] time of one circle of the hand, in which the error of P rises and falls
AROUND = (-8.0, 12.0)  # [s] interval of the plots on the right, relative to the switch
WIDTHS = {"P": 1.4, "NP": 2.3, "SP": 1.3}  # widths of lines: NP shows beneath SP where both are equally good
HEADROOM = 0.14  # share of the height that is added to a plot for the names of the phases
BAR = 10  # length of the progress bar in characters


def show(folder: Path, seconds: float) -> tuple[dict[str, Any], str]:
    """Run the protocol of 8.4.3, print the figures and draw the picture; return the figures, and their text."""
    from icub_learning.clients.arm_session import NODES, ArmSession, commands
    from icub_learning.clients.polling import stream_of, timing_of
    from icub_learning.clients.processes import Processes
    from icub_learning.nodes.common.qos import DISCOVERY_TIME

    duration = 2 * seconds + CHANGEOVER
    print(f"A simulated iCub arm and three learners, {duration:.0f} s. Logs: {folder / 'log'}", flush=True)
    line = StatusLine(folder)
    with contextlib.ExitStack() as stack:
        processes = stack.enter_context(Processes(folder / "log"))
        for name, command in commands(PLANES[0], RATE).items():
            processes.start(name, command, {})
        session = stack.enter_context(ArmSession(processes, NODES, line.show))
        monitor = session.monitor

        def follow(what: str, total: float) -> None:
            session.follow(total, lambda passed: _progress(monitor, what, passed, total))

        session.start()
        follow("XY circles", seconds)
        changeover = session.set_learning(False)
        session.set_task(PLANES[1])
        follow("changeover", CHANGEOVER)
        switch = session.set_learning(True)
        follow("XZ circles", seconds)
        session.pause(DISCOVERY_TIME)  # messages that are still on their way are recorded too
        line.end()
    series = {short: monitor.errors(short) for short in NODES}
    joint_states, wrenches = monitor.joint_states.arrays()[0], monitor.wrenches.arrays()[0]
    errors = {short: errors_of(*found, changeover, switch) for short, found in series.items()}
    figures: dict[str, Any] = {
        "simulated": True, "machine": {"cores": os.cpu_count(), "load": os.getloadavg()[0]},
        "changeover_stamp_ns": changeover, "switch_stamp_ns": switch, "rmse": errors, "ratios": ratios_of(errors),
        "expected_at_most": {name: entry[-1] for name, entry in RATIOS.items()}, "published": PUBLISHED,
        "nodes": {short: timing_of(joint_states, one.arrays()[0]) for short, one in monitor.predictions.items()},
        "joint_states": stream_of(joint_states), "wrenches": stream_of(wrenches),
    }  # fmt: skip
    rows = [
        [name, *(number(figures["ratios"][name][group], 2) for group in GROUPS), number(bound, 3)]
        for name, (_, _, _, bound) in RATIOS.items()
    ]
    states, wrench, machine = (figures[name] for name in ("joint_states", "wrenches", "machine"))
    busy = ": others use it too, which delays predictions and loses some" if machine["load"] > machine["cores"] else ""
    end = f"simulation  {states['messages']} joint states at {states['rate_hz']:.1f} Hz, {states['lost']} lost on the"
    end += f" way here; {wrench['messages']} wrenches, {wrench['lost']} lost\n"
    end += f"machine     {machine['cores']} cores, load {machine['load']:.1f}{busy}"
    ratios = table(["ratio of RMSE in XZ", *GROUPS, "expected at most"], rows)
    text = "\n\n".join((_errors(errors), ratios, _nodes(figures["nodes"]), end))
    print(f"\n{text}\n", flush=True)
    _draw(folder / "demo.png", series, changeover, switch)
    return figures, text


def _progress(monitor: Any, what: str, seconds: float, total: float) -> str:
    errors = {short: monitor.errors(short, round(RATE * TRANSIENT))[1] for short in monitor.predictions}
    shown = [
        " ".join(f"{short} {number(mean_rmse(error[:, axes]), 2):<6}" for short, error in errors.items()) + UNITS[group]
        for group, axes in GROUPS.items()
    ]
    done = min(BAR, round(BAR * seconds / total))
    bar = "█" * done + "░" * (BAR - done)
    return f"{what:<10} {bar} {seconds:3.0f}/{total:.0f} s  RMSE {'  '.join(shown)}"


def parts(stamps: np.ndarray, changeover: int, switch: int) -> dict[str, np.ndarray]:
    """Return masks (n,) of the samples of each of PARTS, from ascending stamps (n,) [ns].

    Learning in XY ended at the stamp `changeover`, and in XZ it began after `switch` [ns]."""
    first, last = (stamps[0], stamps[-1]) if len(stamps) else (changeover, switch)
    in_xy, in_xz = stamps <= changeover, stamps > switch
    masks = (
        in_xy & (stamps > changeover - STEADY * (changeover - first)), in_xz & (np.cumsum(in_xz) <= WINDOW),
        in_xz & (stamps <= switch + round(TRANSIENT * 1e9)), in_xz & (stamps > last - STEADY * (last - switch)),
    )  # fmt: skip
    return dict(zip(PARTS, masks, strict=True))


def errors_of(stamps: np.ndarray, errors: Array, changeover: int, switch: int) -> dict[str, dict[str, float]]:
    """Return the RMSE of force and torque in each part (see `parts`): those of the axes, averaged over the three."""
    masks = parts(stamps, changeover, switch)
    return {
        group: {part: mean_rmse(errors[mask][:, axes]) for part, mask in masks.items()}
        for group, axes in GROUPS.items()
    }


def ratios_of(errors: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    return {
        name: {group: errors[one][group][part] / errors[other][group][part] for group in GROUPS}
        for name, (one, other, part, _) in RATIOS.items()
    }


def _errors(errors: Mapping[str, Any]) -> str:
    rows = [[part, *(number(errors[short][group][part]) for group in GROUPS for short in errors)] for part in PARTS]
    published = [PUBLISHED[short][column] for column in range(len(GROUPS)) for short in errors]
    rows.append(["published, XZ steady", *published])
    over = [(f"{group} [{UNITS[group]}]", len(errors)) for group in GROUPS]
    text = f"SIMULATED iCub, learned and predicted at {RATE:g} Hz. XZ counts from the switch, after the changeover.\n"
    text += "RMSE of each component of force and torque, averaged over the three, as published.\n"
    text += "Published: a real iCub that learned at 10 Hz, where 30 samples took 3 s (thesis, 8.4.3).\n\n"
    return text + table(["RMSE", *(list(errors) * len(GROUPS))], rows, over)


def _nodes(nodes: Mapping[str, Any]) -> str:
    rows = [[
        short, str(node["predictions"]), number(node["rate_hz"], 4),
        *(number(1e3 * node["latency_to_publication_s"][key]) for key in ("p50", "p99", "max")),
        *(number(1e3 * node["latency_to_arrival_s"][key]) for key in ("p50", "p99")),
        str(node["joint_states_without_prediction"]), str(node["predicted_twice"]),
    ] for short, node in nodes.items()]  # fmt: skip
    head = ["node", "number", "Hz", "p50", "p99", "max", "p50", "p99", "without", "twice"]
    over = [("predictions", 2), ("published after [ms]", 3), ("here after [ms]", 2), ("joint states", 2)]
    return "Predictions, and their delay after the publication of the joint state\n\n" + table(head, rows, over)


def _draw(path: Path, series: Mapping[str, tuple[np.ndarray, Array]], changeover: int, switch: int) -> None:
    """Draw the RMSE over the whole run (left) and near the switch (right), from stamps (n,) [ns] and errors (n, 6)."""
    figure = plots.new_figure(13, 7)
    grid, between = figure.add_gridspec(2, 2, width_ratios=(1.4, 1)), (changeover - switch) * 1e-9
    for row, (group, columns) in enumerate(GROUPS.items()):
        for column in range(2):
            axes = figure.add_subplot(grid[row, column])
            for short, (stamps, errors) in series.items():
                seconds = (stamps - switch) * 1e-9
                shown = slice(None) if column == 0 else (seconds >= AROUND[0]) & (seconds <= AROUND[1])
                error = windowed_mean_rmse(errors[:, columns], WINDOW if column else round(RATE * CIRCLE))
                x, y = plots.thin(seconds[shown], error[shown])
                axes.plot(x, y, color=plots.COLOURS[short], label=plots.LABELS[short], linewidth=WIDTHS[short])
            level = float(PUBLISHED["SP"][row])  # and that of NP
            axes.axhline(level, color=plots.GREY, linewidth=0.9, ls=(0, (2, 3)), label="SP and NP published, steady")
            plots.log_scale(axes)
            axes.margins(x=0)
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
            low, high = axes.get_ylim()
            axes.set_ylim(low, high * (high / low) ** HEADROOM)
            plots.style(axes, f"RMSE of {group} over {f'{WINDOW} samples' if column else 'one circle'}", UNITS[group])
            _mark_phases(axes, between, wide=column == 0)
            if row == len(GROUPS) - 1:
                axes.set_xlabel("time after the switch [s]", fontsize=8)
    plots.legend_below(figure)
    plots.save(figure, path, "Simulated iCub arm, live over DDS: the wrench at the upper arm, predicted, then learned")


def _mark_phases(axes: Any, between: float, wide: bool) -> None:
    """Mark circles in XY, the changeover from `between` [s] to the switch at 0, and circles in XZ."""
    axes.axvspan(between, 0.0, color="#e9ebee", zorder=0)
    axes.axvline(0.0, color=plots.INK, linewidth=1.0, linestyle=(0, (4, 3)))
    transform = axes.get_xaxis_transform()
    for x, text, side in ((between, "XY circles ", "right"), (0.0, " XZ circles", "left")):
        axes.text(x, 0.98, text, transform=transform, ha=side, va="top", fontsize=8, color=plots.INK)
    if not wide:
        text = "changeover,\nnot learned"
        axes.text(between / 2, 0.98, text, transform=transform, ha="center", va="top", fontsize=8, color=plots.INK)
