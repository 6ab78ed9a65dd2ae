"""Reading and writing a recording in the format that the suffix of its path names."""

from dataclasses import replace
from pathlib import Path
from typing import Literal

from icub_learning.errors import ParameterError, RecordingError
from icub_learning.files import check_replaceable, replacing_path
from icub_learning.recording.recording import Recording
from icub_learning.recording.rosbag import SUFFIXES, check_sqlite_name, read_rosbag, write_rosbag
from icub_learning.recording.tables import read_csv, read_npz, write_csv, write_npz

TABLES = {".csv": write_csv, ".npz": write_npz}


def read(
    path: str | Path, joint_state_topic: str | None = None, wrench_topic: str | None = None, *,
    stamp_source: Literal["header", "arrival"] = "header", progress: bool = False,
) -> Recording:  # fmt: skip
    """Read a recording: a rosbag2 folder, a bare .db3 or .mcap file, a .csv table or an .npz archive.

    Args:
        joint_state_topic: topic of sensor_msgs/JointState; None: the only one with messages.
        wrench_topic: topic of geometry_msgs/WrenchStamped; None: the only one, if there is any; "": read no wrench.
        stamp_source: "header": the stamp in the message; "arrival": when the recorder received it, for drivers that
            set no usable stamps.
        progress: whether to show a progress bar if reading takes longer than a second.

    Raises:
        RecordingError: the file is absent, of another kind or damaged, or has several topics to choose from.
        ParameterError: an unknown stamp_source.
    """
    path = Path(path)
    if stamp_source not in ("header", "arrival"):
        raise ParameterError("stamp_source", stamp_source, "'header' or 'arrival'")
    if not path.exists():
        raise RecordingError(f"{path} does not exist", name=str(path), bound="a recording")
    if path.is_dir() or path.suffix in SUFFIXES:
        recording = read_rosbag(path, joint_state_topic, wrench_topic, progress)
    elif path.suffix == ".csv":
        recording = read_csv(path, progress)
    elif path.suffix == ".npz":
        recording = read_npz(path)
    else:
        known = "a recording is a rosbag2 folder, .db3, .mcap, .csv or .npz (unpack a compressed file first)"
        text = f"{path} is of no known format; {known}"
        raise RecordingError(text, name=str(path), value=path.suffix, bound="rosbag2, CSV or NPZ")
    if wrench_topic == "" and recording.wrench is not None:  # of a table, which has no topics
        none = recording.wrench_stamps[:0]
        recording = replace(recording, wrench=None, wrench_stamps=none, wrench_arrivals=none)
    if stamp_source == "header":
        return recording
    return replace(
        recording, joint_stamps=recording.joint_arrivals, wrench_stamps=recording.wrench_arrivals,
        irregular=tuple(event._replace(stamp=event.arrival) for event in recording.irregular),
    )  # fmt: skip


def check_free(path: Path) -> None:
    """Raise RecordingError if something exists at `path`, or nothing can be written there."""
    if path.exists():
        raise RecordingError(f"{path} exists already; choose another name", name=str(path), bound="a new file")
    if path.suffix not in (*TABLES, ".mcap"):
        check_sqlite_name(path)
    try:
        check_replaceable(path)
    except OSError as error:
        raise RecordingError(f"{path} cannot be written: {error}", name=str(path), bound="a new file") from error


def write(recording: Recording, path: str | Path) -> None:
    """Write a recording in the format that the suffix of `path` names, completely or not at all.

    That is X.csv, X.npz, X.db3 or X.mcap (one file), or a folder (rosbag2 with metadata.yaml, for `ros2 bag play`) with
    the topics /joint_states and /wrench. CSV leaves the wrench's frame out. Raises RecordingError: something exists at
    `path`, or the format cannot hold what the recording has.
    """
    path = Path(path)
    check_free(path)
    if (table := TABLES.get(path.suffix)) and recording.irregular:
        n, bound = len(recording.irregular), "messages of one layout"
        text = f"{path}: {n} messages have another layout than the rest: only rosbag2 holds these"
        raise RecordingError(text, name=str(path), value=n, bound=bound)
    if not table and recording.acceleration is not None:
        text = f"{path}: JointState messages have no acceleration; write CSV or NPZ"
        raise RecordingError(text, name=str(path), bound="no acceleration")
    try:
        with replacing_path(path) as unfinished:
            (table or write_rosbag)(recording, unfinished)
    except RecordingError:
        raise
    except Exception as error:
        text = f"{path} cannot be written ({error})"
        raise RecordingError(text, name=str(path), value=str(error), bound="writable") from error
