"""The recordings that the arguments of `evaluate` name, each with its robot, joints and output."""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from icub_learning.cli.common import options
from icub_learning.dynamics.settings import Settings
from icub_learning.errors import ParameterError, RecordingError
from icub_learning.evaluation.joint_names import match_joints
from icub_learning.evaluation.robot_check.observation import guess_sensor
from icub_learning.recording import Recording
from icub_learning.recording.files import TABLES
from icub_learning.recording.rosbag import SUFFIXES
from icub_learning.robots import find_urdf, joint_names
from icub_learning.settings import pick

DESCRIPTIONS = (".yaml", ".yml", ".json")


@dataclass(frozen=True)
class Case:
    """One recording with the URDF's joint names, settings of its learners, and remarks on what was inferred."""

    path: Path
    recording: Recording
    settings: Settings
    remarks: tuple[str, ...]


def single_case(args: argparse.Namespace, path: Path) -> Case:
    """Read a recording as the command line says; X.urdf beside it stands in for --urdf. Raises RecordingError: it is
    unreadable, its joints do not match the URDF's, or its output is ambiguous; ModelError; ParameterError."""
    return _case(args, path, {} if args.urdf else _beside(path))


def table_case(args: argparse.Namespace, file: Path) -> Case:
    """Read a recording, or the YAML or JSON file that describes one; the file overrides the command line.

    Such a file holds a mapping: `recording`, a path relative to the file, and any settings of learning (urdf, joints,
    output, sensor, ...). X.urdf beside a recording X is its URDF. Raises as `single_case` does.
    """
    if file.suffix not in DESCRIPTIONS:
        return single_case(args, file)
    own = _description(file)
    if "recording" not in own:
        raise ParameterError("recording", None, f"in {file}: the path of a recording")
    path, beside = file.parent / str(own.pop("recording")), file.parent / str(own.get("urdf", ""))
    if "urdf" in own and beside.is_file():
        own["urdf"] = str(beside)
    return _case(args, path, {**({} if args.urdf else _beside(path)), **own})


def _description(file: Path) -> dict[str, Any]:
    import yaml

    try:
        own = yaml.safe_load(file.read_text())  # JSON is YAML
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise RecordingError(f"{file} cannot be read: {' '.join(str(error).split())}", name=str(file)) from None
    known = {"recording", *(field.name for field in fields(Settings))}
    if not isinstance(own, dict) or not set(own) <= known:
        given = sorted(map(str, own)) if isinstance(own, dict) else own
        raise ParameterError(str(file), given, "a mapping of " + ", ".join(sorted(known)))
    return own | {name: str(own[name]) for name in ("urdf", "sensor") if name in own}


def _beside(path: Path) -> dict[str, str]:
    urdf = path.with_suffix(".urdf")
    return {"urdf": str(urdf)} if urdf.is_file() else {}


def _case(args: argparse.Namespace, path: Path, own: Mapping[str, Any]) -> Case:
    given = {**vars(args), **own, "recording": path}
    if args.output == "joint_torque" and args.wrench_topic:
        raise ParameterError("--wrench-topic", args.wrench_topic, "left out with --output joint_torque")
    named = path.suffix in TABLES or any(one.suffix in SUFFIXES for one in (path, *path.glob("*")))
    if given["urdf"] is None and named and path.exists():  # what is no recording is refused when it is read
        raise ParameterError("--urdf", None, f"given, or {path.with_suffix('.urdf')} beside the recording")
    recording = options.read_recording(argparse.Namespace(**given), wrench=given["output"] != "joint_torque")
    if not recording.n_joint_states:
        raise RecordingError(f"{path} holds no joint states; is it empty?", name=str(path), bound="joint states")
    remarks = []
    if path.suffix in TABLES and (topic := args.joint_state_topic or args.wrench_topic):
        remarks.append(f"topic {topic} is not used: {path.suffix[1:].upper()} files have no topics")
    if given["output"] is None:
        wrench = recording.wrench is not None and len(recording.wrench) > 0
        if wrench == (recording.effort is not None):
            text = "wrenches and efforts: say what is learned (--output)" if wrench else "neither wrenches nor efforts"
            raise RecordingError(f"the recording has {text}", name="output", bound="wrench or joint_torque")
        given["output"] = "wrench" if wrench else "joint_torque"
        remarks.append(f"output: {given['output']}, the only one in the recording")
    if recording.mixed_frames:
        remarks.append(f"wrenches of frames {', '.join(recording.mixed_frames)} are mixed: give each its own topic")
    names = given["joints"] or []
    parts = names if isinstance(names, (list, tuple)) else [names]
    wanted = [name for part in parts for name in str(part).split(",") if name]
    if names and not wanted:
        raise ParameterError("--joints", names, "at least one name")
    match = match_joints(recording.joint_names, joint_names(find_urdf(given["urdf"])), wanted)
    if match.text:
        remarks.append(match.text)
    said, urdf = {name: value for name, value in given.items() if value is not None}, find_urdf(given["urdf"])
    if given["output"] == "wrench" and not given["sensor"]:
        said["sensor"] = guess_sensor(urdf, recording.joint_names, recording.wrench_frame) or Settings.sensor
        remarks.append(f"sensor: {said['sensor']}")
    settings = pick(Settings, said, urdf=urdf, joints=match.joints)
    if not wanted:
        remarks.append(f"joints, all that the recording and the URDF share: {', '.join(match.joints)}")
    if match.others and (match.text or not wanted):
        remarks.append(f"joints left out because the URDF lacks them: {', '.join(match.others)}")
        settings = replace(settings, extra_joints=(*settings.extra_joints, *match.others))
    recording = match.applied(recording)
    in_order = tuple(name for name in recording.joint_names if name in settings.joints)
    if given["joint_order"] is None and in_order != settings.joints:
        settings = replace(settings, joint_order="any")  # a file's own order is no sign of a fault
    return Case(path, recording, settings, tuple(remarks))
