"""`reproduce change`: loads, contacts, wear and feed-forward control on simulated robots."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from icub_learning.arrays import integer, real
from icub_learning.experiments.change import consistency, control, forces, loads_and_pushes, wear
from icub_learning.experiments.figures import Row, at_most, expectations, gathered, seen
from icub_learning.experiments.options import Arguments, checked_seeds, options
from icub_learning.reporting.tables import save_figures

Found = Mapping[str, Any]  # figures of all seeds, a list in place of each number; see `gathered`
SEEDS = (0, 1, 2)
CONTROL = {"feed-forward": False, "full": True}  # whether the model gets the measured motion
TO_TELL = 7  # random loads, and as many random pushes, of each seed
DESCRIPTION = """\
On SIMULATED robots with the settings that are shipped: loads that are grasped and dropped and pushes (loads), what is
published of forces on the hand and at the sensor (forces), ten minutes without any change (quiet), ten minutes of
growing friction (friction), tracking errors with the learned model as feed-forward (control), and bodies that are
physically possible after random excitations (consistency). The seeds that are judged by default chose no setting; seeds
from 100 on did. All of it takes 70 minutes on one core."""
EXAMPLE = "example:\n  icub-learning reproduce change --parts loads control --json out/change.json"
QUICK = ("--parts", "consistency", "--seeds", "0", "--excitations", "1000")


def run(args: Arguments) -> None:
    figures: dict[str, Any] = {"simulated": True, "seeds": checked_seeds(args)}
    integer("--excitations", args.excitations, len(args.seeds))  # at least one for each seed
    print(f"SIMULATED robots, seeds {', '.join(map(str, args.seeds))}", flush=True)
    for part in args.parts:
        work, rows = PARTS[part]
        found = []
        for seed in args.seeds:
            found.append(work(seed, args))
            print(f"{part}, seed {seed}: done", flush=True)
        figures[part] = found
        print(expectations(part, rows(gathered(found)), args.seeds), flush=True)
    save_figures(args.json, figures)


def _loads(found: Found) -> list[Row]:
    rows = [seen("force error before [N]", found["force error before [N]"])]
    for kind, noticed, mass, judged in (("heavy", 0.3, 0.04, "5 s"), ("light", 1.0, 0.03, "10 s")):
        of = found[kind]
        name = f"{of['mass'][0]:g} kg"
        errors = np.abs(np.subtract(of["found_mass"], of["mass"]))
        deviations = np.array([deviation or np.nan for deviation in of["mass_deviation"]])
        rows += [
            at_most(f"{name} seen after [s]", of["seen_after"], noticed),
            at_most(f"{name}: error of the mass after {judged} [kg]", errors, mass),
            at_most(f"{name}: the same in standard deviations", errors / deviations, 2.0),
            at_most(f"{name}: force error from 3 s on, over that before", of["error_after_grasp"], 1.2),
            at_most(f"{name} dropped: the same from 1 s on", of["error_after_drop"], 1.2),
        ]
        if kind == "heavy":
            rows.append(at_most(f"{name}: error of its centre after 5 s [m]", of["centre_error"], 0.015))
    pushed = found["push"]
    told = [float(loads + pushes) for loads, pushes in zip(found["loads told"], found["pushes told"], strict=True)]
    of_all = 2 * sum(found["of each"])
    return [
        *rows, at_most("5 N for 1 s: contact after [s]", pushed["seen after"], 0.05),
        at_most("gone after [s]", pushed["gone after"], 0.1),
        at_most("parameters moved by [standard deviations]", pushed["parameters moved by"], 1.0),
        ("random loads and pushes told apart", told, f"at least 95 % of {of_all}", sum(told) >= 0.95 * of_all)
    ]  # fmt: skip


def _forces(found: Found) -> list[Row]:
    rows = []
    for place, forces_told in found.items():
        for force, of in forces_told.items():
            shares = of["samples near enough"]
            rows += [
                seen(f"{force}, {place}: mean of what is told, over it", of["told"]),
                (f"{force}, {place}: samples near enough", shares, "at least 0.9", min(shares) >= 0.9),
            ]
    return rows


def _quiet(found: Found) -> list[Row]:
    return [
        at_most("false alarms", found["false alarms"], 0.0),
        at_most("force error over that without forgetting", found["ratio"], 1.02),
    ]


def _friction(found: Found) -> list[Row]:
    name = "last minute over first"
    return [
        at_most(f"error of {name}, {found['robot'][0]}", found["automatic"][name], 1.1),
        seen("the same, nothing forgotten", found["none forgotten"][name]),
    ]


def _control(found: Found) -> list[Row]:
    rows: list[Row] = []
    for kind, errors in found.items():
        for load in (0.0, control.LOAD):
            none, nominal, learned = (np.array(errors[f"{model}, {load:g} kg"]) for model in control.MODELS)
            good = bool((learned <= 0.5 * none).all() and (learned < nominal).all())
            name = f"{kind}, {load:g} kg: RMS tracking error"
            rows += [
                seen(f"{name} without a model [rad]", none), seen(f"{name}, nominal rigid bodies [rad]", nominal),
                (f"{name}, learned [rad]", learned.tolist(), "half of none, below nominal", good)
            ]  # fmt: skip
    return rows


def _consistency(found: Found) -> list[Row]:
    published = found["consistent as published"]
    return [
        seen("excitations", found["excitations"]),
        seen("all links possible, as learned", found["consistent as learned"]),
        ("all links possible, as published", published, "all of them", published == found["excitations"]),
        at_most("share of a core, once a second", found["share of a core"], 0.05),
    ]


# By part, the function that runs one seed, and the function that returns the rows of the table of all seeds.
PARTS: dict[str, tuple[Callable[[int, Arguments], dict[str, Any]], Callable[[Found], list[Row]]]] = {
    "loads": (lambda seed, _: loads_and_pushes.run_seed(seed, TO_TELL), _loads),
    "forces": (lambda seed, _: forces.run_seed(seed), _forces),
    "quiet": (lambda seed, args: wear.without_change(seed, real("--minutes", args.minutes, 3.0)), _quiet),
    "friction": (lambda seed, args: wear.grown_friction(seed, real("--minutes", args.minutes, 3.0)), _friction),
    "control": (lambda seed, _: {kind: control.run_seed(seed, full) for kind, full in CONTROL.items()}, _control),
    "consistency": (
        lambda seed, args: consistency.random_excitations(seed, args.excitations // len(args.seeds)), _consistency
    ),
}  # fmt: skip
add_options = options(
    picture=False, parts={"nargs": "+", "choices": PARTS, "default": list(PARTS), "help": "default: all of them"},
    seeds={"nargs": "+", "type": int, "default": list(SEEDS), "help": "default: 0 1 2"},
    minutes=(10.0, "of quiet and friction, at least 3: the first and the last are judged"),
    excitations=(10_000, "of consistency"),
)  # fmt: skip
