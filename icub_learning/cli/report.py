"""--report FILE: what a command has printed and drawn, as one HTML file to mail."""

import argparse
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory


@dataclass(frozen=True)
class Block:
    """A section: its title, text as it was printed, pictures (PNG files) with units and labels of their own."""

    title: str
    text: str
    pictures: Sequence[Path] = ()


def write_report(path: Path, title: str, blocks: Sequence[Block]) -> None:
    """Write the page and print where it is. Raises ParameterError: the file cannot be written."""
    from icub_learning.experiments.report.machine import describe_machine
    from icub_learning.reporting import page

    command = shlex.join(["icub-learning", *sys.argv[1:]])
    parts = [page.paragraph(f"{command}; {page.written()}", "note"), page.machine_table(describe_machine())]
    for block in blocks:
        parts += [page.section(block.title), *map(page.picture, block.pictures), page.preformatted(block.text)]
    page.write_page(path, page.page(title, parts))
    print(f"report: {path}")


def write_drawn(args: argparse.Namespace, draw: Callable[[Path], None], title: str, heading: str, text: str) -> None:
    """Draw the picture that --plot names, and write --report with it and `text`, where they are asked for."""
    if args.plot is not None:
        draw(args.plot)
    if args.report is not None:
        with TemporaryDirectory() as folder:
            drawn = args.plot is not None and args.plot.suffix == ".png"
            picture = args.plot if drawn else Path(folder, "picture.png")
            if not drawn:
                draw(picture)
            write_report(args.report, title, [Block(heading, text, [picture])])
