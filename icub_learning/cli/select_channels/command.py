"""`icub-learning select-channels`: which of many input channels matter for one output of a recording."""

import argparse
import sys
from pathlib import Path
from typing import Any

from icub_learning.reporting.tables import add_json_option, number, table, write_json

DESCRIPTION = "Rank the input channels of a recording by what they tell about one output."
EXAMPLE = """\
example:
  icub-learning select-channels ur10_exciting_trajectory.db3 --output effort.elbow_joint --plot channels.png

Channels are position.JOINT, velocity.JOINT, acceleration.JOINT, effort.JOINT, wrench.force.x ... wrench.torque.z, and
every other column of numbers in a CSV or NPZ file (temperature.JOINT, current.JOINT, ...). A channel counts in a
resample if sparse tensor-kernel regression gives it more than two standard deviations of the weights of decoys, which
are channels shifted in time; it matters if it counts in most of the resamples. Of channels that tell the same, one or
the other may be taken."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("recording", metavar="RECORDING", type=Path, help="rosbag2 folder, .db3, .mcap, .csv or .npz")
    parser.add_argument("--output", required=True, metavar="CHANNEL", help="to explain, as effort.r_elbow")
    parser.add_argument(
        "--inputs", nargs="+", default=[], metavar="PATTERN",
        help="channels to choose among, as 'position.*' (default: all but those of the output's kind)",
    )  # fmt: skip
    parser.add_argument(
        "--kernel",
        choices=("linear", "polynomial", "exponential"),
        default="linear",
        help="of q samples; the others see products of channels, on at most 60 samples at a time (default: linear)",
    )
    parser.add_argument("--degree", type=int, default=2, help="of the polynomial kernel (default: 2)")
    parser.add_argument("--order", type=int, default=4, help="q, even: 2 is ridge regression (default: 4)")
    parser.add_argument("--resamples", type=int, default=20, help="fits that are compared (default: 20)")
    parser.add_argument(
        "--threshold", type=float, default=0.8, help="part of them in which a channel must count (default: 0.8)"
    )
    parser.add_argument("--seed", type=int, default=0, help="of resamples and decoys (default: 0)")
    parser.add_argument("--plot", metavar="FILE", type=Path, help="draw the ranking into FILE (.png, .pdf, .svg)")
    add_json_option(parser)
    source = parser.add_argument_group("reading")
    source.add_argument("--joint-state-topic", metavar="TOPIC", help="where the recording has several")
    source.add_argument("--wrench-topic", metavar="TOPIC", help="where the recording has several")
    source.add_argument(
        "--stamp-source", choices=("header", "arrival"), default="header", help="time of a message (default: header)"
    )


def run(args: argparse.Namespace) -> int:
    """Read, rank, answer in words, and draw."""
    from threadpoolctl import threadpool_limits
    from tqdm import tqdm

    from icub_learning.arrays import integer
    from icub_learning.cli.select_channels import picture as select_channels_picture
    from icub_learning.evaluation.channels import align, channels
    from icub_learning.kernel_methods.tensor.channel_selection import rank_channels
    from icub_learning.recording import read
    from icub_learning.reporting import plots

    integer("--seed", args.seed, 0)
    if args.plot is not None:
        plots.check_path(args.plot)
    recording = read(
        args.recording,
        args.joint_state_topic,
        args.wrench_topic,
        stamp_source=args.stamp_source,
        progress=sys.stderr.isatty(),
    )
    values, output, names = align(channels(recording, args.recording), args.output, args.inputs)
    with threadpool_limits(limits=1, user_api="blas"):
        ranking = rank_channels(
            values,
            output,
            names,
            kernel=args.kernel,
            degree=args.degree,
            order=args.order,
            n_resamples=args.resamples,
            threshold=args.threshold,
            seed=args.seed,
            progress=lambda resamples: tqdm(resamples, "resamples", disable=None, leave=False),
        )
    rows = zip(
        ranking.names,
        (number(one) for one in ranking.importance),
        (number(one) for one in ranking.spread),
        (f"{one:.0%}" for one in ranking.frequency),
        ("yes" if one else "no" for one in ranking.matters),
        strict=True,
    )
    print(f"{args.recording.name}: {args.output}, {len(output)} samples, {len(names)} channels")
    print(table(["channel", "importance", "± resamples", "counts in", "matters"], rows))
    print(f"\n{answer(args.output, ranking)}")
    if args.json is not None:
        write_json(args.json, {"recording": str(args.recording), "output": args.output, **vars(ranking)})
        print(f"figures: {args.json}")
    if args.plot is not None:
        select_channels_picture.draw(args.plot, args.output, ranking)
        print(f"picture: {args.plot}")
    return 0


def answer(output: str, ranking: Any) -> str:
    """What was found, in words."""
    n, chosen = len(ranking.names), ranking.chosen
    held_out = "of its variance in stretches of time held out"
    if not chosen:
        return (
            f"None of the {n} channels stands out from channels shifted in time, which cannot tell anything about"
            f" {output}, in enough of the {ranking.n_resamples} resamples."
            f" Together they explain {_percent(ranking.explained)} {held_out}."
        )
    listed = ", ".join(chosen[:-1]) + (" and " if len(chosen) > 1 else "") + chosen[-1]
    one = len(chosen) == 1
    return (
        f"Of {n} channels {len(chosen)} {'matters' if one else 'matter'} for {output}: {listed}."
        f" Alone {'it explains' if one else 'they explain'} {_percent(ranking.explained_by_chosen)} {held_out},"
        f" all {n} together {_percent(ranking.explained)}."
    )


def _percent(part: float) -> str:
    return "nothing" if part <= 0.005 else f"{part:.0%}"
