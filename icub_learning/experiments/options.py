"""Command-line options that experiments share."""

import argparse
from pathlib import Path

from icub_learning.arrays import integer
from icub_learning.reporting.tables import add_json_option


def add_common_options(
    parser: argparse.ArgumentParser, seed: str, *, picture: bool = True, quick: bool = False, draws: int | None = None
) -> None:
    """Add --seed, --json and what else is asked for.

    Args:
        seed: what the seed is of, for its description.
        picture: add --out, the folder of the picture.
        quick: add --quick.
        draws: default of --draws, the number of repetitions with other random numbers; None: do not add it.
    """
    if draws is not None:
        parser.add_argument("--draws", type=int, default=draws, help=f"repetitions (default: {draws})")
    if quick:
        parser.add_argument("--quick", action="store_true", help="a small version that takes seconds")
    parser.add_argument("--seed", type=int, default=0, help=f"seed of {seed} (default: 0)")
    if picture:
        parser.add_argument(
            "--out", type=Path, default=Path("out"), metavar="FOLDER", help="for the picture (default: out)"
        )
    add_json_option(parser)


def add_data_option(parser: argparse.ArgumentParser, text: str) -> None:
    """Add --data, with `text` as its description."""
    parser.add_argument("--data", type=Path, metavar="PATH", help=text)


def checked_seed(args: argparse.Namespace) -> int:
    """Return the seed. Raises ParameterError if it is negative."""
    return integer("--seed", args.seed, 0)


def seeds(args: argparse.Namespace) -> range:
    """Return a seed for each of the draws. Raises ParameterError if the first is negative or there is no draw."""
    return range(checked_seed(args), args.seed + integer("--draws", args.draws, 1))
