"""`icub-learning tune`: choose a classifier's settings from pictures of objects."""

import argparse
from pathlib import Path

from icub_learning.cli.common import options
from icub_learning.errors import ParameterError
from icub_learning.reporting.tables import add_value

DESCRIPTION = "Choose classifier and regularization from pictures, and write the node's parameters."
EXAMPLE = """\
example:
  icub-learning tune pictures --plot tuned.png

Pictures are in a folder for each object, PICTURES/LABEL/*.png, in the order of their names, as `icub-learning simulate
--images` writes them; where there are PICTURES/train and PICTURES/test, the latter are the last part.

Settings are chosen on the first part alone: the views up to some moment are learned with each lambda, and those that
come later (--gap) are named, at several moments (--folds). The last part then shows, with the code of the node, whether
they beat the shipped defaults.

Of inverse dynamics nothing is tuned: its settings choose themselves while it learns."""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("pictures", metavar="PICTURES", type=Path, help="folder with a folder of pictures per object")
    text = "file for the parameters (default: out/tuned-PICTURES.yaml)"
    parser.add_argument("--parameters", metavar="FILE", type=Path, help=text)
    options.add_output_options(parser, "the errors of each lambda")
    text = "values of lambda (default: 0.01 to 10 000)"
    parser.add_argument("--regularizations", nargs="+", type=float, metavar="X", help=text)
    parts = parser.add_argument_group("validation")
    add_value(parts, "--folds", 3, "number of folds", "N", "[1, inf)")
    text = "share of the views to tune on, from the first; the others check the choice"
    add_value(parts, "--tune-on", 0.7, text, "SHARE", "(0, 1)")
    add_value(parts, "--gap", 0, "views between learned and named ones", "N", "[0, inf)")


def run(args: argparse.Namespace) -> None:
    from threadpoolctl import threadpool_limits

    from icub_learning.cli.tune.objects import tune_objects

    path: Path = args.pictures
    if not path.is_dir() or any(path.glob("*.db3")) or any(path.glob("*.mcap")):
        text = "inverse dynamics needs no tuning: its settings choose themselves while it learns"
        bound = f"a folder of pictures; {text if path.exists() else 'it does not exist'}"
        raise ParameterError("PICTURES", str(path), bound)
    if args.parameters is None:
        args.parameters = Path("out", f"tuned-{path.resolve().stem}.yaml")
        options.check_outputs(args)
    with threadpool_limits(limits=1, user_api="blas"):  # one thread, as in the node
        tune_objects(args)
