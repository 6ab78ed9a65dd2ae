"""What tuning returns, and what is done with it."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from icub_learning.cli.report import Block, scratch_picture, write_report
from icub_learning.cli.tune.progress import Progress
from icub_learning.reporting.tables import save_figures


@dataclass(frozen=True)
class Result:
    """The outcome of tuning."""

    figures: dict[str, Any]  # everything that is printed; "verdict" compares the choice with the shipped defaults
    text: str  # the tables
    # writes the node's parameters to a path, below the lines of a comment
    write_parameters: Callable[[Path, Sequence[str]], None]
    draw: Callable[[Path], None]  # draws the picture into a path
    progress: Progress  # the intermediate results, no longer needed

    def output(self, args: argparse.Namespace) -> None:
        """Print the tables, write the files that were asked for, and remove the intermediate results."""
        print(self.text)
        comment = f"Chosen by icub-learning tune from {args.pictures.name}: {self.figures['verdict']}"
        self.write_parameters(args.parameters, [comment])
        print(f"parameters: {args.parameters}")
        if args.plot is not None:
            self.draw(args.plot)
        if args.report is not None:
            with scratch_picture(args.plot) as picture:
                if not picture.is_file():
                    self.draw(picture)
                title = f"Settings chosen from {args.pictures.name}"
                write_report(args.report, title, [Block("Errors over the grid, and the check", self.text, [picture])])
        save_figures(args.json, self.figures)
        self.progress.done()
