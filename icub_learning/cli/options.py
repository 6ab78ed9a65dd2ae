"""Command-line options that several commands share, and what they turn them into."""

import argparse
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icub_learning.cli.settings import add_settings
from icub_learning.reporting.tables import add_value
from icub_learning.robots import KNOWN_ROBOTS

if TYPE_CHECKING:  # loaded when a command runs: help appears at once
    from icub_learning.dynamics.settings import Settings
    from icub_learning.recording import Recording

RECORDING = "rosbag2 folder, .db3, .mcap, .csv or .npz"
RECORDING_OUTPUT = "X.mcap, X.db3, X.csv, X.npz, or the name of a rosbag2 folder"


def add_recording_argument(parser: argparse.ArgumentParser, text: str = RECORDING, required: bool = True) -> None:
    """Add the argument RECORDING, the path of a file or folder."""
    parser.add_argument("recording", metavar="RECORDING", type=Path, help=text, nargs=None if required else "?")


def add_topic_options(parser: argparse.ArgumentParser) -> None:
    """Add --joint-states and --wrench, the topics on which to listen or publish."""
    add_value(parser, "--joint-states", "joint_states", "", "TOPIC")
    add_value(parser, "--wrench", "wrench", "", "TOPIC")


def add_plot_option(parser: argparse.ArgumentParser, what: str) -> None:
    """Add --plot FILE, with what it draws."""
    parser.add_argument("--plot", metavar="FILE", type=Path, help=f"draw {what} into FILE (.png, .pdf, .svg)")


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how a recording is read."""
    source = parser.add_argument_group("reading")
    add_recorded_topic_options(source)
    add_value(source, "--stamp-source", "header", "time of a message", choices=("header", "arrival"))


def add_recorded_topic_options(parser: Any) -> None:
    """Add the options that choose among several topics of a recording."""
    parser.add_argument("--joint-state-topic", metavar="TOPIC", help="in the recording, if it has several")
    parser.add_argument("--wrench-topic", metavar="TOPIC", help="in the recording, if it has several")


def read_recording(args: argparse.Namespace, wrench: bool = True) -> "Recording":
    """Read the recording that the arguments name, with a progress bar on a terminal; without wrenches if not wanted."""
    from icub_learning.recording import read

    return read(
        args.recording,
        args.joint_state_topic,
        args.wrench_topic if wrench else "",
        stamp_source=getattr(args, "stamp_source", "header"),
        progress=sys.stderr.isatty(),
    )


def accept_order(args: argparse.Namespace, recording: "Recording", settings: "Settings") -> "Settings":
    """Return the settings, which accept the recording's order of joints unless --joint-order was given."""
    in_order = tuple(name for name in recording.joint_names if name in settings.joints)
    if args.joint_order is None and in_order != tuple(settings.joints):
        return replace(settings, joint_order="any")  # a file's own order is no sign of a fault
    return settings


def add_robot_options(parser: argparse.ArgumentParser, required: bool = True) -> None:
    """Add --urdf, --joints and --output: what is learned."""
    parser.add_argument(
        "--urdf", required=required, help=f"path of a URDF, package://..., or a known robot: {', '.join(KNOWN_ROBOTS)}"
    )
    parser.add_argument(
        "--joints", required=required, nargs="+", metavar="JOINT", help="learned joints: a b c, or a,b,c"
    )
    parser.add_argument(
        "--output", required=required, choices=("wrench", "joint_torque"), help="what is learned: wrenches, or efforts"
    )


# Settings that evaluate and view take by options of their own, or set themselves.
OWN_OPTIONS = ("urdf", "joints", "output", "estimator", "stamp_source")


def add_learning_options(parser: argparse.ArgumentParser) -> None:
    """Add the settings of learning as options."""
    from icub_learning.dynamics.settings import Settings

    group = parser.add_argument_group("learning", "the settings of the inverse dynamics node")
    add_settings(group, [Settings], leave_out=OWN_OPTIONS, given=True)


def make_settings(args: argparse.Namespace) -> "Settings":
    """Return the settings of a learner: the defaults of the node, and what the command line gives."""
    from icub_learning.dynamics.settings import Settings
    from icub_learning.errors import ParameterError
    from icub_learning.robots import find_urdf
    from icub_learning.settings import pick

    joints = tuple(name for part in args.joints for name in part.split(",") if name)
    if not joints:
        raise ParameterError("--joints", args.joints, "at least one name")
    given = {name: value for name, value in vars(args).items() if value is not None}
    return pick(Settings, given, urdf=find_urdf(args.urdf), joints=joints)


def progress_bar(
    text: str, unit: str, total: int | None = None, delay: float = 1.0
) -> Callable[[Iterable[Any]], Iterable[Any]]:
    """Return a function that passes items on and shows a progress bar after `delay` seconds, on a terminal only."""
    from tqdm import tqdm

    # disable=None: no bar where standard error is no terminal
    return lambda items: tqdm(items, text, total, disable=None, delay=delay, leave=False, unit=unit)


def watch(path: Path, recording: "Recording", mode: str = "") -> Callable[[Iterable[Any], str], Iterable[Any]]:
    """Return a function that shows how far the estimator of a short name is in the recording's messages."""
    total = recording.n_joint_states + len(recording.wrench_stamps)
    return lambda events, short: progress_bar(f"{path.name} {short} {mode}".rstrip(), "msg", total)(events)
