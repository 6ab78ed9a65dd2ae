"""The figures and tables of the dynamics part of the demonstration."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from icub_learning.arrays import Array
from icub_learning.evaluation.metrics import mean_rmse
from icub_learning.reporting.tables import number, table
from icub_learning.reporting.wrench_errors import EXPECTED, GROUPS, PUBLISHED, UNITS, WINDOW

RATE = 200.0  # [Hz] of joint states and wrenches
TRANSIENT = 3.0  # [s]: the time that 30 samples of the thesis took, which learned at 10 Hz
STEADY = 1 / 3  # last share of each plane's time that counts as steady state
PARTS = ("XY steady", f"XZ first {WINDOW}", f"XZ first {TRANSIENT:g} s", "XZ steady")
RATIOS = {  # two estimators, the part, and the largest ratio of errors that the thesis leads one to expect
    "SP/P, steady": ("SP", "P", PARTS[3], EXPECTED["SP/P, steady"]),
    "SP/NP, steady": ("SP", "NP", PARTS[3], EXPECTED["SP/NP, steady"]),
    "SP/NP, first 30": ("SP", "NP", PARTS[1], EXPECTED["SP/NP, first 30"]),
    "SP/NP, first 3 s": ("SP", "NP", PARTS[2], None),
}


def parts(stamps: np.ndarray, changeover: int, switch: int) -> dict[str, np.ndarray]:
    """Return masks (n,) of the samples of each of PARTS, from ascending stamps (n,) [ns].

    Learning in XY ended at the stamp `changeover`, and in XZ it began after `switch` [ns].
    """
    first, last = (stamps[0], stamps[-1]) if len(stamps) else (changeover, switch)
    in_xy, in_xz = stamps <= changeover, stamps > switch
    masks = (
        in_xy & (stamps > changeover - STEADY * (changeover - first)),
        in_xz & (np.cumsum(in_xz) <= WINDOW),
        in_xz & (stamps <= switch + round(TRANSIENT * 1e9)),
        in_xz & (stamps > last - STEADY * (last - switch)),
    )
    return dict(zip(PARTS, masks, strict=True))


def errors_of(stamps: np.ndarray, errors: Array, changeover: int, switch: int) -> dict[str, dict[str, float]]:
    """Return the RMSE of force and torque in each part (see `parts`): that of each axis, averaged over the three."""
    masks = parts(stamps, changeover, switch)
    return {
        group: {part: mean_rmse(errors[mask][:, axes]) for part, mask in masks.items()}
        for group, axes in GROUPS.items()
    }


def ratios_of(errors: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Return the ratios named in RATIOS, of force and torque."""
    return {
        name: {group: errors[one][group][part] / errors[other][group][part] for group in GROUPS}
        for name, (one, other, part, _) in RATIOS.items()
    }


def text(figures: Mapping[str, Any]) -> str:
    """Return the tables of all figures."""
    blocks = (_errors(figures["rmse"]), _ratios(figures["ratios"]), _nodes(figures["nodes"]), _end(figures))
    return "\n\n".join(blocks)


def _errors(errors: Mapping[str, Any]) -> str:
    rows = [[part, *(number(errors[short][group][part]) for group in GROUPS for short in errors)] for part in PARTS]
    rows.append(
        ["published, XZ steady", *(PUBLISHED[short][column] for column in range(len(GROUPS)) for short in errors)]
    )
    over = [(f"{group} [{UNITS[group]}]", len(errors)) for group in GROUPS]
    return (
        f"SIMULATED iCub, learned and predicted at {RATE:g} Hz. XZ counts from the switch, after the changeover.\n"
        "RMSE of each component of force and torque, averaged over the three, as published.\n"
        "Published: a real iCub that learned at 10 Hz, where 30 samples took 3 s (thesis, 8.4.3).\n\n"
        + table(["RMSE", *(list(errors) * len(GROUPS))], rows, over)
    )


def _ratios(ratios: Mapping[str, Any]) -> str:
    rows = [
        [name, *(number(ratios[name][group], 2) for group in GROUPS), number(bound, 3)]
        for name, (_, _, _, bound) in RATIOS.items()
    ]
    return table(["ratio of RMSE in XZ", *GROUPS, "expected at most"], rows)


def _nodes(nodes: Mapping[str, Any]) -> str:
    rows = [
        [
            short,
            str(node["predictions"]),
            number(node["rate_hz"], 4),
            *(number(1e3 * node["latency_to_publication_s"][key]) for key in ("p50", "p99", "max")),
            *(number(1e3 * node["latency_to_arrival_s"][key]) for key in ("p50", "p99")),
            str(node["joint_states_without_prediction"]),
            str(node["predicted_twice"]),
        ]
        for short, node in nodes.items()
    ]
    head = ["node", "number", "Hz", "p50", "p99", "max", "p50", "p99", "without", "twice"]
    over = [("predictions", 2), ("published after [ms]", 3), ("here after [ms]", 2), ("joint states", 2)]
    return "Predictions, and their delay after the publication of the joint state\n\n" + table(head, rows, over)


def _end(figures: Mapping[str, Any]) -> str:
    states, wrenches, machine = (figures[name] for name in ("joint_states", "wrenches", "machine"))
    busy = ": others use it too, which delays predictions and loses some" if machine["load"] > machine["cores"] else ""
    return (
        f"simulation  {states['messages']} joint states at {states['rate_hz']:.1f} Hz, {states['lost']} lost on the way"
        f" here; {wrenches['messages']} wrenches, {wrenches['lost']} lost\n"
        f"machine     {machine['cores']} cores, load {machine['load']:.1f}{busy}"
    )
