"""`icub-learning evaluate`: what the node would have predicted over a recording, and how well."""

import argparse
from collections.abc import Callable, Iterable
from typing import Any

from icub_learning.cli import options
from icub_learning.reporting.tables import add_json_option, save_figures

DESCRIPTION = "Predict each sample of a recording before learning it, with the same code as the node."
EXAMPLE = """\
example:
  icub-learning evaluate ur10_exciting_trajectory.db3 --urdf ur10 --output joint_torque --plot ur10.png \\
      --joints shoulder_pan_joint shoulder_lift_joint elbow_joint wrist_1_joint wrist_2_joint wrist_3_joint

P is the parametric estimator (rigid bodies and friction), NP the nonparametric one (random features), SP the
semiparametric one (both); each starts at zero and predicts every sample before it learns it.
RMSE = sqrt(mean(e^2)); nMSE = mean(e^2) / variance of the measurement in the same samples."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    options.add_recording_argument(parser)
    options.add_robot_options(parser)
    options.add_plot_option(parser, "errors and predictions")
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

    options.add_reading_options(parser)
    options.add_learning_options(parser)


def run(args: argparse.Namespace) -> None:
    """Evaluate the three estimators, print the errors, and write what was asked for."""
    from threadpoolctl import threadpool_limits

    from icub_learning.arrays import real
    from icub_learning.cli.evaluate import picture, report
    from icub_learning.evaluation.predict_then_learn import compare
    from icub_learning.reporting.plots import check_path

    real("--transient", args.transient, 0.0)
    real("--steady-from", args.steady_from, 0.0, 1.0)
    settings = options.make_settings(args)
    if args.plot is not None:
        check_path(args.plot)
    recording, settings = options.read_for(args, settings)
    modes = ("causal", "smoothed") if args.derivatives == "both" else (args.derivatives,)
    n_events = recording.n_joint_states + len(recording.wrench_stamps)

    def watch(mode: str) -> Callable[[Iterable[Any], str], Iterable[Any]]:
        return lambda events, estimator: options.progress_bar(f"{estimator} {mode}", "msg", n_events)(events)

    with threadpool_limits(limits=1, user_api="blas"):  # as in the node: threads only delay small solves
        results = {mode: compare(recording, settings, mode, watch(mode)) for mode in modes}
    figures = report.figures_of(args.recording, recording, settings, results, args.transient, args.steady_from)
    print(report.text(figures))
    save_figures(args.json, figures)
    if args.plot is not None:
        title = f"{args.recording.name}, {modes[0]} derivatives"
        picture.draw(args.plot, results[modes[0]], settings.output, args.steady_from, title)
