"""`icub-learning evaluate`: predict, then learn, over a recording; print the errors of P, NP and SP."""

import argparse
from dataclasses import replace

from icub_learning.cli.common import options
from icub_learning.errors import IcubLearningError, ParameterError, RecordingError
from icub_learning.reporting.tables import add_value, save_figures

DESCRIPTION = "Predict each sample of a recording before learning it, with the same code as the node."
EXAMPLE = """\
example:
  icub-learning evaluate ur10_exciting_trajectory.db3 --urdf ur10 --output joint_torque --plot ur10.png \\
      --joints shoulder_pan_joint shoulder_lift_joint elbow_joint wrist_1_joint wrist_2_joint wrist_3_joint
  icub-learning evaluate monday.mcap --test tuesday.mcap --urdf ur10 --output joint_torque
  icub-learning evaluate --table recordings/*.npz

P is the parametric estimator (rigid bodies and friction), NP the nonparametric one (random features), SP the
semiparametric one (both); each starts at zero and predicts every sample before it learns it. off-line is what an
engineer would identify by hand from the part before the steady state: least squares on zero-phase filtered data.
RMSE = sqrt(mean(e^2)); nMSE = mean(e^2) / variance of the measurement in the same samples."""


def add_options(parser: argparse.ArgumentParser) -> None:
    options.add_recording_argument(parser, required=False)
    options.add_output_options(parser, "errors and predictions")

    parts = parser.add_argument_group("what is judged")
    text = "learn all of the first recording, then predict this one of the same robot with learning off"
    parts.add_argument("--test", metavar="RECORDING", type=options.named_path, help=text)
    add_value(parts, "--horizon", 0.0, "predict this far beyond all that was learned", "SECONDS", "[0, 1e9]")
    text = "evaluate a class of your own too: my_package.my_module.MyLearner, see docs/how_to/bring_your_own.md"
    parts.add_argument("--estimator", metavar="CLASS", help=text)
    text = "one row for each of many recordings: X.npz (or another format) with X.urdf beside it, or a YAML or JSON"
    text += " file with `recording` and any settings; --urdf, --joints and --output hold where a file says nothing"
    parts.add_argument("--table", metavar="FILE", nargs="+", type=options.named_path, help=text)
    add_value(parts, "--transient", 3.0, "length of the transient at the start", "SECONDS", "[0, 1e9]")
    text = "where the steady state begins, as a fraction of the samples"
    add_value(parts, "--steady-from", 0.7, text, "FRACTION", "[0, 0.99]")
    text = "causal: the node's own; smoothed: from both sides in time, as no running robot has them; both (with"
    text += " --table: causal); recorded: accelerations from the CSV or NPZ file"
    add_value(parts, "--derivatives", "both", text, choices=("both", "causal", "smoothed", "recorded"))
    options.add_learning_options(parser)


def run(args: argparse.Namespace) -> None:
    from threadpoolctl import threadpool_limits

    if (args.recording is None) == (args.table is None):
        given = args.recording and str(args.recording)
        raise ParameterError("RECORDING", given, "one recording, or --table with several (see --help)")
    if args.table and (args.test or args.plot):
        raise ParameterError("--table", "--test or --plot", "given without them")
    with threadpool_limits(limits=1, user_api="blas"):  # one, as in the node: more only delay small solves
        (_run_table if args.table else _run_single)(args)


def _run_single(args: argparse.Namespace) -> None:
    from icub_learning.cli.evaluate import cases, picture, report
    from icub_learning.evaluation.predict_then_learn import compare

    case = cases.single_case(args, args.recording)
    settings, test = case.settings, None
    if args.test:
        other = argparse.Namespace(**{**vars(args), "urdf": settings.urdf, "joints": settings.joints})
        other.output = settings.output
        test = cases.single_case(other, args.test)  # it may have joints in another order, and others besides
        extra = (*settings.extra_joints, *test.recording.joint_names)
        settings = replace(settings, joint_order=args.joint_order or "any", extra_joints=extra)
    modes = ("causal", "smoothed") if args.derivatives == "both" else (args.derivatives,)
    second, results = test.recording if test else None, {}
    for mode in modes:
        watch = options.watch(case.path, case.recording, mode)
        results[mode] = compare(case.recording, settings, mode, watch, test=second, horizon=args.horizon)
    off_line = report.OffLine.of(case.recording, settings, args.steady_from, second)
    figures = report.figures_of(args, case, results, off_line, test)
    print(report.text(figures))
    save_figures(args.json, figures)
    title = f"{(args.test or args.recording).name}, {modes[0]} derivatives"
    drawn = results[modes[0]], settings.output, 0.0 if test else args.steady_from, title
    heads = f"Inverse dynamics, {title}", "Errors"
    options.write_drawn(args, lambda path: picture.draw(path, *drawn), *heads, report.text(figures))
    if not (test or results[modes[0]]["SP"].n_learned):
        raise RecordingError(f"nothing was learned from {args.recording}, for the reasons above")


def _run_table(args: argparse.Namespace) -> None:
    from icub_learning.cli.evaluate import cases, report, table
    from icub_learning.evaluation.judgement import judge
    from icub_learning.evaluation.predict_then_learn import compare

    mode = "causal" if args.derivatives == "both" else args.derivatives
    rows, failures = [], {}
    for file in args.table:
        try:
            case = cases.table_case(args, file)
            watch = options.watch(case.path, case.recording, mode)
            results = compare(case.recording, case.settings, mode, watch, horizon=args.horizon)
            if not results["SP"].n_learned:
                raise RecordingError("nothing was learned; evaluate it alone to see the reasons")
            off_line = report.OffLine.of(case.recording, case.settings, args.steady_from, None)
            judgement = judge(results, off_line.nmse, args.steady_from, 1 / off_line.bandwidth_hz)
            rows.append(table.row_of(case, judgement, off_line.failure))
        except (IcubLearningError, ArithmeticError, MemoryError, OSError, ValueError) as error:  # the others go on
            failures[str(file)] = " ".join(str(error).split())
    if rows:
        print(table.text(rows))
        figures = {"steady_from": args.steady_from, "horizon_s": args.horizon, "derivatives": mode, "recordings": rows}
        if args.report is not None:
            options.write_report(args.report, "Inverse dynamics on many recordings", [("Errors", table.text(rows), ())])
        save_figures(args.json, {**figures, "geometric_mean": table.summary_of(rows), "failures": failures})
    if failures:
        text = "; ".join(f"{file}: {reason}" for file, reason in failures.items())
        raise RecordingError(f"{len(failures)} of {len(args.table)} recordings were not evaluated: {text}")
