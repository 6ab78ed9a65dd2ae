"""`icub-learning fleet`: pool what many robots have learned, each sample once, and hand it back."""

import argparse
import time
from functools import partial
from pathlib import Path

from icub_learning.cli.common.options import add_own_option
from icub_learning.errors import IcubLearningError, ParameterError
from icub_learning.reporting.tables import add_json_option, add_value, number_in, save_figures, table

DESCRIPTION = "Pool the models of many robots so that each sample counts once, and hand the pooled one back."
EXAMPLE = """\
example:
  icub-learning fleet gather fleet/ robot_1.npz robot_2.npz robot_3.npz
  icub-learning fleet spread fleet/ to_1/arm.npz to_2/arm.npz to_3/arm.npz

over topics: the first on one machine, the second on each robot
  icub-learning fleet pool fleet/
  icub-learning fleet share robot_1 --load --every 600

A robot is named by its file, or as NAME=FILE; keep that name. Gather again whenever robots have learned more, whether
they went on from the pooled model or from their own: what was gathered before does not count twice."""

STEP = 0.05  # [s] time between two polls for models that have come


def add_options(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True, dest="action")
    action = actions.add_parser("gather", help="add the models of robots to the pooled one")
    _add_pooling(action)
    action.add_argument("files", nargs="+", metavar="[NAME=]FILE", help="models, as ~/save_model writes them")
    add_json_option(action)
    action = actions.add_parser("spread", help="write the pooled model to files that robots load")
    action.add_argument("folder", metavar="FOLDER", type=Path)
    action.add_argument("targets", nargs="+", metavar="FILE", type=Path, help="as ~/load_model reads them")
    add_json_option(action)
    action = actions.add_parser("pool", help="take models from a topic, publish the pooled one, until Ctrl-C")
    _add_pooling(action)
    add_value(action, "--settle", 1.0, "to wait for further robots", "SECONDS", "[0, inf)")
    action = actions.add_parser("share", help="publish what a node on this machine has learned")
    action.add_argument("robot", metavar="ROBOT", help="name of the robot: letters, digits, - and _; keep it")
    add_value(action, "--node", "inverse_dynamics", "", "NODE")
    text = "the node's (default: where nodes keep models if they are not told)"
    action.add_argument("--models-folder", default="", metavar="FOLDER", help=text)
    action.add_argument("--load", action="store_true", help="wait for the pooled model, and go on from it")
    every, text = number_in(float, "(0, inf)"), "again and again, until Ctrl-C; default: once"
    action.add_argument("--every", type=every, metavar="SECONDS", help=text)
    add_value(action, "--timeout", 60.0, "to wait for the station", "SECONDS")


def _add_pooling(action: argparse.ArgumentParser) -> None:
    action.add_argument("folder", metavar="FOLDER", type=Path, help="what the fleet knows; made where it is missing")
    action.add_argument("--any-urdf", action="store_true", help="also if the URDFs of the robots differ")
    add_value(action, "--keep", 20, "pooled models that are kept", "N")
    add_own_option(action)


def run(args: argparse.Namespace) -> None:
    {"gather": _gather, "spread": _spread, "pool": _pool, "share": _share}[args.action](args)


def _pool(args: argparse.Namespace) -> None:
    from icub_learning.clients.fleet_exchange import FleetStation
    from icub_learning.clients.topics import ros_node
    from icub_learning.dynamics.fleet import Fleet

    fleet = Fleet(args.folder, args.keep, args.own)
    with ros_node("icub_learning_fleet_pool") as (node, wait, stopped):
        gather = partial(fleet.gather, any_urdf=args.any_urdf)
        station = FleetStation(node, gather, fleet.pooled, args.settle, partial(print, flush=True))
        print(f"waiting for the models of robots; {fleet.pooled} is what all know", flush=True)
        while not stopped():
            wait(stopped, STEP)
            station.work()


def _share(args: argparse.Namespace) -> None:
    from icub_learning.clients.fleet_exchange import FleetMember
    from icub_learning.clients.topics import ros_node
    from icub_learning.models.kept import ModelsFolder
    from icub_learning.models.ledger import check_robot

    with ros_node(f"icub_learning_fleet_{check_robot(args.robot).replace('-', '_')}") as (node, wait, stopped):
        member = FleetMember(node, wait, args.robot, args.node, ModelsFolder(args.models_folder))
        while not stopped():
            try:
                if args.load:
                    sent, received = member.exchange(args.timeout)
                    text = f"sent {sent / 1e6:.3g} MB, went on from {received / 1e6:.3g} MB of all robots"
                else:
                    text = f"sent {member.share(args.timeout) / 1e6:.3g} MB"
                print(f"{args.robot}: {text}", flush=True)
            except (IcubLearningError, OSError) as error:
                if stopped():
                    raise KeyboardInterrupt from None  # that ended the wait, not the node
                if args.every is None:
                    raise
                print(f"{args.robot}: {error}; tried again in {args.every:g} s", flush=True)
            if args.every is None:
                return
            wait(stopped, args.every)


def _spread(args: argparse.Namespace) -> None:
    from icub_learning.dynamics.fleet import Fleet

    if not (fleet := Fleet(args.folder)).pooled.exists():
        raise ParameterError("FOLDER", str(args.folder), "a folder that `icub-learning fleet gather` wrote")
    if folder := next((target for target in args.targets if Path(target).is_dir()), None):
        raise ParameterError("FILE", str(folder), "a file to be written, not a folder")
    size = fleet.spread(args.targets)
    print(f"{size / 1e6:.3g} MB written to each of {len(args.targets)} files")
    save_figures(args.json, {"bytes": size, "files": args.targets})


def _gather(args: argparse.Namespace) -> None:
    from icub_learning.dynamics.fleet import Fleet

    fleet, named = Fleet(args.folder, args.keep, args.own), [_named(text) for text in args.files]
    start = time.perf_counter()
    found = fleet.gather(named, any_urdf=args.any_urdf)
    seconds = time.perf_counter() - start
    print(table(["robot", "samples", "new"], [[one.robot, str(one.samples), str(one.new)] for one in found]))
    print(f"\n{fleet.pooled}: {sum(one.new for one in found)} samples more, in {seconds:.2g} s")
    if any(one.sensor and one.new for one in found):
        print("Offsets of sensors are pooled too: call ~/tare once on each robot that has loaded this, its hand empty.")
    figures = {one.robot: {"samples": one.samples, "new": one.new} for one in found}
    save_figures(args.json, {"robots": figures, "seconds": seconds, "file": str(fleet.pooled)})


def _named(text: str) -> tuple[str, Path]:
    name, equals, path = text.partition("=")
    return (name, Path(path)) if equals and not Path(text).exists() else (Path(text).stem, Path(text))
