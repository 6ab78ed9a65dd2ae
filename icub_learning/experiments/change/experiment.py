"""`reproduce change`: loads, contacts, wear and feed-forward control on simulated robots."""

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

from icub_learning.experiments import expected
from icub_learning.experiments.change import consistency, control, forces, loads_and_pushes, wear
from icub_learning.experiments.expected import Row, at_most, seen
from icub_learning.experiments.options import options
from icub_learning.reporting.tables import save_figures

PARTS = ("loads", "forces", "quiet", "friction", "control", "consistency")
SEEDS = (0, 1, 2)
WORN_ROBOT = "ur10_currents_125hz"
TO_TELL = 7  # random loads, and as many pushes, of each seed
DESCRIPTION = """\
On SIMULATED robots with the settings that are shipped: loads that are grasped and dropped and pushes (loads), what is
published of forces on the hand and at the sensor (forces), ten minutes without any change (quiet), ten minutes of
growing friction (friction), tracking errors with the learned model as feed-forward (control), and bodies that are
physically possible after random excitations (consistency). The seeds that are judged by default chose no setting; seeds
from 100 on did. All of it takes about an hour on two cores."""
EXAMPLE = "example:\n  icub-learning reproduce change --parts loads control --json out/change.json"

QUICK = ("--parts", "consistency", "--seeds", "0", "--excitations", "1000")
add_options = options(
    picture=False,
    parts={"nargs": "+", "choices": PARTS, "default": list(PARTS), "help": "default: all of them"},
    seeds={"nargs": "+", "type": int, "default": list(SEEDS), "help": "default: 0 1 2"},
    minutes=(10.0, "of quiet and friction"),
    excitations=(10_000, "of consistency"),
)


def run(args: argparse.Namespace) -> None:
    works: dict[str, Callable[[int], dict[str, Any]]] = {
        "loads": lambda seed: loads_and_pushes.run_seed(seed, TO_TELL),
        "forces": forces.run_seed,
        "quiet": lambda seed: wear.without_change(seed, args.minutes),
        "friction": lambda seed: wear.grown_friction(WORN_ROBOT, seed, args.minutes),
        "control": lambda seed: {
            kind: control.run_seed(seed, full) for kind, full in (("feed-forward", False), ("full", True))
        },
        "consistency": lambda seed: consistency.random_excitations(seed, args.excitations // len(args.seeds)),
    }
    figures: dict[str, Any] = {"simulated": True, "seeds": args.seeds}
    print(f"SIMULATED robots, seeds {', '.join(map(str, args.seeds))}", flush=True)
    for part in args.parts:
        found = []
        for seed in args.seeds:
            found.append(works[part](seed))
            print(f"{part}, seed {seed}: done", flush=True)
        figures[part] = found
        print(expected.text(part, ROWS[part](found), args.seeds), flush=True)
    save_figures(args.json, figures)


def _loads(found: list[dict[str, Any]]) -> list[Row]:
    rows = [seen("force error before [N]", (one["force error before [N]"] for one in found))]
    for kind, noticed, mass, judged in (("heavy", 0.3, 0.04, "5 s"), ("light", 1.0, 0.03, "10 s")):
        of = [one[kind] for one in found]
        name = f"{of[0]['mass']:g} kg"
        rows += [
            at_most(f"{name} seen after [s]", (one["seen_after"] for one in of), noticed),
            at_most(f"{name}: error of the mass after {judged} [kg]", _mass_errors(of), mass),
            at_most(f"{name}: the same in standard deviations", _mass_sigmas(of), 2.0),
            at_most(
                f"{name}: force error from 3 s on, over that before", (one["error_after_grasp"] for one in of), 1.2
            ),
            at_most(f"{name} dropped: the same from 1 s on", (one["error_after_drop"] for one in of), 1.2),
        ]
        if kind == "heavy":
            rows.append(
                at_most(f"{name}: error of its centre after 5 s [m]", (one["centre_error"] for one in of), 0.015)
            )
    pushed = [one["push"] for one in found]
    rows += [
        at_most("5 N for 1 s: contact after [s]", (one["seen after"] for one in pushed), 0.05),
        at_most("gone after [s]", (one["gone after"] for one in pushed), 0.1),
        at_most("parameters moved by [standard deviations]", (one["parameters moved by"] for one in pushed), 1.0),
    ]
    told = [one["loads told"] + one["pushes told"] for one in found]
    of_all = 2 * sum(one["of each"] for one in found)
    rows.append(
        ("random loads and pushes told apart", [float(value) for value in told], f"at least 95 % of {of_all}",
         sum(told) >= 0.95 * of_all)
    )  # fmt: skip
    return rows


def _mass_errors(found: list[dict[str, Any]]) -> list[float]:
    return [abs(one["found_mass"] - one["mass"]) for one in found]


def _mass_sigmas(found: list[dict[str, Any]]) -> list[float]:
    return [error / (one["mass_deviation"] or np.nan) for error, one in zip(_mass_errors(found), found, strict=True)]


def _forces(found: list[dict[str, Any]]) -> list[Row]:
    rows = []
    for place, told in found[0].items():
        for force in told:
            of = [one[place][force] for one in found]
            shares = [one["samples near enough"] for one in of]
            rows += [
                seen(f"{force}, {place}: mean of what is told, over it", (one["told"] for one in of)),
                (f"{force}, {place}: samples near enough", shares, "at least 0.9", min(shares) >= 0.9),
            ]
    return rows


def _quiet(found: list[dict[str, Any]]) -> list[Row]:
    return [
        at_most("false alarms", (one["false alarms"] for one in found), 0.0),
        at_most("force error over that without forgetting", (one["ratio"] for one in found), 1.02),
    ]


def _friction(found: list[dict[str, Any]]) -> list[Row]:
    name = "last minute over first"
    return [
        at_most(f"error of {name}, {found[0]['robot']}", (one["automatic"][name] for one in found), 1.1),
        seen("the same, nothing forgotten", (one["none forgotten"][name] for one in found)),
    ]


def _control(found: list[dict[str, Any]]) -> list[Row]:
    rows: list[Row] = []
    for kind in found[0]:
        for load in (0.0, control.LOAD):
            none, nominal, learned = (
                np.array([one[kind][f"{model}, {load:g} kg"] for one in found]) for model in control.MODELS
            )
            name = f"{kind}, {load:g} kg: RMS tracking error"
            rows += [
                seen(f"{name} without a model [rad]", none),
                seen(f"{name}, nominal rigid bodies [rad]", nominal),
                (f"{name}, learned [rad]", learned.tolist(), "half of none, below nominal",
                 bool((learned <= 0.5 * none).all() and (learned < nominal).all())),
            ]  # fmt: skip
    return rows


def _consistency(found: list[dict[str, Any]]) -> list[Row]:
    return [
        seen("excitations", (one["excitations"] for one in found)),
        seen("all links possible, as learned", (one["consistent as learned"] for one in found)),
        ("all links possible, as published", [one["consistent as published"] for one in found], "all of them",
         all(one["consistent as published"] == one["excitations"] for one in found)),
        at_most("share of a core, once a second", (one["share of a core"] for one in found), 0.05),
    ]  # fmt: skip


ROWS: dict[str, Callable[[list[dict[str, Any]]], list[Row]]] = {
    "loads": _loads,
    "forces": _forces,
    "quiet": _quiet,
    "friction": _friction,
    "control": _control,
    "consistency": _consistency,
}
