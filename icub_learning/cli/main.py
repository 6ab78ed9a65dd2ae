"""The command `icub-learning`: finds the sub-command, runs it, and turns errors into one line."""

import os
import sys
from collections.abc import Sequence

from icub_learning import __version__
from icub_learning.cli.common.parser import BAD_INPUT, CommandParser, declared
from icub_learning.errors import IcubLearningError

COMMANDS = declared("cli", "icub-learning")
FAILED = 1  # exit code where the reader of the output has left
INTERRUPTED = 130  # exit code of a shell for a program that Ctrl-C ended


def make_parser() -> CommandParser:
    parser = CommandParser(
        prog="icub-learning",
        description="Lifelong robot learning at a fixed cost per sample: inverse dynamics learned while moving.",
        epilog="icub-learning COMMAND --help explains a command and shows an example.",
    )
    parser.add_argument("--version", action="version", version=f"icub_learning {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, dest="command")
    for name, (module, summary) in COMMANDS.items():
        commands.add_parser(name, help=summary, module=module)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that the arguments name, by default those of the process, and return the exit code.

    The code is the command's, 0 for None; 2 for bad input, which one line on standard error names; 130 after Ctrl-C.
    """
    try:
        args = make_parser().parse_args(sys.argv[1:] if argv is None else list(argv))
    except SystemExit as leave:  # --help, --version, bad usage
        return int(leave.code or 0)
    from icub_learning.cli.common.options import check_outputs  # so that --version and --help appear at once

    try:
        check_outputs(args)  # before the work, which may take hours
        return int(args.run(args) or 0)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] not in ("rclpy", "icub_learning_msgs", "sensor_msgs"):
            raise
        print(f"icub-learning {args.command}: needs ROS 2 ({error}); source a ROS 2 setup file", file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:  # the reader of our output has left, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except (IcubLearningError, OSError) as error:  # OSError: a file without rights, a name that is too long
        print(f"icub-learning {args.command}: {' '.join(str(error).split())}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print(f"icub-learning {args.command}: interrupted", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
