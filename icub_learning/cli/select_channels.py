"""`icub-learning select-channels`: which input channels matter for one output of a recording."""

import argparse
from pathlib import Path
from typing import Any

from icub_learning.cli.common import options
from icub_learning.reporting.tables import add_value, number, save_figures, table

DESCRIPTION = "Rank the input channels of a recording by what they tell about one output."
EXAMPLE = """\
example:
  icub-learning select-channels ur10_exciting_trajectory.db3 --output effort.elbow_joint --plot channels.png

Channels are position.JOINT, velocity.JOINT, acceleration.JOINT, effort.JOINT, wrench.force.x ... wrench.torque.z, and
every other column of numbers in a CSV or NPZ file (temperature.JOINT, current.JOINT, ...). A channel counts in a
resample if sparse tensor-kernel regression gives it more than two standard deviations of the weights of decoys, which
are channels shifted in time; it matters if it counts in most of the resamples. Of channels that tell the same, one or
the other may be taken."""
MOST_CHANNELS = 40  # most channels in the picture


def add_options(parser: argparse.ArgumentParser) -> None:
    options.add_recording_argument(parser)
    parser.add_argument("--output", required=True, metavar="CHANNEL", help="channel to explain, such as effort.r_elbow")
    text = "channels to choose among, such as 'position.*' (default: all but those of the output's kind)"
    parser.add_argument("--inputs", nargs="+", default=[], metavar="PATTERN", help=text)
    text = "all but the linear tensor kernel see products of channels, on at most 60 samples"
    add_value(parser, "--kernel", "linear", text, choices=("linear", "polynomial", "exponential"))
    add_value(parser, "--degree", 2, "degree of the polynomial kernel")
    add_value(parser, "--order", 4, "order q of the tensor, even; 2 is ridge regression")
    add_value(parser, "--resamples", 20, "number of resamples, each with a fit")
    add_value(parser, "--threshold", 0.8, "share of the resamples in which a channel must count")
    add_value(parser, "--seed", 0, "seed of resamples and decoys", within="[0, inf)")
    options.add_output_options(parser, "the ranking", report=False)
    options.add_reading_options(parser)


def run(args: argparse.Namespace) -> None:
    from threadpoolctl import threadpool_limits

    from icub_learning.evaluation.channels import align, channels
    from icub_learning.kernel_methods.tensor.channel_selection import rank_channels

    found = channels(options.read_recording(args), args.recording, args.stamp_source)
    empty = [name for name, channel in found.items() if not len(channel.stamps)]
    known = {name: channel for name, channel in found.items() if name not in empty}
    values, output, names = align(known, args.output, args.inputs)
    settings = {name: getattr(args, name) for name in ("kernel", "degree", "order", "threshold", "seed")}
    progress = options.progress_bar("resamples", "fit", delay=0.0)
    with threadpool_limits(limits=1, user_api="blas"):
        ranking = rank_channels(values, output, names, n_resamples=args.resamples, progress=progress, **settings)
    columns = (ranking.names, ranking.importance, ranking.spread, ranking.frequency, ranking.matters)
    rows = [
        [name, number(importance), number(spread), f"{frequency:.0%}", "yes" if matters else "no"]
        for name, importance, spread, frequency, matters in zip(*columns, strict=True)
    ]
    print(f"{args.recording.name}: {args.output}, {len(output)} samples, {len(names)} channels")
    print(table(["channel", "importance", "± resamples", "counts in", "matters"], rows))
    if empty:
        print(f"without a finite number, not considered: {', '.join(empty)}")
    print(f"\n{_answer(args.output, ranking)}")
    save_figures(args.json, {"recording": str(args.recording), "output": args.output, **vars(ranking)})
    if args.plot is not None:
        _draw(args.plot, args.output, ranking)


def _answer(output: str, ranking: Any) -> str:
    n, chosen = len(ranking.names), ranking.chosen
    held_out = "of its variance in stretches of time held out"
    if not chosen:
        text = f"None of the {n} channels stands out from channels shifted in time, which cannot tell anything about"
        text += f" {output}, in enough of the {ranking.n_resamples} resamples."
        return f"{text} Together they explain {_percent(ranking.explained)} {held_out}."
    listed = " and ".join(filter(None, (", ".join(chosen[:-1]), chosen[-1])))
    matter, they_explain = ("matters", "it explains") if len(chosen) == 1 else ("matter", "they explain")
    text = f"Of {n} channels {len(chosen)} {matter} for {output}: {listed}. Alone {they_explain}"
    text += f" {_percent(ranking.explained_by_chosen)} {held_out},"
    return f"{text} all {n} together {_percent(ranking.explained)}."


def _percent(share: float) -> str:
    return "nothing" if share <= 0.005 else f"{share:.0%}"


def _draw(path: Path, output: str, ranking: Any) -> None:
    from icub_learning.reporting.plots import GREEN, INK, PALE, new_figure, save, style

    n = min(len(ranking.names), MOST_CHANNELS)
    figure = new_figure(10, 1.2 + 0.24 * n)
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(1.6, 1))
    rows, colours = range(n), [GREEN if matters else PALE for matters in ranking.matters[:n]]
    left.barh(rows, ranking.importance[:n], xerr=ranking.spread[:n], color=colours, ecolor=INK, capsize=2)
    left.set_yticks(rows, ranking.names[:n])
    left.invert_yaxis()
    left.set_xlim(left=0)
    style(left, "importance", xlabel="share of all weights, ± over resamples")
    right.barh(rows, ranking.frequency[:n], color=colours)
    right.set_xlim(0, 1)
    style(right, "stands out from the decoys", xlabel="share of the resamples")
    kept = f"{n} of {len(ranking.names)} channels" if n < len(ranking.names) else f"{n} channels"
    save(figure, path, f"{output}: {kept}, those that matter in green")
