"""Tables for people, and the same figures as JSON."""

import argparse
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal

from icub_learning.errors import ParameterError
from icub_learning.files import replacing


def add_value(parser: Any, name: str, default: Any, text: str, metavar: str | None = None, **more: Any) -> None:
    """Add an option to a parser or a group of it, of the type of its default (of its entries), which its help shows."""
    entries = list(default) if isinstance(default, (list, tuple)) else [default]
    shown = " ".join(f"{one:g}" if isinstance(one, float) else str(one) for one in entries)
    text = f"{text} (default: {shown})" if text else f"default: {shown}"
    parser.add_argument(name, type=type(entries[0]), default=default, metavar=metavar, help=text, **more)


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """Add --json FILE."""
    parser.add_argument("--json", metavar="FILE", type=Path, help="write every figure that is printed to FILE, as JSON")


@contextmanager
def replacing_for(option: str, path: Path, mode: Literal["w", "wb"] = "w") -> Iterator[IO[Any]]:
    """`replacing` for a file that the user named by `option`. Raises ParameterError: it cannot be written."""
    try:
        with replacing(path, mode) as file:
            yield file
    except OSError as error:
        raise ParameterError(option, str(path), f"a file that can be written ({error.strerror})") from error


def write_json(path: Path, figures: Mapping[str, Any]) -> None:
    """Write figures as JSON; arrays become lists, NaN and infinity null. The file appears complete or not at all.
    Raises ParameterError: the file cannot be written.
    """
    text = json.dumps(plain(figures), indent=2, allow_nan=False) + "\n"
    with replacing_for("--json", path) as file:
        file.write(text)


def save_figures(path: Path | None, figures: Mapping[str, Any]) -> None:
    """Write figures as JSON and print where they are, if a path was given; see `write_json`."""
    if path is not None:
        write_json(path, figures)
        print(f"figures: {path}")


def plain(value: Any) -> Any:
    """Return the value made of dict, list, str, int, bool, finite float and None alone."""
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if hasattr(value, "tolist"):  # of NumPy
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (str, int, float)) else str(value)


def number(value: float | None, digits: int = 3) -> str:
    """Format a number with so many significant digits, without exponent where possible; "-" for None, NaN, infinity."""
    if value is None or not math.isfinite(value):
        return "-"
    if value == 0:
        return "0"
    magnitude = math.floor(math.log10(abs(value)))
    if not -4 <= magnitude < 7:
        return f"{value:.{digits - 1}e}"
    return f"{value:.{max(0, digits - 1 - magnitude)}f}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], over: Sequence[tuple[str, int]] = ()) -> str:
    """Align columns of text: the first to the left, the others to the right, with a rule below the head.

    `over` are titles above several columns each, as (text, number of columns), from the second column on.
    """
    lines = [list(head), *(list(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    place = 1
    for text, span in over:  # widen the last column of a group whose title needs more room
        room = sum(widths[place : place + span]) + 2 * (span - 1)
        widths[place + span - 1] += max(0, len(text) - room)
        place += span

    def join(cells: Sequence[str]) -> str:
        first, *others = [
            cell.rjust(width) if i else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return "  ".join([first, *others]).rstrip()

    out = []
    if over:
        line, place = " " * widths[0], 1
        for text, span in over:
            line += "  " + text.center(sum(widths[place : place + span]) + 2 * (span - 1), "─" if text else " ")
            place += span
        out.append(line.rstrip())
    out += [join(lines[0]), "─" * (sum(widths) + 2 * (len(widths) - 1))]
    return "\n".join(out + [join(line) for line in lines[1:]])
