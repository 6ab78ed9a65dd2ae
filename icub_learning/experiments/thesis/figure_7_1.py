"""`icub-learning reproduce figure-7.1`: what unbalanced classes do to a boundary, and recoding (thesis 7.3)."""

import argparse
from pathlib import Path
from typing import Any

from icub_learning.reporting.tables import add_json_option, number, table, write_json

SUMMARY = "what unbalanced classes do to a decision boundary, and recoding"
DESCRIPTION = """\
Two classes in the plane, Gaussian about (-1, 0) and (1, 0) with standard deviations 1 and 0.3; the first is met with
probability gamma. The optimal boundary moves with gamma, the one of the rebalanced loss does not (fig. 7.1). Beside
both: what IncrementalClassifier learns from samples, with random features of the Gaussian kernel, without recoding
(alpha = 0) and with it (alpha = 1). Published: the two optimal boundaries, without numbers.

example:
  icub-learning reproduce figure-7.1 --json out/figure-7.1.json"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this experiment."""
    parser.add_argument("--samples", type=int, default=20000, help="learned for each gamma (default: 20000)")
    parser.add_argument("--seed", type=int, default=0, help="of the samples and the features (default: 0)")
    parser.add_argument(
        "--out", type=Path, default=Path("out"), metavar="FOLDER", help="for the picture (default: out)"
    )
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Compute the boundaries, print where they cross the axis, and draw them."""
    from icub_learning.arrays import integer
    from icub_learning.experiments.thesis import figure_7_1_picture as picture
    from icub_learning.experiments.thesis import two_gaussians

    samples, seed = integer("--samples", args.samples, 100), integer("--seed", args.seed, 0)
    cases = [two_gaussians.compare(gamma, samples, seed) for gamma in two_gaussians.GAMMAS]
    rows = [
        [f"{case.gamma:.1f}", *(number(case.crossing(name)) for name in two_gaussians.BOUNDARIES)] for case in cases
    ]
    rows.append(["moved by", *(number(_spread(cases, name)) for name in two_gaussians.BOUNDARIES)])
    print("Where the boundary crosses the line between the two means (x, from -1 to 1):\n")
    head = ["gamma", "standard", "rebalanced", "alpha = 0", "alpha = 1"]
    print(table(head, rows, [("optimal", 2), (f"learned, {samples} samples", 2)]))
    path = args.out / "figure-7.1.png"
    picture.draw(path, cases)
    print(f"\npicture: {path}")
    if args.json is not None:
        crossings = {name: [case.crossing(name) for case in cases] for name in two_gaussians.BOUNDARIES}
        write_json(args.json, {"gamma": two_gaussians.GAMMAS, "samples": samples, "seed": seed, "crossing": crossings})
        print(f"figures: {args.json}")
    return 0


def _spread(cases: list[Any], name: str) -> float:
    places = [case.crossing(name) for case in cases]
    return float(max(places) - min(places))
