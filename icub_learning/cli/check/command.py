"""`icub-learning check`: what is right and wrong with a robot's messages, and parameters to start with."""

import argparse
from pathlib import Path
from typing import Any

from icub_learning.cli.common import options
from icub_learning.errors import ParameterError, RecordingError
from icub_learning.reporting.tables import add_json_option, add_value

DESCRIPTION = "Listen to a robot for some seconds, say what is right and wrong, and print parameters to start with."
EXAMPLE = """\
example:
  icub-learning check --urdf icub --joint-states /right_arm/joint_states --wrench /right_arm/wrench
  icub-learning check arm.mcap --urdf arm.urdf --parameters arm.yaml

Let the robot move all joints meanwhile: signs, units and axes cannot be judged at rest. Without --urdf the topic
robot_description is asked, then the names of the joints. The exit code is 1 if anything is wrong."""

PATIENCE = 10.0  # [s] longest wait for the first joint state
SILENT = "; is its driver running, with this ROS_DOMAIN_ID?"


def add_options(parser: argparse.ArgumentParser) -> None:
    options.add_topic_options(parser)
    add_value(parser, "--duration", 10.0, "to listen", "SECONDS", "(0, 3600]")
    options.add_recording_argument(parser, f"judge this, not a running robot: {options.RECORDING}", required=False)
    options.add_reading_options(parser, stamp_source=False)
    options.add_urdf_option(parser)
    parser.add_argument("--sensor", metavar="JOINT", help="fixed joint of the force/torque sensor, if it is not found")
    parser.add_argument("--parameters", metavar="FILE", type=Path, help="write the parameters to start with to FILE")
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Collect, check and report; return 1 if anything is wrong, else 0."""
    from icub_learning.cli.check import report
    from icub_learning.evaluation.robot_check.suite import check_robot
    from icub_learning.reporting.tables import replacing_for, save_figures

    urdf, seen = _recorded(args) if args.recording is not None else _live(args)
    found = check_robot(seen)
    print(report.as_text(found))
    text = report.parameters(found, urdf) if found.settings else ""
    if text and args.parameters is None:
        print(f"\nparameters to start with (icub-learning launch robot config:=FILE):\n\n{text}", end="")
    elif text:
        with replacing_for("--parameters", args.parameters) as file:
            file.write(text)
        print(f"\nparameters to start with: {args.parameters}")
    findings = [{key: getattr(one, key) for key in ("name", "verdict", "text", "remedy")} for one in found.findings]
    save_figures(args.json, {"faults": found.faults, "findings": findings})
    return 1 if found.faults else 0


def _recorded(args: argparse.Namespace) -> tuple[str, Any]:
    beside = args.recording.with_suffix(".urdf")
    urdf = args.urdf or (str(beside) if beside.is_file() else "")
    recording = options.read_recording(args)
    messages = args.recording.suffix not in (".csv", ".npz")  # CSV and NPZ files need not name a frame
    return _observation(args, urdf, recording, wrench_frame=recording.wrench_frame or ("" if messages else None))


def _live(args: argparse.Namespace) -> tuple[str, Any]:
    from icub_learning.clients.robot_listener import RobotListener
    from icub_learning.clients.topics import ros_node

    with ros_node("icub_learning_check") as (node, wait, stopped):
        listener = RobotListener(node, args.joint_states, args.wrench, "robot_description")
        wait(lambda: listener.began, PATIENCE)
        while listener.began and not stopped() and (left := args.duration - listener.passed()) > 0.0:
            options.show_status(f"listening {args.duration - left:4.1f} of {args.duration:g} s")
            wait(stopped, min(0.5, left))
        options.show_status("", end="\n")
        topics, others = listener.topics(), listener.other_joint_states()
    if not listener.began:
        hint = f"; joint states are published on {', '.join(others)} (--joint-states)" if others else SILENT
        text = f"no joint state came on {topics[0].name} within {PATIENCE:g} s{hint}"
        raise RecordingError(text, name=topics[0].name, bound="joint states")
    recording = listener.collector.recording(with_wrench=listener.collector.n_wrenches > 0)
    known = {"wrench_frame": recording.wrench_frame, "clock_published": listener.n_clock > 0, "topics": topics}
    return _observation(args, args.urdf or listener.description, recording, **known)


def _observation(args: argparse.Namespace, urdf: str, recording: Any, **known: Any) -> tuple[str, Any]:
    """Return how the user names the URDF, and the observation; find the URDF and the sensor if they were not given."""
    from icub_learning.evaluation.robot_check.observation import Observation, guess_robot, guess_sensor
    from icub_learning.robots import find_urdf, is_xml

    urdf = urdf or guess_robot(recording.joint_names) or ""
    if not urdf:
        where = "FILE.urdf is beside the recording FILE" if args.recording else "topic robot_description was heard"
        bound = f"given: no {where}, and no known robot has all joints "
        raise ParameterError("--urdf", None, bound + ", ".join(recording.joint_names))
    found, sensor = find_urdf(urdf), args.sensor or ""
    if not sensor and recording.wrench is not None:
        sensor = guess_sensor(found, recording.joint_names, known["wrench_frame"] or "")
    if is_xml(urdf):
        urdf = "topic"  # the node then reads robot_description
    elif Path(urdf).is_file():
        urdf = str(Path(urdf).absolute())  # the node may be started from any folder
    seen = Observation(recording, found, sensor, **known)
    if args.sensor and all(joint.get("name") != args.sensor for joint in seen.root.findall("joint")):
        raise ParameterError("--sensor", args.sensor, "a joint of the URDF")
    return urdf, seen
