"""Stands in for ros_gz_bridge's parameter_bridge where that is not installed: the same arguments, by `gzpipe`.

`gzpipe bridge WORLD PREFIX` prints messages of Gazebo as lines of text and reads trajectories; see `stand_in`, which
makes a folder for AMENT_PREFIX_PATH in which launchers find this program as they find ros_gz_bridge.
"""

import struct
import subprocess
import sys
import threading
from pathlib import Path

STAMP = struct.Struct("<iI")


def stand_in(folder: Path) -> str:
    """Make lib/ros_gz_bridge/parameter_bridge below `folder`; return the folder, for AMENT_PREFIX_PATH."""
    program = folder / "lib" / "ros_gz_bridge" / "parameter_bridge"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{__file__}" "$@"\n')
    program.chmod(0o755)
    return str(folder)


def main() -> int:
    """Join the topics that the file config_file:=... names, until SIGINT."""
    import numpy as np
    import rclpy
    import yaml
    from geometry_msgs.msg import WrenchStamped
    from rclpy.qos import QoSProfile
    from rclpy.serialization import serialize_message
    from rosgraph_msgs.msg import Clock
    from sensor_msgs.msg import JointState
    from trajectory_msgs.msg import JointTrajectory

    from icub_learning.nodes.common.conversions import doubles, set_wrench
    from icub_learning.nodes.inverse_dynamics.message_template import MessageTemplate

    config = next(text for text in sys.argv if text.startswith("config_file:=")).partition(":=")[2]
    entries = yaml.safe_load(Path(config).read_text())
    topics = {entry["gz_type_name"]: (entry["ros_topic_name"], entry["gz_topic_name"]) for entry in entries}
    world = topics["gz.msgs.Clock"][1].split("/")[2]
    prefix = topics["gz.msgs.Model"][1].rpartition("/")[0]
    rclpy.init()
    node = rclpy.create_node("ros_gz_bridge")
    depths = {entry["gz_type_name"]: entry.get("publisher_queue", 10) for entry in entries}

    def publisher(gz_type: str, kind: type):
        return node.create_publisher(kind, topics[gz_type][0], QoSProfile(depth=depths[gz_type]))

    clock, states = publisher("gz.msgs.Clock", Clock), publisher("gz.msgs.Model", JointState)
    wrenches = publisher("gz.msgs.Wrench", WrenchStamped)
    pipe = subprocess.Popen(
        ["gzpipe", "bridge", world, prefix], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )
    head = bytes(serialize_message(Clock())[:4])
    templates: dict[str, MessageTemplate] = {}

    def fill(message, position, velocity, effort) -> None:
        message.position, message.velocity, message.effort = doubles(position), doubles(velocity), doubles(effort)

    def read() -> None:
        for line in pipe.stdout:
            kind, seconds, nanoseconds, *fields = line.split()
            stamp = int(seconds) * 10**9 + int(nanoseconds)
            if kind == "C":
                clock.publish(head + STAMP.pack(int(seconds), int(nanoseconds)))
                continue
            frame = "" if fields[0] == "-" else fields[0]
            if kind == "J":
                names = fields[2::4]
                if kind not in templates:
                    message = JointState(name=names)
                    message.header.frame_id = frame
                    templates[kind] = MessageTemplate(message, (len(names),) * 3, fill)
                columns = (np.array(fields[k::4], dtype=float) for k in (3, 4, 5))
                states.publish(templates[kind].bytes_of(stamp, *columns))
            else:
                if kind not in templates:
                    message = WrenchStamped()
                    message.header.frame_id = frame
                    templates[kind] = MessageTemplate(message, (6,), lambda one, values: set_wrench(one.wrench, values))
                wrenches.publish(templates[kind].bytes_of(stamp, np.array(fields[1:], dtype=float)))

    def send(message: JointTrajectory) -> None:
        fields = ["T", str(len(message.joint_names)), *message.joint_names, str(len(message.points))]
        for point in message.points:
            time = point.time_from_start
            fields += [str(time.sec), str(time.nanosec), *map(repr, point.positions)]
        pipe.stdin.write(" ".join(fields) + "\n")
        pipe.stdin.flush()

    node.create_subscription(JointTrajectory, topics["gz.msgs.JointTrajectory"][0], send, QoSProfile(depth=10))
    threading.Thread(target=read, daemon=True).start()
    try:
        rclpy.spin(node)
    except (KeyboardInterrupt, rclpy.executors.ExternalShutdownException):
        pass
    finally:
        pipe.terminate()
        pipe.wait()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
