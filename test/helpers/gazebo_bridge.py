"""A stand-in for ros_gz_bridge's parameter_bridge where that is not installed: the same arguments, but on `gzpipe`.
`gzpipe bridge WORLD PREFIX` prints messages of Gazebo as lines of text, and reads trajectories. `stand_in` makes a
folder for AMENT_PREFIX_PATH in which launchers find this program as they find ros_gz_bridge."""

import contextlib
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

COMMANDS = "commands"  # first argument of the second process


def stand_in(folder: Path) -> str:
    """Make lib/ros_gz_bridge/parameter_bridge below `folder`, as an installed package; return the folder."""
    program = folder / "lib" / "ros_gz_bridge" / "parameter_bridge"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{__file__}" "$@"\n')
    program.chmod(0o755)
    index = folder / "share" / "ament_index" / "resource_index" / "packages"
    index.mkdir(parents=True)
    (index / "ros_gz_bridge").touch()
    return str(folder)


def entries() -> dict[str, dict[str, Any]]:
    """Return the entries of the bridge's configuration file, by their Gazebo type. The parameter config_file names the
    file: an argument config_file:=..., or an entry of a --params-file."""
    import yaml

    found = [text.partition(":=")[2] for text in sys.argv if text.startswith("config_file:=")]
    for option, path in zip(sys.argv, sys.argv[1:], strict=False):
        if option == "--params-file":
            nodes = yaml.safe_load(Path(path).read_text()).values()
            found += [one["ros__parameters"]["config_file"] for one in nodes if "config_file" in one["ros__parameters"]]
    return {entry["gz_type_name"]: entry for entry in yaml.safe_load(Path(found[0]).read_text())}


def from_gazebo() -> None:
    """Publish what Gazebo sends, until it ends."""
    import rclpy
    from geometry_msgs.msg import WrenchStamped
    from rclpy.qos import QoSProfile
    from rclpy.serialization import serialize_message
    from rosgraph_msgs.msg import Clock
    from sensor_msgs.msg import JointState

    from icub_learning.nodes.common.conversions import doubles, set_wrench
    from icub_learning.nodes.common.threads.scheduling import ask_for_real_time
    from icub_learning.nodes.inverse_dynamics.message_layouts import MessageTemplate

    table = entries()
    ask_for_real_time(10)  # gzpipe inherits it: Gazebo drops messages not taken within half a second
    node = rclpy.create_node("ros_gz_bridge")

    def publisher(gz_type: str, kind: type) -> Any:
        entry = table[gz_type]
        return node.create_publisher(kind, entry["ros_topic_name"], QoSProfile(depth=entry.get("publisher_queue", 10)))

    clock, states = publisher("gz.msgs.Clock", Clock), publisher("gz.msgs.Model", JointState)
    wrenches = publisher("gz.msgs.Wrench", WrenchStamped)
    world = table["gz.msgs.Clock"]["gz_topic_name"].split("/")[2]
    prefix, head = table["gz.msgs.Model"]["gz_topic_name"].rpartition("/")[0], bytes(serialize_message(Clock())[:4])
    templates: dict[str, MessageTemplate] = {}

    def fill(message: Any, position: Any, velocity: Any, effort: Any) -> None:
        message.position, message.velocity, message.effort = doubles(position), doubles(velocity), doubles(effort)

    pipe = subprocess.Popen(
        ["gzpipe", "bridge", world, prefix], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )
    try:
        for line in pipe.stdout or ():
            kind, seconds, nanoseconds, *fields = line.split()
            if kind == "C":
                clock.publish(head + struct.pack("<iI", int(seconds), int(nanoseconds)))
                continue
            stamp, frame = int(seconds) * 10**9 + int(nanoseconds), "" if fields[0] == "-" else fields[0]
            if kind == "J":
                if kind not in templates:
                    message, message.header.frame_id = JointState(name=fields[2::4]), frame
                    templates[kind] = MessageTemplate(message, (len(message.name),) * 3, fill)
                columns = [np.array(fields[k::4], dtype=float) for k in (3, 4, 5)]
                states.publish(templates[kind].bytes_of(stamp, *columns))
            else:
                if kind not in templates:
                    message, message.header.frame_id = WrenchStamped(), frame
                    templates[kind] = MessageTemplate(message, (6,), lambda one, values: set_wrench(one.wrench, values))
                wrenches.publish(templates[kind].bytes_of(stamp, np.array(fields[1:], dtype=float)))
    finally:
        pipe.kill()
        pipe.wait()


def to_gazebo() -> None:
    """Send trajectories to Gazebo, in a process of its own: a long trajectory takes Python seconds."""
    import rclpy
    from rclpy.qos import QoSProfile
    from trajectory_msgs.msg import JointTrajectory

    entry, node = entries()["gz.msgs.JointTrajectory"], rclpy.create_node("ros_gz_bridge_commands")
    prefix = entry["gz_topic_name"].rpartition("/")[0]
    pipe = subprocess.Popen(
        ["gzpipe", "bridge", "-", prefix], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )

    def send(message: JointTrajectory) -> None:
        fields = ["T", str(len(message.joint_names)), *message.joint_names, str(len(message.points))]
        for point in message.points:
            time = point.time_from_start
            fields += [str(time.sec), str(time.nanosec), *map(repr, point.positions)]
        assert pipe.stdin is not None
        pipe.stdin.write(" ".join(fields) + "\n")
        pipe.stdin.flush()

    node.create_subscription(JointTrajectory, entry["ros_topic_name"], send, QoSProfile(depth=10))
    try:
        while True:  # a signal does not end rclpy's own waiting
            rclpy.spin_once(node, timeout_sec=0.2)
    finally:
        pipe.kill()
        pipe.wait()


def main() -> int:
    """Bridge the topics of ROS and Gazebo until SIGINT or SIGTERM."""
    import signal

    import rclpy
    from rclpy.signals import SignalHandlerOptions

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    is_second = sys.argv[1:2] == [COMMANDS]
    second = None if is_second else subprocess.Popen([sys.executable, __file__, COMMANDS, *sys.argv[1:]])
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    with contextlib.suppress(KeyboardInterrupt):
        to_gazebo() if is_second else from_gazebo()
    if second is not None:
        second.terminate()
        second.wait()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
