"""`reproduce figure-8.4`: inverse dynamics after a change of task, on the simulated arm (thesis 8.4.3)."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from icub_learning.dynamics.settings import Settings
from icub_learning.experiments.figures import STAND_IN, Comparison, Comparisons, Figures, conclude
from icub_learning.experiments.options import Arguments, options, progress
from icub_learning.experiments.panels import Panel, draw
from icub_learning.experiments.thesis.change_of_task import protocol
from icub_learning.reporting.colours import LABELS
from icub_learning.reporting.tables import number, table
from icub_learning.reporting.wrench_errors import EXPECTED, PUBLISHED, UNITS, WINDOW
from icub_learning.robots import find_urdf

ARM = ("r_shoulder_pitch", "r_shoulder_roll", "r_shoulder_yaw", "r_elbow")  # joints of the thesis
SAMPLES = 10_000  # samples of each plane, as in the thesis
DESCRIPTION = """\
The hand of a SIMULATED iCub follows circles in the XY plane while P, NP and SP learn from zero; then each continues on
ten parts of circles in the XZ plane, starting from what it learned in XY. Joint states come at 200 Hz; one wrench in
0.1 s is learned. SP runs a second time as the thesis has it, with fixed settings. As in its text, RMSE is that of each
component of a force or torque, averaged over the three. With the thesis' 10 000 samples a plane it takes some ten
minutes, with 3000 a third of that."""
# Names of the ratios of errors, by the semiparametric method that they are of.
RATIOS = {"SP": "ratios", protocol.THESIS: "ratios, SP of the thesis"}
EXAMPLE = "example:\n  icub-learning reproduce figure-8.4 --samples 3000 --json out/figure-8.4.json"
QUICK = ("--samples", "200")
add_options = options(
    "the simulation and the random features", samples=(SAMPLES, "learned in each plane"),
    joints={"nargs": "+", "default": list(ARM), "metavar": "JOINT", "help": "to learn from (default: the thesis')"},
)  # fmt: skip


def run(args: Arguments) -> None:
    settings = Settings(
        urdf=find_urdf("icub"), joints=tuple(args.joints), seed=args.seed, velocity_delay=protocol.VELOCITY_DELAY
    )
    planes = {plane: protocol.record(plane, args.samples, args.seed) for plane in progress(protocol.PLANES, "simulate")}
    outcomes = protocol.compare(planes, settings)
    figures = _figures(outcomes, args)
    print(_text(figures))
    title = "Simulated iCub arm: circles in XZ after circles in XY (mean and deviation over parts)"
    draw(args.out / "figure-8.4.png", title, [_panel(group, outcomes) for group in UNITS], columns=1)
    conclude(args, figures, comparisons)


def comparisons(found: Figures) -> Comparisons:
    for short, errors in found["rmse"].items():
        for column, (group, unit) in enumerate(UNITS.items()):
            ours = errors[group]["steady"]
            edges = sorted(map(float, PUBLISHED[short.split()[0]][column].split("-")))
            published = float(np.clip(ours, edges[0], edges[-1]))
            yield Comparison(f"{short}: RMSE of {group}, steady [{unit}]", ours, published, "less", STAND_IN)


def _figures(outcomes: Mapping[str, protocol.Outcome], args: Arguments) -> dict[str, Any]:
    errors = {short: {group: outcome.rmse(group) for group in UNITS} for short, outcome in outcomes.items()}
    ratios: dict[str, Any] = {kind: {} for kind in RATIOS.values()}
    for name in EXPECTED:
        other, part = name.removeprefix("SP/").split(", ")
        for short, kind in RATIOS.items():
            ratios[kind][name] = {group: errors[short][group][part] / errors[other][group][part] for group in UNITS}
    given = {"simulated": True, "samples": args.samples, "seed": args.seed, "joints": args.joints}
    return {**given, "rmse": errors, **ratios, "expected_at_most": EXPECTED}


def _text(figures: dict[str, Any]) -> str:
    rows = [
        [short, *(number(error) for parts in errors.values() for error in parts.values()), *PUBLISHED[short.split()[0]]]
        for short, errors in figures["rmse"].items()
    ]
    first = f"first {min(WINDOW, figures['samples'] // protocol.N_PARTS)}"  # a small version has shorter parts
    head = ["RMSE", *(("XY steady", f"XZ {first}", "XZ steady") * 2), "force", "torque"]
    over = [("force [N]", 3), ("torque [N m]", 3), ("published, XZ steady", 2)]
    ratios = []
    for name, bound in EXPECTED.items():
        for short, kind in RATIOS.items():
            ours = [figures[kind][name][group] for group in UNITS]
            worse = ", ".join(group for group, one in zip(UNITS, ours, strict=True) if one > bound)
            title = name.replace("SP", short, 1).replace("first 30", first)
            ratios.append([title, *map(number, ours), number(bound), worse])
    text = (
        f"SIMULATED iCub, {figures['samples']} samples a plane at 10 Hz, joints {', '.join(figures['joints'])}.\n"
        "RMSE of each component, mean over the three and over the 10 parts of the XZ plane; published: a real iCub,"
        f" thesis 8.4.3.\n{protocol.THESIS}: its method (8.3), with a fixed length scale and regularization."
    )
    below = table(["ratio of errors", "force", "torque", "our bound", "above in"], ratios)
    return "\n\n".join([text, table(head, rows, over), below])


def _panel(group: str, outcomes: Mapping[str, protocol.Outcome]) -> Panel:
    """Return RMSE after the change of plane as in fig. 8.4: mean over the parts and their standard deviation."""
    curves = {LABELS.get(short, short): outcome.curves(group) for short, outcome in outcomes.items()}
    seconds = np.arange(1, next(iter(curves.values())).shape[1] + 1) / protocol.SAMPLE_RATE
    lines = {name: (seconds, some.mean(axis=0), some.std(axis=0)) for name, some in curves.items()}
    level = float(PUBLISHED["SP"][list(UNITS).index(group)])
    published = {"SP and NP published, steady": (seconds[[0, -1]], [level] * 2)}
    title = f"RMSE of {group} after the change of plane, {WINDOW} samples"
    return Panel(title, "time [s]", UNITS[group], lines, published, linear_x=True)
