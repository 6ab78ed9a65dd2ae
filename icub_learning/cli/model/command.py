"""`icub-learning model`: what model files hold, how two differ, pooling two, and whether they are whole."""

import argparse
from pathlib import Path

from icub_learning.cli.common.options import add_own_option
from icub_learning.reporting.tables import add_json_option

DESCRIPTION = "Say what model files hold, compare two, pool two, or check that they are whole."
EXAMPLE = """\
example:
  icub-learning model info right_arm
  icub-learning model diff monday.npz friday.npz
  icub-learning model merge robot_1.npz robot_2.npz --to both.npz
  icub-learning model check ~/.local/state/icub_learning/models/*.npz

A file is compared with its checksums, and the learner in it is rebuilt. A name that is no file here means a
model in ~/.local/state/icub_learning/models, where nodes keep theirs. `merge` refuses models of different robots,
sensors or networks, and counts views twice that two models of objects share. `check` exits with 1 if a file is
not a whole model."""


def add_options(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True, dest="action")
    for name, files, text in (
        ("info", "+", "what a model is and how it was learned"), ("check", "+", "whether models are whole"),
        ("diff", 2, "how two models differ"), ("merge", 2, "pool two models, as if one robot had seen what both saw"),
    ):  # fmt: skip
        action = actions.add_parser(name, help=text)
        action.add_argument("files", nargs=files, metavar="FILE", type=Path)
        add_own_option(action)
        add_json_option(action)
    action.add_argument("--to", required=True, metavar="FILE", type=Path, help="the pooled model")
    action.add_argument("--any-urdf", action="store_true", help="also if the URDFs of the robot differ")


def run(args: argparse.Namespace) -> int | None:
    """Run the action; return 1 if `check` found a file that is not whole."""
    from icub_learning.cli.model import actions

    return getattr(actions, args.action)(args)
