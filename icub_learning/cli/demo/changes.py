"""The third part of the demonstration: a load is grasped and dropped while the arm moves, and a hand pushes."""

import time
from pathlib import Path
from typing import Any

import numpy as np

from icub_learning.cli.demo.watching import StatusLine
from icub_learning.evaluation.metrics import windowed_rmse
from icub_learning.experiments.change.live_arm import RATE, LiveArm
from icub_learning.reporting import plots
from icub_learning.reporting.tables import number

LEARNING, CARRIED, AFTER, PUSHED = 25.0, 8.0, 5.0, 4.0  # [s] before the load, with it, after it, from the push on
MASS, CENTRE = 0.5, np.array([0.0, 0.02, 0.01])  # mass of the load [kg], and its centre in the frame of the hand [m]
FORCE, PUSH_SECONDS = np.array([0.0, 5.0, 0.0]), 1.0  # force of the push [N] and its duration [s]
WINDOW = 30  # samples over which the RMSE in the picture is taken


def show(folder: Path) -> tuple[dict[str, Any], str]:
    """Run this part, print what was seen and draw the picture; return the figures, and their text."""
    began = time.monotonic()
    StatusLine(folder).note("a load is grasped and dropped, and a hand pushes: faster than real time, not live")
    print(f"\nThe same arm learns for {LEARNING:.0f} s, is given {MASS:g} kg, drops it, and is pushed.", flush=True)
    arm = LiveArm(seed=0)
    arm.run(LEARNING)
    before = arm.force_error(LEARNING - 5.0, LEARNING)
    arm.simulation.attach_payload(MASS, CENTRE)
    arm.run(CARRIED)
    dropped, load = arm.simulation.time, arm.monitor.load
    arm.simulation.attach_payload(0.0)
    arm.run(AFTER)
    pushed, learned = arm.simulation.time, arm.streams["shipped"].counts.withheld
    arm.simulation.push(FORCE, PUSH_SECONDS)
    arm.run(PUSHED)
    figures: dict[str, Any] = {
        "simulated": True, "simulated_s": LEARNING + CARRIED + AFTER + PUSHED, "force_rmse_before_N": before,
        "load_true_kg": MASS, "load_found_kg": 0.0 if load is None else load.mass,
        "load_deviation_kg": 0.0 if load is None else load.mass_deviation,
        "centre_error_m": None if load is None else float(np.linalg.norm(load.centre - CENTRE)),
        "load_seen_after_s": arm.first("load", LEARNING), "push_seen_after_s": arm.first("contact", pushed),
        "push_gone_after_s": arm.first("nothing", pushed + PUSH_SECONDS), "wall_s": time.monotonic() - began,
        "force_rmse_with_load_N": arm.force_error(LEARNING + 3.0, dropped),
        "force_rmse_after_drop_N": arm.force_error(dropped + 1.0, pushed),
        "samples_of_the_push_not_learned": arm.streams["shipped"].counts.withheld - learned,
    }  # fmt: skip
    text = _text(figures)
    print(text)
    _draw(folder / "changes.png", arm, dropped, pushed)
    return figures, text


def _text(f: dict[str, Any]) -> str:
    return f"""
SIMULATED iCub, {f["simulated_s"]:.0f} s.
load of {MASS:g} kg: seen after {number(f["load_seen_after_s"], 2)} s as {f["load_found_kg"]:.3f} \
± {f["load_deviation_kg"]:.3f} kg
RMSE of force: {number(f["force_rmse_before_N"])} N before, \
{number(f["force_rmse_with_load_N"])} N with the load, \
{number(f["force_rmse_after_drop_N"])} N after it was dropped
push of 5 N: contact after {number(f["push_seen_after_s"], 2)} s, \
gone {number(f["push_gone_after_s"], 2)} s after its end, \
{f["samples_of_the_push_not_learned"]} samples not learned
"""


def _draw(path: Path, arm: LiveArm, dropped: float, pushed: float) -> None:
    times, seen = arm.seen()
    force = windowed_rmse(arm.errors(0.0, np.inf)[:, :3], WINDOW)
    share = np.convolve(np.diff(seen[:, 3], prepend=0.0), np.ones(WINDOW) / WINDOW, mode="same")
    shown = times > LEARNING - 6.0
    times, seen, force, share = times[shown], seen[shown], force[shown], share[shown]
    figure = plots.new_figure(11, 7)
    above, middle, below = figure.subplots(3, 1, sharex=True)
    above.plot(*plots.thin(times, force), color=plots.GREEN, linewidth=1.3, label="error of force")
    plots.style(above, f"RMSE of the predicted force over {WINDOW} samples ({WINDOW / RATE:g} s)", "N")
    above.set_ylim(top=1.15 * force.max())  # room for the names of the spans
    mass, deviation = np.maximum(seen[:, 0], 0.0), 2.0 * seen[:, 1]
    middle.fill_between(times, mass - deviation, mass + deviation, color=plots.YELLOW, alpha=0.4, linewidth=0)
    middle.plot(times, mass, color=plots.YELLOW, linewidth=1.5, label="load found, ± 2 standard deviations")
    truth = np.where((times >= LEARNING) & (times < dropped), MASS, 0.0)
    middle.plot(times, truth, color=plots.INK, linewidth=1.0, linestyle=(0, (4, 3)), label="true load")
    middle.set_ylim(-0.1, 1.6 * MASS)
    plots.style(middle, "Load in the hand", "kg")
    below.fill_between(times, seen[:, 2], step="mid", color=plots.RED, alpha=0.5, label="contact")
    below.plot(times, share, color=plots.BLUE, linewidth=1.2, label="share of samples learned")
    plots.style(below, "Contact, and what is learned", "", "simulated time [s]")
    spans = ((LEARNING, dropped, f"{MASS:g} kg in the hand"), (pushed, pushed + PUSH_SECONDS, "push of 5 N"))
    for begin, end, text in spans:
        for axes in (above, middle, below):
            axes.axvspan(begin, end, color="#e9ebee", zorder=0)
        place = above.get_xaxis_transform()
        above.text((begin + end) / 2, 0.97, text, transform=place, ha="center", va="top", fontsize=8)
    plots.legend_below(figure)
    plots.save(figure, path, "Simulated iCub arm: a load grasped and dropped while it moves, and a push by hand")
