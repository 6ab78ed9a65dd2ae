"""The command `icub-learning`: finds the sub-command, runs it, and turns errors into one line."""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from icub_learning import __version__
from icub_learning.errors import IcubLearningError

# Modules of this package, each with add_parser(subparsers) and run(args), and what --help says of them. Only the module
# of the command that is run is imported, and numerics, ROS and plots by its `run`: --help answers at once.
COMMANDS = {
    "demo": "a simulated iCub learns its inverse dynamics, then objects, live",
    "teach": "show the robot objects and say what they are",
    "launch": "start a simulation, a robot's or a recording's nodes together",
    "simulate": "record the simulated iCub's arm or eye, faster than real time",
    "record": "record joint states and wrenches from topics",
    "replay": "publish a recording's joint states and wrenches",
    "latency": "how fast and how regularly a running node answers, seen from outside",
    "evaluate": "predict, then learn, over a recording; print the errors of P, NP and SP",
    "tune": "choose a learner's settings from a recording, or from pictures of objects",
    "select-channels": "which of many input channels matter for one output of a recording",
    "reproduce": "tables and figures of the sources, beside the published ones",
}

FAILED = 1
BAD_INPUT = 2
INTERRUPTED = 130


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, and where help is."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{self.prog}: {message} (see {self.prog} --help)\n")


def make_parser(command: str | None) -> argparse.ArgumentParser:
    """The parser of the command line, with all options of one command, or of none."""
    parser = _Parser(
        prog="icub-learning",
        description="Lifelong robot learning at a fixed cost per sample: inverse dynamics learned while moving.",
        epilog="icub-learning COMMAND --help explains a command and shows an example.",
    )
    parser.add_argument("--version", action="version", version=f"icub_learning {__version__}")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, dest="command")
    for name, summary in COMMANDS.items():
        if name == command:
            importlib.import_module(f"icub_learning.cli.{name.replace('-', '_')}").add_parser(subparsers)
        else:
            subparsers.add_parser(name, help=summary)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: arguments without the program's name; None: those of the process.

    Returns:
        Exit code: 0; 2 for bad input, which one line on standard error names; 130 after Ctrl-C; else the command's.
    """
    arguments = sys.argv[1:] if argv is None else list(argv)
    try:
        args = make_parser(arguments[0] if arguments else None).parse_args(arguments)
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
