"""`icub-learning fleet`: pools what many robots have learned, and hands it back to them."""

import argparse
import time
from pathlib import Path

from icub_learning.reporting.tables import add_json_option, save_figures, table

DESCRIPTION = "Pool the models of many robots so that each sample counts once, and hand the pooled one back."
EXAMPLE = """\
example:
  icub-learning fleet gather fleet/ robot_1.npz robot_2.npz robot_3.npz
  icub-learning fleet spread fleet/ to_1/arm.npz to_2/arm.npz to_3/arm.npz

A robot is named by its file, or as NAME=FILE; keep that name. Gather again whenever robots have learned more, whether
they went on from the pooled model or from their own: what was gathered before does not count twice."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True, dest="action")
    action = actions.add_parser("gather", help="add the models of robots to the pooled one")
    action.add_argument("folder", metavar="FOLDER", type=Path, help="what the fleet knows; made where it is missing")
    action.add_argument("files", nargs="+", metavar="[NAME=]FILE", help="models, as ~/save_model writes them")
    action.add_argument("--any-urdf", action="store_true", help="also if the URDFs of the robots differ")
    action.add_argument("--keep", type=int, default=20, metavar="N", help="pooled models that are kept (default: 20)")
    add_json_option(action)
    action = actions.add_parser("spread", help="write the pooled model to files that robots load")
    action.add_argument("folder", metavar="FOLDER", type=Path)
    action.add_argument("targets", nargs="+", metavar="FILE", type=Path, help="as ~/load_model reads them")
    add_json_option(action)


def run(args: argparse.Namespace) -> None:
    """Gather or spread."""
    from icub_learning.dynamics.fleet import Fleet

    if args.action == "spread":
        size = Fleet(args.folder).spread(args.targets)
        print(f"{size / 1e6:.3g} MB written to {len(args.targets)} files")
        save_figures(args.json, {"bytes": size, "files": [str(path) for path in args.targets]})
        return
    fleet = Fleet(args.folder, args.keep)
    named = [_named(text) for text in args.files]
    start = time.perf_counter()
    found = fleet.gather(named, any_urdf=args.any_urdf)
    seconds = time.perf_counter() - start
    print(table(["robot", "samples", "new"], [[one.robot, str(one.samples), str(one.new)] for one in found]))
    print(f"\n{fleet.pooled}: {sum(one.new for one in found)} samples more, in {seconds:.2g} s")
    figures = {one.robot: {"samples": one.samples, "new": one.new} for one in found}
    save_figures(args.json, {"robots": figures, "seconds": seconds, "file": str(fleet.pooled)})


def _named(text: str) -> tuple[str, Path]:
    name, equals, path = text.partition("=")
    return (name, Path(path)) if equals else (Path(text).stem, Path(text))
