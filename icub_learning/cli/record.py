"""`icub-learning record`: record joint states and wrenches from topics."""

import argparse
import math
import sys
import tempfile
import time
from pathlib import Path

from icub_learning.cli.common.options import RECORDING_OUTPUT, add_topic_options, named_path, show_status
from icub_learning.reporting.tables import number_in

DESCRIPTION = "Record joint states and wrenches until the duration is over, or until Ctrl-C."
EXAMPLE = """\
example:
  icub-learning record arm.mcap --duration 60 --joint-states /joint_states --wrench /right_arm/wrench

Ctrl-C ends the recording and keeps it."""

PATIENCE = 5.0  # [s] time without a joint state after which a warning is printed


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("output", metavar="OUTPUT", type=named_path, help=RECORDING_OUTPUT)
    text = "from the first message; default: until Ctrl-C"
    parser.add_argument("--duration", metavar="SECONDS", type=number_in(float, "(0, inf)"), default=math.inf, help=text)
    add_topic_options(parser)
    parser.add_argument("--no-wrench", action="store_true", help="record joint states alone")


def run(args: argparse.Namespace) -> int:
    """Record and write; return 1 if the recording had to be written elsewhere, else 0."""
    from icub_learning.clients.robot_listener import RobotListener
    from icub_learning.clients.topics import ros_node
    from icub_learning.errors import RecordingError
    from icub_learning.recording import write
    from icub_learning.recording.files import check_free

    several_layouts = args.output.with_suffix(f"{args.output.suffix}.mcap")  # where these go if the format has one only
    for path in (args.output, several_layouts):
        check_free(path)
    with ros_node("icub_learning_record") as (node, wait, stopped):
        listener = RobotListener(node, args.joint_states, None if args.no_wrench else args.wrench, None)
        collector, passed = listener.collector, listener.passed

        def counts() -> str:
            return f"{collector.n_joint_states} joint states, {collector.n_wrenches} wrenches"

        started, warned = time.monotonic(), False
        while not stopped() and passed() < args.duration:
            wait(stopped, min(args.duration - passed(), 0.5))
            show_status(f"{passed():6.1f} s: {counts()}")
            if not listener.began and not warned and time.monotonic() - started > PATIENCE:
                warned, topic = True, node.resolve_topic_name(args.joint_states)
                print(f"no joint state on {topic} yet; Ctrl-C ends", file=sys.stderr)
        if not collector.n_joint_states:
            raise RecordingError(f"no joint state came; {args.output} is not written", name=str(args.output))
        show_status(f"{passed():6.1f} s: {counts()}", end="\n")
        # Still inside `ros_node`, which catches signals: a second Ctrl-C while the file is written must lose nothing.
        recording = collector.recording(with_wrench=not args.no_wrench)
        if recording.irregular and args.output.suffix in (".csv", ".npz"):
            print(f"{len(recording.irregular)} messages have another layout: only rosbag2 holds these", file=sys.stderr)
            args.output = several_layouts
        asked = args.output
        try:
            write(recording, asked)
        except RecordingError as error:  # the disk is full, or the name was taken meanwhile
            args.output = Path(tempfile.mkdtemp(prefix="icub_learning_"), asked.name)
            print(f"{error}; it is written elsewhere", file=sys.stderr)
            write(recording, args.output)
    print(f"{args.output}: {counts()}")
    return int(args.output != asked)
