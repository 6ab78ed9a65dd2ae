"""`icub-learning replay`: publish a recording's joint states and wrenches."""

import argparse
import sys
import time
from itertools import count

from icub_learning.cli.common import options
from icub_learning.reporting.tables import add_value

DESCRIPTION = "Publish the joint states and wrenches of a recording at the times at which they were recorded."
EXAMPLE = """\
example:
  icub-learning replay ur10_exciting_trajectory.db3 --rate 2 --loop

Bad messages in the recording are published as they are. Each turn of --loop continues the stamps of the one before."""

LONG_WAIT = 10.0  # [s] wait for the next message from which it is announced


def add_options(parser: argparse.ArgumentParser) -> None:
    options.add_recording_argument(parser)
    add_value(parser, "--rate", 1.0, "times as fast", "FACTOR", "(0, inf)")
    parser.add_argument("--loop", action="store_true", help="start again at the end, until Ctrl-C")
    parser.add_argument("--clock", action="store_true", help="publish the stamps of the joint states on /clock")
    add_value(parser, "--wait", 10.0, "longest wait for a subscriber", "SECONDS", "[0, inf)")
    options.add_topic_options(parser)
    options.add_reading_options(parser, stamp_source=False)


def run(args: argparse.Namespace) -> None:
    from geometry_msgs.msg import WrenchStamped
    from rosgraph_msgs.msg import Clock
    from sensor_msgs.msg import JointState

    from icub_learning.clients.topics import joint_state_message, ros_node, wrench_message
    from icub_learning.errors import RecordingError
    from icub_learning.nodes.common.conversions import set_stamp
    from icub_learning.nodes.common.qos import DEEP, DISCOVERY_TIME, STREAM
    from icub_learning.recording import WrenchEvent

    recording = options.read_recording(args)
    if (first := next(recording.events(), None)) is None:
        raise RecordingError(f"{args.recording} holds no message", name=str(args.recording))
    # Time from one turn to the next [ns]: the length of the recording and one period of its samples; a second for one.
    turn = round(recording.duration * 1e9 * (1 + 1 / max(1, recording.n_joint_states - 1))) or 1_000_000_000
    published = 0

    with ros_node("icub_learning_replay") as (node, wait, stopped):
        joint_states = node.create_publisher(JointState, args.joint_states, DEEP)
        wrenches = node.create_publisher(WrenchStamped, args.wrench, DEEP)
        clock = node.create_publisher(Clock, "/clock", STREAM) if args.clock else None
        if wait(joint_states.get_subscription_count, args.wait):
            wait(stopped, 2 * DISCOVERY_TIME)  # a subscriber of the wrenches, if any, is discovered a little later

        start, turns = time.monotonic(), count() if args.loop else range(1)
        for offset, event in ((number * turn, event) for number in turns for event in recording.events()):
            ahead = start + (event.arrival - first.arrival + offset) * 1e-9 / args.rate - time.monotonic()
            if ahead > LONG_WAIT:
                print(f"the next message comes in {ahead:.3g} s; Ctrl-C ends", file=sys.stderr)
            wait(stopped, ahead)
            if stopped():
                break
            # Stamps of zero and below mean "none": they stay as they are in every turn.
            stamp = event.stamp + offset if event.stamp > 0 else event.stamp
            if isinstance(event, WrenchEvent):
                wrenches.publish(wrench_message(event, stamp, recording.wrench_frame))
            else:
                if clock is not None and stamp > 0:
                    now = Clock()
                    set_stamp(now.clock, stamp)
                    clock.publish(now)
                joint_states.publish(joint_state_message(event, stamp))
            published += 1
        wait(stopped, 0.2)  # let the last messages leave
    print(f"{published} messages published")
