"""Reading and writing rosbag2: sqlite3 and mcap, as folders with metadata.yaml or as bare storage files."""

import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from rosbags.interfaces import Connection, Qos, QosDurability, QosHistory, QosLiveliness, QosReliability, QosTime
from rosbags.rosbag2 import Reader, StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore
from tqdm import tqdm

from icub_learning.errors import RecordingError
from icub_learning.recording.collector import Collector
from icub_learning.recording.recording import NANOSECONDS, JointStateEvent, Recording, WrenchEvent

JOINT_STATE = "sensor_msgs/msg/JointState"
WRENCH = "geometry_msgs/msg/WrenchStamped"
SUFFIXES = (".db3", ".mcap")  # suffixes of bare storage files
LAST_STAMP = 2**31 * NANOSECONDS  # [ns] where the seconds of a ROS stamp, 32 bits with a sign, end

# QoS that the simulation and the drivers of robots offer: reliable, keep-last 10, volatile.
_FOREVER = QosTime(9223372036, 854775807)
_QOS = Qos(
    QosHistory.KEEP_LAST, 10, QosReliability.RELIABLE, QosDurability.VOLATILE, _FOREVER, _FOREVER,
    QosLiveliness.AUTOMATIC, _FOREVER, False,
)  # fmt: skip


def read_rosbag(path: Path, joint_state_topic: str | None, wrench_topic: str | None, progress: bool) -> Recording:
    """Read a rosbag2 folder or a bare .db3 or .mcap file; arguments: see `files.read`."""
    _refuse_open_journal(path)
    if path.suffix == ".db3" or any(path.glob("*.db3")):
        check_sqlite_name(path)
    try:
        with Reader(_with_metadata(path)) as reader:
            if not (joint_states := choose(path, reader, JOINT_STATE, joint_state_topic, "joint_state_topic")):
                found = ", ".join(f"{c.topic} ({c.msgtype})" for c in reader.connections) or "none"
                text = f"{path} holds no {JOINT_STATE}; its topics: {found}"
                raise RecordingError(text, name=str(path), bound=f"a topic of {JOINT_STATE}")
            wrenches = choose(path, reader, WRENCH, wrench_topic, "wrench_topic") if wrench_topic != "" else []
            deserialize, collector = get_typestore(Stores.LATEST).deserialize_cdr, Collector()
            connections = joint_states + wrenches
            total = sum(connection.msgcount for connection in connections)
            shown = tqdm(reader.messages(connections), "reading", total, disable=not progress, delay=1, leave=False)
            for connection, arrival, data in shown:
                _collect(collector, arrival, deserialize(data, connection.msgtype))
            return collector.recording(with_wrench=bool(wrenches))
    except RecordingError:
        raise
    except Exception as error:  # a damaged file raises nearly anything: struct, index, Unicode, SQL errors ...
        reason = str(error).strip().rstrip(".") or type(error).__name__
        text = (
            f"{path} cannot be read ({reason}); if the recorder was interrupted, try `ros2 bag reindex`, or for mcap"
            " `mcap recover`; else copy the file again"
        )
        raise RecordingError(text, name=str(path), value=reason, bound="a complete rosbag2 recording") from error


def _with_metadata(path: Path) -> Path:
    """Return the path to open: the only storage file of a folder without metadata.yaml, else `path` itself."""
    if not path.is_dir() or (path / "metadata.yaml").exists():
        return path
    files = [file for file in path.iterdir() if {*SUFFIXES}.intersection(file.suffixes)]  # compressed ones too
    if len(files) == 1 and files[0].suffix in SUFFIXES:
        return files[0]
    text = f"{path} has no metadata.yaml; it holds {len(files)} rosbag2 files; `ros2 bag reindex {path}` writes it anew"
    raise RecordingError(text, name=str(path), value=len(files), bound="a rosbag2 folder")


def _refuse_open_journal(path: Path) -> None:
    """Raise RecordingError if SQLite keeps messages in FILE-wal (a recorder runs, or crashed): they would be lost."""
    for file in path.glob("*.db3-wal") if path.is_dir() else [path.with_name(path.name + "-wal")]:
        if file.exists() and file.stat().st_size:
            remedy = f"stop the recorder, or run `sqlite3 {str(file)[:-4]} 'PRAGMA wal_checkpoint'`"
            text = f"{file} holds messages that are not yet in the recording; {remedy}"
            raise RecordingError(text, name=str(file), bound="a recording that is closed")


def check_sqlite_name(path: Path) -> None:
    """Raise RecordingError if rosbags cannot open a .db3 file at this path, which SQLite takes for a URI."""
    if found := re.search("[#?]|%[0-9A-Fa-f]{2}", str(path)):
        text = f"{path}: SQLite does not take {found[0][0]} in a path for itself; rename it, or use .mcap"
        raise RecordingError(text, name=str(path), value=found[0], bound="a path without # ? %")


def choose(path: Path, reader: Reader, msgtype: str, topic: str | None, option: str) -> list[Connection]:
    """Return the connections of the requested topic of `msgtype`, or of the only one with messages, if there is any.
    Raises RecordingError: the requested topic is absent or of another type, or several topics qualify."""
    topics = {name: info for name, info in reader.topics.items() if info.msgtype == msgtype}
    candidates = ", ".join(f"{name} ({info.msgcount} messages)" for name, info in topics.items())
    if topic is not None:
        if (name := topic if topic in topics else f"/{topic}") not in topics:
            text = f"{path} has no topic {topic} of {msgtype}; it has {candidates or 'none of that type'}"
            raise RecordingError(text, name=option, value=topic, bound=candidates)
        return topics[name].connections
    filled = [name for name, info in topics.items() if info.msgcount] or list(topics)
    if len(filled) > 1:
        remedy = f"choose one with {option} (--{option.replace('_', '-')} on the command line)"
        text = f"{path} has several topics of {msgtype}: {candidates}; {remedy}"
        raise RecordingError(text, name=option, value=filled, bound="one topic")
    return topics[filled[0]].connections if filled else []


def _collect(collector: Collector, arrival: int, message: Any) -> None:
    header = message.header
    stamp = header.stamp.sec * NANOSECONDS + header.stamp.nanosec
    if message.__msgtype__ == JOINT_STATE:
        fields = (tuple(message.name), message.position, message.velocity, message.effort)
        collector.add_joint_state(JointStateEvent(arrival, stamp, *fields))
    else:
        force, torque = message.wrench.force, message.wrench.torque
        values = np.array([force.x, force.y, force.z, torque.x, torque.y, torque.z])
        collector.add_wrench(WrenchEvent(arrival, stamp, values), header.frame_id)


def write_rosbag(recording: Recording, path: Path) -> None:
    """Write a rosbag2 folder (sqlite3) that `ros2 bag play` plays, or a bare storage file, as its suffix says."""
    folder = path.with_suffix("") if path.suffix in SUFFIXES else path
    storage = StoragePlugin.MCAP if path.suffix == ".mcap" else StoragePlugin.SQLITE3
    store = get_typestore(Stores.LATEST)
    types = store.types
    make_header, make_time = types["std_msgs/msg/Header"], types["builtin_interfaces/msg/Time"]
    make_joint_state, make_stamped = types[JOINT_STATE], types[WRENCH]
    make_wrench, make_vector = types["geometry_msgs/msg/Wrench"], types["geometry_msgs/msg/Vector3"]
    with Writer(folder, version=8, storage_plugin=storage) as writer:  # 8: older readers accept it, unlike 9
        shared: dict[str, Any] = {"typestore": store, "offered_qos_profiles": [_QOS]}
        joint_states = writer.add_connection("/joint_states", JOINT_STATE, **shared)
        if recording.wrench is not None:
            wrenches = writer.add_connection("/wrench", WRENCH, **shared)
        for event in recording.events():
            if not -LAST_STAMP <= event.stamp < LAST_STAMP or (event.arrival < 0 and storage is StoragePlugin.MCAP):
                text = f"{path.name}: a message has the stamp {event.stamp} ns and arrived at {event.arrival} ns"
                bound = f"stamps below {LAST_STAMP} ns (in 2038), arrivals in MCAP at 0 or later; write CSV or NPZ"
                raise RecordingError(f"{text}, but bags hold {bound}", name="stamp", value=event.stamp, bound=bound)
            stamp = make_time(*divmod(event.stamp, NANOSECONDS))
            if isinstance(event, WrenchEvent):
                values = event.values.tolist()
                wrench = make_wrench(force=make_vector(*values[:3]), torque=make_vector(*values[3:]))
                message = make_stamped(make_header(stamp, recording.wrench_frame), wrench)
                writer.write(wrenches, event.arrival, store.serialize_cdr(message, WRENCH))
            else:
                fields = [np.ascontiguousarray(values) for values in (event.position, event.velocity, event.effort)]
                message = make_joint_state(make_header(stamp, ""), list(event.names), *fields)
                writer.write(joint_states, event.arrival, store.serialize_cdr(message, JOINT_STATE))
    if folder != path:
        (folder / path.name).rename(path)
        shutil.rmtree(folder)
