"""`icub-learning tune`: chooses a learner's settings from a recording, or from pictures of objects."""

import argparse
from pathlib import Path
from typing import Any

from icub_learning.cli.evaluate.command import add_learning_options, add_reading_options
from icub_learning.errors import ParameterError, RecordingError
from icub_learning.reporting.tables import add_json_option

DESCRIPTION = "Choose length scale, regularization and size of a learner, and write the node's parameters."
EXAMPLE = """\
example:
  icub-learning tune ur10_exciting_trajectory.db3 --urdf ur10 --output joint_torque --plot tuned.png \\
      --joints shoulder_pan_joint shoulder_lift_joint elbow_joint wrist_1_joint wrist_2_joint wrist_3_joint
  icub-learning tune pictures --plot tuned.png

Settings are chosen on the first part of the recording alone: each combination learns the samples up to some moment and
predicts those that come a little later (--gap, --horizon), at several moments (--folds). The last part then shows, with
the code of the node, whether they beat the shipped defaults. Killed at any moment, the same command goes on from where
it was.

A short horizon is what a learner meets that never stops learning. A longer one asks how far it extrapolates, and asks
for more regularization.

Pictures are in a folder for each object, FOLDER/LABEL/*.png, in the order of their names, as `icub-learning simulate
--images` writes them; where there are FOLDER/train and FOLDER/test, the latter are the last part."""
GRIDS = ("length_scale", "n_random_features", "nonparametric_regularization")  # not given as single numbers here


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument(
        "recording", metavar="RECORDING", type=Path, help="rosbag2 folder, .db3, .mcap, .csv, .npz; or pictures"
    )
    parser.add_argument("--urdf", help="path of a URDF, package://..., or a known robot: icub, ur10, panda")
    parser.add_argument("--joints", nargs="+", metavar="JOINT", help="learned joints: a b c, or a,b,c")
    parser.add_argument("--output", choices=("wrench", "joint_torque"), help="what is learned: wrenches, or efforts")
    parser.add_argument(
        "--estimator",
        choices=("semiparametric", "nonparametric"),
        default="semiparametric",
        help="that has the features (default: semiparametric)",
    )
    parser.add_argument(
        "--parameters", metavar="FILE", type=Path, help="the node's parameters (default: out/tuned-RECORDING.yaml)"
    )
    parser.add_argument("--plot", metavar="FILE", type=Path, help="draw the surface into FILE (.png, .pdf, .svg)")
    add_json_option(parser)

    grid = parser.add_argument_group("what is tried", "defaults have the shipped settings in their middle")
    grid.add_argument("--length-scales", nargs="+", type=float, metavar="X", help="of the kernel")
    grid.add_argument("--regularizations", nargs="+", type=float, metavar="X", help="lambda, as the node's parameter")
    grid.add_argument("--sizes", nargs="+", type=int, metavar="N", help="random features, or examples that are kept")

    parts = parser.add_argument_group("validation")
    parts.add_argument("--folds", type=int, default=None, help="moments (default: 6, of pictures 3)")
    parts.add_argument(
        "--tune-on", type=float, default=0.7, metavar="SHARE", help="first part, that is tuned on (default: 0.7)"
    )
    parts.add_argument(
        "--gap",
        type=float,
        default=0.0,
        help="s between what is learned and predicted, at least the node's delay; of pictures: views (default: 0)",
    )
    parts.add_argument("--horizon", type=float, default=0.1, help="s that are predicted after it (default: 0.1)")
    parts.add_argument(
        "--most-samples",
        type=int,
        default=6000,
        metavar="N",
        help="to tune on; of more some are skipped (default: 6000)",
    )
    add_reading_options(parser)
    add_learning_options(parser, leave_out=GRIDS)


def run(args: argparse.Namespace) -> int:
    """Tune what RECORDING is of."""
    from threadpoolctl import threadpool_limits

    from icub_learning.arrays import integer, real
    from icub_learning.reporting import plots

    path: Path = args.recording
    if not path.exists():
        raise RecordingError(f"{path} does not exist", name=str(path), bound="a recording or a folder of pictures")
    if args.plot is not None:
        plots.check_path(args.plot)
    if args.parameters is None:
        args.parameters = Path("out", f"tuned-{path.resolve().stem}.yaml")
    args.seed = integer("--seed", 0 if args.seed is None else args.seed, 0)
    if args.folds is not None:
        integer("--folds", args.folds, 1)
    if not real("--tune-on", args.tune_on, 0.0, 1.0, low_open=True) < 1.0:
        raise ParameterError("--tune-on", args.tune_on, "below 1: the last part shows what was won")
    of_objects = path.is_dir() and not any(path.glob("*.yaml")) and not any(path.glob("*.mcap"))
    with threadpool_limits(limits=1, user_api="blas"):  # as in the node
        if of_objects and not any(path.glob("*.db3")):
            from icub_learning.cli.tune import objects as tune_objects

            return tune_objects.run(args)
        from icub_learning.cli.tune import dynamics as tune_dynamics

        missing = [option for option in ("urdf", "joints", "output") if getattr(args, option) is None]
        if missing:
            raise ParameterError(f"--{missing[0]}", None, "given: needed with a recording of a robot's motion")
        return tune_dynamics.run(args)
