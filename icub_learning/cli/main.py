"""The command `icub-learning`: finds the sub-command, runs it, and turns errors into one line."""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from icub_learning import __version__
from icub_learning.errors import IcubLearningError

# Modules of this package, each with add_parser(subparsers) and run(args). Importing one must be cheap: numerics, ROS
# and plots are imported by `run`, so that --help answers at once.
COMMANDS = ("demo", "launch", "simulate", "record", "replay", "evaluate")

FAILED = 1
BAD_INPUT = 2
INTERRUPTED = 130


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, and where help is."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{self.prog}: {message} (see {self.prog} --help)\n")


def make_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    parser = _Parser(
        prog="icub-learning",
        description="Lifelong robot learning at a fixed cost per sample: inverse dynamics learned while moving.",
        epilog="icub-learning COMMAND --help explains a command and shows an example.",
    )
    parser.add_argument("--version", action="version", version=f"icub_learning {__version__}")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, dest="command")
    for name in COMMANDS:
        importlib.import_module(f"icub_learning.cli.{name}").add_parser(subparsers)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: arguments without the program's name; None: those of the process.

    Returns:
        Exit code: 0; 2 for bad input, which one line on standard error names; 130 after Ctrl-C; else the command's.
    """
    try:
        args = make_parser().parse_args(argv)
    except SystemExit as leave:  # --help, --version, bad usage
        return int(leave.code or 0)
    try:
        return int(args.run(args))
    except IcubLearningError as error:
        print(f"icub-learning {args.command}: {' '.join(str(error).split())}", file=sys.stderr)
        return BAD_INPUT
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] not in ("rclpy", "icub_learning_msgs", "sensor_msgs"):
            raise
        print(f"icub-learning {args.command}: needs ROS 2 ({error}); source a ROS 2 setup file", file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:  # the reader of our output has left, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except KeyboardInterrupt:
        print(f"icub-learning {args.command}: interrupted", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
