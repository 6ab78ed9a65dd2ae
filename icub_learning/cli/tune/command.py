"""`icub-learning tune`: chooses a learner's settings from a recording, or from images of objects."""

import argparse
from pathlib import Path

from icub_learning.cli import options
from icub_learning.cli.report import add_report_option, check_report
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
the code of the node, whether they beat the shipped defaults. After an interruption the same command continues where it
was.

A short horizon fits a learner that never stops learning. A longer one tests extrapolation, and leads to more
regularization.

Images are in a folder for each object, FOLDER/LABEL/*.png, in the order of their names, as `icub-learning simulate
--images` writes them; where there are FOLDER/train and FOLDER/test, the latter are the last part."""
GRIDS = ("length_scale", "n_random_features", "nonparametric_regularization")  # settings that are chosen here


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    options.add_recording_argument(parser, f"{options.RECORDING}; or a folder of images")
    options.add_robot_options(parser, required=False)
    parser.add_argument(
        "--estimator",
        choices=("semiparametric", "nonparametric"),
        default="semiparametric",
        help="estimator to tune (default: semiparametric)",
    )
    parser.add_argument(
        "--parameters", metavar="FILE", type=Path, help="file for the parameters (default: out/tuned-RECORDING.yaml)"
    )
    options.add_plot_option(parser, "the errors over the grid")
    add_json_option(parser)
    add_report_option(parser)

    grid = parser.add_argument_group("grid", "values that are tried; by default around the shipped settings")
    grid.add_argument("--length-scales", nargs="+", type=float, metavar="X", help="length scales of the kernel")
    grid.add_argument(
        "--regularizations", nargs="+", type=float, metavar="X", help="values of lambda, as the node's parameter"
    )
    grid.add_argument(
        "--sizes", nargs="+", type=int, metavar="N", help="numbers of random features, or of examples that are kept"
    )

    parts = parser.add_argument_group("validation")
    parts.add_argument("--folds", type=int, default=None, help="number of folds (default: 6, for images 3)")
    parts.add_argument(
        "--tune-on",
        type=float,
        default=0.7,
        metavar="SHARE",
        help="share of the recording to tune on, from its start (default: 0.7)",
    )
    parts.add_argument(
        "--gap",
        type=float,
        default=0.0,
        help="time from learned to predicted samples, at least the node's delay [s]; in views for images (default: 0)",
    )
    parts.add_argument("--horizon", type=float, default=0.1, help="time that is predicted after it [s] (default: 0.1)")
    parts.add_argument(
        "--most-samples",
        type=int,
        default=6000,
        metavar="N",
        help="samples to tune on; of more, evenly spaced ones are taken (default: 6000)",
    )
    options.add_reading_options(parser)
    options.add_learning_options(parser, leave_out=GRIDS)


def run(args: argparse.Namespace) -> None:
    """Tune the learner that fits RECORDING: a robot's motion, or images of objects."""
    from threadpoolctl import threadpool_limits

    from icub_learning.arrays import integer, real
    from icub_learning.reporting.plots import check_path

    path: Path = args.recording
    if not path.exists():
        raise RecordingError(f"{path} does not exist", name=str(path), bound="a recording or a folder of images")
    if args.plot is not None:
        check_path(args.plot)
    check_report(args.report)
    if args.parameters is None:
        args.parameters = Path("out", f"tuned-{path.resolve().stem}.yaml")
    args.seed = integer("--seed", 0 if args.seed is None else args.seed, 0)
    if args.folds is not None:
        integer("--folds", args.folds, 1)
    if not real("--tune-on", args.tune_on, 0.0, 1.0, low_open=True) < 1.0:
        raise ParameterError("--tune-on", args.tune_on, "below 1: the last part checks the choice")
    of_objects = path.is_dir() and not any(path.glob("*.yaml")) and not any(path.glob("*.mcap"))
    with threadpool_limits(limits=1, user_api="blas"):  # as in the node
        if of_objects and not any(path.glob("*.db3")):
            from icub_learning.cli.tune.objects import tune_objects

            tune_objects(args).output(args)
            return
        from icub_learning.cli.tune.dynamics import tune_dynamics

        missing = [option for option in ("urdf", "joints", "output") if getattr(args, option) is None]
        if missing:
            raise ParameterError(f"--{missing[0]}", None, "given: needed with a recording of a robot's motion")
        tune_dynamics(args).output(args)
