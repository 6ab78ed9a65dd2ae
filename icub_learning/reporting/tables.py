"""Tables of text, and the same figures as JSON."""

import argparse
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal

from icub_learning.errors import ParameterError
from icub_learning.files import replacing


def add_value(
    parser: Any, name: str, default: Any, text: str, metavar: str | None = None, within: str = "", **more: Any
) -> None:
    """Add an option of the type of its default (or its entries), which its help shows; `within`: see `number_in`."""
    entries = list(default) if isinstance(default, (list, tuple)) else [default]
    shown = " ".join(f"{one:g}" if isinstance(one, float) else str(one) for one in entries)
    text = f"{text} (default: {shown})" if text else f"default: {shown}"
    kind = number_in(type(entries[0]), within) if within else type(entries[0])
    parser.add_argument(name, type=kind, default=default, metavar=metavar, help=text, **more)


def number_in(kind: type, interval: str) -> Callable[[str], Any]:
    """Return the type of an option whose values are numbers in an interval, such as "(0, 1]" or "[1, inf)"."""
    low, high = map(float, interval[1:-1].split(","))

    def convert(text: str) -> Any:
        try:
            value = kind(text)
        except ValueError:
            value = math.nan
        above = value > low if interval[0] == "(" else value >= low
        if above and (value < high if interval[-1] == ")" else value <= high):
            return value
        raise argparse.ArgumentTypeError(f"{text!r} is not {'an integer' if kind is int else 'a number'} in {interval}")

    return convert


def add_json_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", metavar="FILE", type=Path, help="write every figure that is printed to FILE, as JSON")


@contextmanager
def replacing_for(option: str, path: Path, mode: Literal["w", "wb"] = "w") -> Iterator[IO[Any]]:
    """Open, by `replacing`, a file that the user named by `option`. Raises ParameterError: it cannot be written."""
    with written_for(option, path), replacing(path, mode) as file:
        yield file


@contextmanager
def written_for(option: str, path: Path, what: str = "file") -> Iterator[None]:
    """Raise ParameterError in place of OSError: `path`, which the user named by `option`, cannot be written."""
    try:
        yield
    except OSError as error:
        raise ParameterError(option, str(path), f"a {what} that can be written ({error.strerror})") from error


def write_json(path: Path, figures: Mapping[str, Any], option: str = "--json") -> None:
    """Write figures as JSON; arrays become lists, NaN and infinity null. Raises ParameterError, naming `option`."""
    text = json.dumps(plain(figures), indent=2, allow_nan=False) + "\n"
    with replacing_for(option, path) as file:
        file.write(text)


def save_figures(path: Path | None, figures: Mapping[str, Any]) -> None:
    """Write figures as JSON and print where they are, if a path was given; see `write_json`."""
    if path is not None:
        write_json(path, figures)
        print(f"figures: {path}")


def plain(value: Any) -> Any:
    """Return the value as dict, list, str, int, bool, finite float and None only."""
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if hasattr(value, "tolist"):  # a NumPy array or number
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (str, int, float)) else str(value)


def number(value: float | None, digits: int = 3) -> str:
    """Format a number with `digits` significant digits, without exponent if possible; "-" for None, NaN, infinity."""
    if value is None or not math.isfinite(value):
        return "-"
    if value == 0:
        return "0"
    magnitude = math.floor(math.log10(abs(value)))
    return f"{value:.{max(0, digits - 1 - magnitude)}f}" if -4 <= magnitude < 7 else f"{value:.{digits - 1}e}"


def of_draws(text: str, draws: int) -> str:
    """Return "MEAN ± DEVIATION" as it is, or only the mean if it is that of one draw."""
    return text if draws > 1 else text.partition("±")[0].rstrip()


def table(head: Sequence[str], rows: Iterable[Sequence[str]], over: Sequence[tuple[str, int]] = ()) -> str:
    """Align columns of text: the first to the left, the others to the right, with a rule below the head.

    `over` are titles above several columns each, as (text, number of columns), from the second column on.
    """
    lines = [list(head), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    titles, place = " " * widths[0], 1
    for text, span in over:
        room = sum(widths[place : place + span]) + 2 * (span - 1)
        widths[place + span - 1] += max(0, len(text) - room)  # the last column of a group whose title needs more room
        titles += "  " + text.center(max(room, len(text)), "─" if text else " ")
        place += span
    first, *others = widths
    shown = ["  ".join([line[0].ljust(first), *map(str.rjust, line[1:], others)]).rstrip() for line in lines]
    rule = "─" * (sum(widths) + 2 * len(others))
    return "\n".join([*([titles.rstrip()] if over else []), shown[0], rule, *shown[1:]])
