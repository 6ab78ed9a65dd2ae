"""The command `icub-learning`: finds the sub-command, runs it, and turns errors into one line."""

import os
import sys
from collections.abc import Sequence

from icub_learning import __version__
from icub_learning.cli.parser import BAD_INPUT, CommandParser
from icub_learning.errors import IcubLearningError

# Name of a command: its module in this package (see CommandParser), and what --help says of it. Modules import
# numerics, ROS and plots in `run` only, so that the help of a command appears at once.
COMMANDS = {
    "demo": ("demo.command", "a simulated iCub learns its inverse dynamics, then objects, live"),
    "view": ("view", "running nodes, or a recording, as a page in a browser: see, teach, save"),
    "teach": ("teach.command", "show the robot objects and say what they are"),
    "check": ("check.command", "what is right and wrong with a robot's messages, and parameters to start with"),
    "launch": ("launch", "start a simulation, a robot's or a recording's nodes together"),
    "simulate": ("simulate", "record the simulated iCub's arm or eye, faster than real time"),
    "record": ("record", "record joint states and wrenches from topics"),
    "replay": ("replay", "publish a recording's joint states and wrenches"),
    "latency": ("latency", "how fast and how regularly a running node answers, seen from outside"),
    "evaluate": ("evaluate.command", "predict, then learn, over a recording; print the errors of P, NP and SP"),
    "export-urdf": ("export_urdf", "write a robot's URDF with learned inertial parameters"),
    "tune": ("tune.command", "choose a classifier's settings from pictures of objects"),
    "select-channels": ("select_channels.command", "which input channels matter for one output of a recording"),
    "model": ("model.command", "what model files hold, how two differ, pooling two, and whether they are whole"),
    "fleet": ("fleet", "pool what many robots have learned, each sample once, and hand it back"),
    "reproduce": ("reproduce", "tables and figures of the sources, beside the published ones"),
}

FAILED = 1  # exit code
INTERRUPTED = 130  # exit code of a shell for a program that Ctrl-C ended


def make_parser() -> CommandParser:
    """Return the parser of the whole command line."""
    parser = CommandParser(
        prog="icub-learning",
        description="Lifelong robot learning at a fixed cost per sample: inverse dynamics learned while moving.",
        epilog="icub-learning COMMAND --help explains a command and shows an example.",
    )
    parser.add_argument("--version", action="version", version=f"icub_learning {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, dest="command")
    for name, (module, summary) in COMMANDS.items():
        commands.add_parser(name, help=summary, module=f"icub_learning.cli.{module}")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: arguments without the program's name; None: those of the process.

    Returns:
        Exit code: what the command returns, 0 for None; 2 for bad input, which one line on standard error names; 130
        after Ctrl-C.
    """
    try:
        args = make_parser().parse_args(sys.argv[1:] if argv is None else list(argv))
    except SystemExit as leave:  # --help, --version, bad usage
        return int(leave.code or 0)
    try:
        return int(args.run(args) or 0)
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
