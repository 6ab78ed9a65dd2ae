"""`icub-learning replay`: a recording on topics, at the pace at which it was made."""

import argparse
import sys
import time
from pathlib import Path
from typing import Any

DESCRIPTION = "Publish the joint states and wrenches of a recording at the times at which they were recorded."
EXAMPLE = """\
example:
  icub-learning replay ur10_exciting_trajectory.db3 --rate 2 --loop

Bad messages in the recording are published as they are. Each turn of --loop continues the stamps of the one before."""

SECOND_TOPIC = 0.5  # [s] more to wait for a subscriber of the wrenches, once the joint states have one
SETTLING = 0.5  # [s]: a subscriber that is known here may not know yet whom it hears, and misses what is sent to it


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("recording", metavar="RECORDING", type=Path, help="rosbag2 folder, .db3, .mcap, .csv or .npz")
    parser.add_argument("--rate", metavar="FACTOR", type=float, default=1.0, help="times as fast (default: 1)")
    parser.add_argument("--loop", action="store_true", help="start again at the end, until Ctrl-C")
    parser.add_argument("--clock", action="store_true", help="publish the stamps of the joint states on /clock")
    parser.add_argument(
        "--wait", metavar="SECONDS", type=float, default=10.0, help="for a first subscriber, at most (default: 10)"
    )
    parser.add_argument(
        "--joint-states", metavar="TOPIC", default="joint_states", help="to publish (default: joint_states)"
    )
    parser.add_argument("--wrench", metavar="TOPIC", default="wrench", help="to publish (default: wrench)")
    parser.add_argument("--joint-state-topic", metavar="TOPIC", help="in the recording, where it has several")
    parser.add_argument("--wrench-topic", metavar="TOPIC", help="in the recording, where it has several")


def run(args: argparse.Namespace) -> int:
    """Publish."""
    from geometry_msgs.msg import WrenchStamped
    from rclpy.qos import QoSProfile
    from rosgraph_msgs.msg import Clock
    from sensor_msgs.msg import JointState

    from icub_learning.arrays import real
    from icub_learning.clients.topics import joint_state_message, ros_node, wrench_message
    from icub_learning.errors import RecordingError
    from icub_learning.nodes.common.conversions import set_stamp
    from icub_learning.recording import WrenchEvent, read

    rate = real("--rate", args.rate, 0.0, low_open=True)
    wait = real("--wait", args.wait, 0.0)
    recording = read(args.recording, args.joint_state_topic, args.wrench_topic, progress=sys.stderr.isatty())
    first = next(recording.events(), None)
    if first is None:
        raise RecordingError(f"{args.recording} holds no message", name=str(args.recording))
    # From one turn to the next, time goes on by the length of the recording and one sample.
    turn = round(recording.duration * 1e9 * (1 + 1 / max(1, recording.n_joint_states - 1)))
    published = 0

    with ros_node("icub_learning_replay") as (node, spin, stopped):
        joint_states = node.create_publisher(JointState, args.joint_states, QoSProfile(depth=100))
        wrenches = node.create_publisher(WrenchStamped, args.wrench, QoSProfile(depth=100))
        clock = node.create_publisher(Clock, "/clock", QoSProfile(depth=1)) if args.clock else None
        limit, has_wrenches, found = time.monotonic() + wait, recording.wrench is not None, False
        while time.monotonic() < limit and not stopped():
            if joint_states.get_subscription_count():
                if not has_wrenches or wrenches.get_subscription_count():
                    break
                if not found:
                    # Who wants wrenches too is discovered a little later; who does not is not waited for.
                    found, limit = True, min(limit, time.monotonic() + SECOND_TOPIC)
            spin(0.02)
        if joint_states.get_subscription_count():
            spin(SETTLING)

        start, offset = time.monotonic(), 0  # ns of the turns before
        while not stopped():
            for event in recording.events():
                due = start + (event.arrival - first.arrival + offset) * 1e-9 / rate
                spin(due - time.monotonic())
                if stopped():
                    break
                # Stamps of zero and below mean "none": they stay what they are in every turn.
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
            if not args.loop:
                break
            offset += turn
        if not stopped():
            spin(0.2)  # let the last messages leave
    print(f"{published} messages published")
    return 0
