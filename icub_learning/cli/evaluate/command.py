"""`icub-learning evaluate`: what the node would have predicted over a recording, and how well."""

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from icub_learning.cli.settings import add_settings
from icub_learning.reporting.tables import add_json_option, write_json

EXAMPLE = """\
example:
  icub-learning evaluate ur10_exciting_trajectory.db3 --urdf ur10 --output joint_torque --plot ur10.png \\
      --joints shoulder_pan_joint shoulder_lift_joint elbow_joint wrist_1_joint wrist_2_joint wrist_3_joint

P is the parametric estimator (rigid bodies and friction), NP the nonparametric one (random features), SP the
semiparametric one (both); each starts at zero and predicts every sample before it learns it.
RMSE = sqrt(mean(e^2)); nMSE = mean(e^2) / variance of the measurement in the same samples."""


def add_parser(subparsers: Any) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "evaluate",
        description="Predict each sample of a recording before learning it, with the same code as the node.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    parser.add_argument("recording", metavar="RECORDING", type=Path, help="rosbag2 folder, .db3, .mcap, .csv or .npz")
    parser.add_argument(
        "--urdf", required=True, help="path of a URDF, package://..., or a known robot: icub, ur10, panda"
    )
    parser.add_argument("--joints", required=True, nargs="+", metavar="JOINT", help="learned joints: a b c, or a,b,c")
    parser.add_argument(
        "--output", required=True, choices=("wrench", "joint_torque"), help="what is learned: wrenches, or efforts"
    )
    parser.add_argument(
        "--plot", metavar="FILE", type=Path, help="draw errors and predictions into FILE (.png, .pdf, .svg)"
    )
    add_json_option(parser)

    parts = parser.add_argument_group("parts that are judged")
    parts.add_argument(
        "--transient",
        metavar="SECONDS",
        type=float,
        default=3.0,
        help="length of the transient at the start (default: 3)",
    )
    parts.add_argument(
        "--steady-from",
        metavar="FRACTION",
        type=float,
        default=0.7,
        help="where the steady state begins, as a fraction of the samples (default: 0.7)",
    )
    parts.add_argument(
        "--derivatives",
        choices=("both", "causal", "smoothed", "recorded"),
        default="both",
        help="causal: the node's own; smoothed: from both sides in time, as no running robot has them; both (default);"
        " recorded: accelerations from the CSV or NPZ file",
    )

    add_reading_options(parser)
    add_learning_options(parser)


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """Add what says how a recording is read."""
    source = parser.add_argument_group("reading")
    source.add_argument("--joint-state-topic", metavar="TOPIC", help="where the recording has several")
    source.add_argument("--wrench-topic", metavar="TOPIC", help="where the recording has several")
    source.add_argument(
        "--stamp-source", choices=("header", "arrival"), default="header", help="time of a message (default: header)"
    )


def add_learning_options(parser: argparse.ArgumentParser, leave_out: Sequence[str] = ()) -> None:
    """Add the settings of learning as options, except those in `leave_out`, which stay unset."""
    from icub_learning.dynamics.settings import Settings

    parser.set_defaults(**dict.fromkeys(leave_out))
    group = parser.add_argument_group("learning", "the settings of the inverse dynamics node")
    add_settings(group, [Settings], leave_out=(*OWN_OPTIONS, *leave_out), given=True)


# Settings that evaluate and tune take by options of their own, or set themselves.
OWN_OPTIONS = ("urdf", "joints", "output", "estimator", "stamp_source")


def run(args: argparse.Namespace) -> int:
    """Evaluate, print, and write what was asked for."""
    from threadpoolctl import threadpool_limits

    from icub_learning.cli.evaluate import report as evaluation_report
    from icub_learning.evaluation.comparison import compare
    from icub_learning.reporting import plots

    _check(args)
    settings = make_settings(args)
    if args.plot is not None:
        plots.check_path(args.plot)
    recording, settings = read_recording(args, settings)
    modes = ("causal", "smoothed") if args.derivatives == "both" else (args.derivatives,)
    n_events = recording.n_joint_states + len(recording.wrench_stamps)
    with threadpool_limits(limits=1, user_api="blas"):  # as in the node: small solves, where threads only wait
        results = {mode: compare(recording, settings, mode, _bar(mode, n_events)) for mode in modes}
    figures = evaluation_report.figures(args.recording, recording, settings, results, args.transient, args.steady_from)
    print(evaluation_report.text(figures))
    if args.json is not None:
        write_json(args.json, figures)
        print(f"figures: {args.json}")
    if args.plot is not None:
        mode = modes[0]
        plots.plot_evaluation(
            args.plot, results[mode], settings.output, args.steady_from, f"{args.recording.name}, {mode} derivatives"
        )
        print(f"picture: {args.plot}")
    return 0


def make_settings(args: argparse.Namespace) -> Any:
    """The node's settings, with what was given on the command line."""
    from icub_learning.dynamics.assembly import Settings
    from icub_learning.errors import ParameterError
    from icub_learning.robots import find_urdf
    from icub_learning.settings import pick

    joints = tuple(name for part in args.joints for name in part.split(",") if name)
    if not joints:
        raise ParameterError("--joints", args.joints, "at least one name")
    given = {name: value for name, value in vars(args).items() if value is not None}
    return pick(Settings, given, urdf=find_urdf(args.urdf), joints=joints)


def read_recording(args: argparse.Namespace, settings: Any) -> tuple[Any, Any]:
    """The recording, and the settings with the order of joints that it has unless one was asked for."""
    from icub_learning.recording import read

    recording = read(
        args.recording,
        args.joint_state_topic,
        args.wrench_topic if settings.output == "wrench" else "",
        stamp_source=args.stamp_source,
        progress=sys.stderr.isatty(),
    )
    if args.joint_order is None and ordered(recording.joint_names, settings.joints) != settings.joints:
        settings = replace(settings, joint_order="any")  # a file's own order is no sign of a fault
    return recording, settings


def ordered(names: Iterable[str], joints: tuple[str, ...]) -> tuple[str, ...]:
    """The learned joints in the order in which the recording has them."""
    return tuple(name for name in names if name in joints)


def _check(args: argparse.Namespace) -> None:
    from icub_learning.arrays import real

    real("--transient", args.transient, 0.0)
    real("--steady-from", args.steady_from, 0.0, 1.0)


def _bar(mode: str, total: int) -> Callable[[Iterable[Any], str], Iterable[Any]]:
    from tqdm import tqdm

    # disable=None: no bar where standard error is no terminal
    return lambda events, short: tqdm(events, f"{short} {mode}", total, disable=None, delay=1, leave=False, unit="msg")
