"""`icub-learning reproduce figure-8.4`: P, NP and SP after a change of task, on the simulated arm (thesis 8.4.3)."""

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from icub_learning.reporting.tables import add_json_option, number, table, write_json

ARM = ("r_shoulder_pitch", "r_shoulder_roll", "r_shoulder_yaw", "r_elbow")  # as in the thesis
SAMPLES = 10_000  # of each plane, as in the thesis
SUMMARY = "inverse dynamics after a change of task, on the simulated arm"
DESCRIPTION = """\
The hand of a SIMULATED iCub follows circles in the XY plane while P, NP and SP learn from zero; then each meets ten
parts of circles in the XZ plane, starting from what it learned in XY. Joint states come at 200 Hz; one wrench in 0.1 s
is learned. With the thesis' 10 000 samples a plane it takes some ten minutes, with 3000 a third of that.

example:
  icub-learning reproduce figure-8.4 --samples 3000 --json out/figure-8.4.json"""
UNITS = {"force": "N", "torque": "N m"}
# Read off the text of 8.4.3 and off fig. 8.4; None: not given as a number.
PUBLISHED = {"P": ("2-3", "0.5-0.7"), "NP": ("1", "0.1"), "SP": ("1", "0.1")}
# What the thesis leads one to expect of three ratios of errors.
EXPECTED = {"SP/P, steady": 0.5, "SP/NP, steady": 1.05, "SP/NP, first 30": 0.6}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this experiment."""
    parser.add_argument("--samples", type=int, default=SAMPLES, help=f"learned in each plane (default: {SAMPLES})")
    parser.add_argument("--seed", type=int, default=0, help="of the simulation and of the random features (default: 0)")
    parser.add_argument(
        "--joints", nargs="+", default=list(ARM), metavar="JOINT", help="learned from (default: thesis')"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("out"), metavar="FOLDER", help="for the picture (default: out)"
    )
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Run the experiment, print its figures and draw them."""
    from tqdm import tqdm

    from icub_learning.dynamics.settings import Settings
    from icub_learning.experiments.thesis import change_of_task as protocol
    from icub_learning.reporting import plots
    from icub_learning.robots import find_urdf

    def counted(text: str, total: int) -> Callable[[Iterable[Any]], Iterable[Any]]:
        return lambda events: tqdm(events, text, total, disable=None, leave=False, unit="msg")

    settings = Settings(
        urdf=find_urdf("icub"), joints=tuple(args.joints), seed=args.seed, velocity_delay=protocol.VELOCITY_DELAY
    )
    n_states = args.samples * protocol.STATES_PER_SAMPLE

    def simulated(plane: str) -> Any:
        with tqdm(total=n_states, desc=f"simulate {plane}", disable=None, leave=False, unit="state") as bar:

            def advance(made: int) -> None:
                if made % protocol.RATE == 0:
                    bar.update(made - bar.n)

            return protocol.record(plane, args.samples, args.seed, advance)

    outcomes = protocol.compare(
        {plane: simulated(plane) for plane in protocol.PLANES}, settings, lambda name: counted(name, 2 * n_states)
    )
    figures = _figures(outcomes, args)
    print(_text(figures))
    picture = args.out / "figure-8.4.png"
    plots.plot_planes(picture, outcomes, protocol.GROUPS, protocol.SAMPLE_RATE)
    print(f"picture: {picture}")
    if args.json is not None:
        write_json(args.json, figures)
        print(f"figures: {args.json}")
    return 0


def _figures(outcomes: Any, args: argparse.Namespace) -> dict[str, Any]:
    errors = {
        short: {
            group: {
                "first plane, steady": outcome.first_steady(group),
                "first 30": outcome.transient(group),
                "steady": outcome.steady(group),
            }
            for group in UNITS
        }
        for short, outcome in outcomes.items()
    }

    def ratio(one: str, other: str, part: str) -> dict[str, float]:
        return {group: errors[one][group][part] / errors[other][group][part] for group in UNITS}

    return {
        "simulated": True,
        "samples": args.samples,
        "seed": args.seed,
        "joints": args.joints,
        "rmse": errors,
        "ratios": {
            "SP/P, steady": ratio("SP", "P", "steady"),
            "SP/NP, steady": ratio("SP", "NP", "steady"),
            "SP/NP, first 30": ratio("SP", "NP", "first 30"),
        },
        "expected_at_most": EXPECTED,
    }


def _text(figures: dict[str, Any]) -> str:
    parts = ("first plane, steady", "first 30", "steady")
    rows = [
        [
            short,
            *(number(figures["rmse"][short][group][part]) for group in UNITS for part in parts),
            *PUBLISHED[short],
        ]
        for short in ("P", "NP", "SP")
    ]
    head = ["RMSE", *(("XY steady", "XZ first 30", "XZ steady") * 2), "force", "torque"]
    over = [("force [N]", 3), ("torque [N m]", 3), ("published, XZ steady", 2)]
    ratios = [
        [name, *(number(figures["ratios"][name][group]) for group in UNITS), number(bound)]
        for name, bound in EXPECTED.items()
    ]
    return "\n\n".join(
        [
            f"SIMULATED iCub, {figures['samples']} samples a plane at 10 Hz, joints {', '.join(figures['joints'])}.\n"
            "Mean over the 10 parts of the XZ plane; published: a real iCub, thesis 8.4.3.",
            table(head, rows, over),
            table(["ratio of errors", "force", "torque", "expected at most"], ratios),
        ]
    )
