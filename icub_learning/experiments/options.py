"""Command-line options that experiments share, and their progress bars."""

import argparse
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from tqdm import tqdm

from icub_learning.arrays import integer
from icub_learning.errors import ParameterError
from icub_learning.reporting.tables import add_json_option, add_value

Item = TypeVar("Item")
Arguments = argparse.Namespace  # the options that were given to an experiment


def options(
    seed: str = "", *, on: Iterable[str] = (), chosen: Iterable[str] | None = None, data: str = "",
    quick: bool = False, draws: int | Mapping[str, Any] | None = None, picture: bool = True,
    **more: tuple[Any, ...] | Mapping[str, Any],
) -> Callable[[argparse.ArgumentParser], None]:  # fmt: skip
    """Return the `add_options` of an experiment, which adds --json and the options that the arguments describe.

    `seed` names what --seed draws, `on` are the data sets that --on chooses from, by default those that are `chosen`,
    `data` is the help text of --data, `draws` is the default number of repetitions, `picture` adds --out. `more` are
    default, description and metavar of further options, by name; they and `draws` may be keywords of `add_argument`.
    """

    def add_options(parser: argparse.ArgumentParser) -> None:
        add = parser.add_argument
        for name, arguments in more.items():
            option = f"--{name.replace('_', '-')}"
            add_value(parser, option, *arguments) if isinstance(arguments, tuple) else add(option, **arguments)
        if on:
            some = list(on if chosen is None else chosen)
            text = f"data sets (default: {'all' if chosen is None else ' '.join(some)})"
            add("--on", nargs="+", choices=tuple(on), default=some, help=text)
        if data:
            add("--data", type=Path, metavar="PATH", help=data)
        if isinstance(draws, int):
            add_value(parser, "--draws", draws, "repetitions")
        elif draws is not None:
            add("--draws", type=int, **draws)
        if quick:
            add("--quick", action="store_true", help="a small version")
        if seed:
            add_value(parser, "--seed", 0, f"seed of {seed}")
        if picture:
            add_value(parser, "--out", Path("out"), "for the picture", "FOLDER")
        add_json_option(parser)

    return add_options


def checked_seed(args: Arguments) -> int:
    """Return the seed. Raises ParameterError if it is negative."""
    return integer("--seed", args.seed, 0)


def checked_seeds(args: Arguments) -> list[int]:
    """Return the seeds of an option --seeds. Raises ParameterError if one is negative."""
    return [integer("--seeds", seed, 0) for seed in args.seeds]


def seeds(args: Arguments) -> range:
    """Return a seed for each of the draws. Raises ParameterError if the first is negative or there is no draw."""
    return range(checked_seed(args), args.seed + integer("--draws", args.draws, 1))


def one_set(args: Arguments) -> list[str]:
    """Return the data sets of --on. Raises ParameterError if --data is given for several."""
    names = list(dict.fromkeys(args.on))
    if args.data is not None and len(names) != 1:
        raise ParameterError("--data", str(args.data), "given for one data set; name it with --on")
    return names


def progress(items: Iterable[Item], what: str) -> Iterable[Item]:
    """Return the items wrapped in a progress bar, which only a terminal shows, and only until they are done."""
    return tqdm(items, what, disable=None, leave=False)
