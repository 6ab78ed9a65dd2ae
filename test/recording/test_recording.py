"""Recordings: every format gives back what was written, bad messages survive as they are, and damage is named."""

import re
import sqlite3
from itertools import count

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rosbags.rosbag2 import Reader, StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from icub_learning.errors import IcubLearningError, ParameterError, RecordingError
from icub_learning.recording import JointStateEvent, Recording, WrenchEvent, read, write
from icub_learning.recording.collector import Collector

JOINTS = ("r_shoulder_pitch", "r_elbow", "r_wrist_yaw")
ROSBAGS = ("bag", "bag.db3", "bag.mcap")
TABLES = ("table.csv", "table.npz")
PATHS = (*ROSBAGS, *TABLES)
TYPES = get_typestore(Stores.ROS2_KILTED)  # not the store that the reader uses: the definitions must agree


def make_recording(n: int = 40, m: int = 17, seed: int = 0, **fields) -> Recording:
    rng = np.random.default_rng(seed)
    stamps = 1_700_000_000_000_000_001 + np.cumsum(rng.integers(1, 10_000_000, n))
    wrench_stamps = 1_700_000_000_000_000_000 + np.cumsum(rng.integers(1, 20_000_000, m))
    given_fields = {
        "velocity": rng.normal(size=(n, 3)), "effort": rng.normal(size=(n, 3)) * 1e-17, "wrench_stamps": wrench_stamps,
        "wrench_arrivals": wrench_stamps + 123_456, "wrench": rng.normal(size=(m, 6)) * 1e3,
        "joint_arrivals": stamps + 99, **fields,
    }  # fmt: skip
    return Recording(JOINTS, stamps, rng.normal(size=(n, 3)), **given_fields)


def assert_same(a: Recording, b: Recording) -> None:
    np.testing.assert_equal(vars(a), vars(b))  # equal exactly, and NaN equals NaN


@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize("absent", [
    {}, {"velocity": None}, {"effort": None}, {"wrench": None, "wrench_stamps": [], "wrench_arrivals": []},
], ids=["nothing", "velocity", "effort", "wrench"])  # fmt: skip
def test_round_trip(tmp_path, name, absent):
    recording = make_recording(**absent, **({} if name in ROSBAGS else {"acceleration": np.full((40, 3), 0.1)}))
    write(recording, tmp_path / "new" / name)
    assert_same(read(tmp_path / "new" / name), recording)
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == [name]  # nothing left beside it


numbers = st.floats(allow_nan=True, allow_infinity=True)
stamps = st.integers(-(2**31) * 10**9, (2**31 - 1) * 10**9)  # [ns] range of a message header


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from(["bag", "bag.mcap", "table.csv", "table.npz"]),
    rows=st.lists(st.tuples(stamps, numbers, numbers), min_size=1, max_size=6),
    forces=st.lists(st.tuples(stamps, numbers), max_size=4),
)
def test_round_trip_of_anything(tmp_path_factory, name, rows, forces):
    """Negative, repeated and backward stamps, and numbers that are NaN or infinite, come back as they were."""
    folder = tmp_path_factory.mktemp("any")
    times, *both = zip(*rows, strict=True)
    positions, efforts = (np.reshape(values, (-1, 1)) for values in both)
    arrivals = np.arange(5, 10 * len(rows), 10)
    wrench = {"wrench_stamps": [time for time, _ in forces], "wrench_arrivals": np.arange(len(forces)) * 10}
    wrench["wrench"] = np.array([[force] * 6 for _, force in forces]) if forces else None
    recording = Recording(("a",), times, positions, effort=efforts, joint_arrivals=arrivals, **wrench)
    write(recording, folder / name)
    assert_same(read(folder / name), recording)


@pytest.mark.parametrize("name", ["bag", "bag.mcap"])
def test_irregular_messages_survive_in_order(tmp_path, name):
    row, nothing = np.array([1.0, 2.0, 3.0]), np.empty(0)
    between = int(make_recording().joint_arrivals[5]) + 1
    parts = (
        (7, JOINTS[::-1], row, row, row), (0, JOINTS[:2], row[:2], row[:2], row[:2]), (8, JOINTS, row, nothing, row),
        (9, JOINTS, row[:1], row, row), (10, (), *3 * [nothing]), (11, (JOINTS[0], *JOINTS[:2]), row, row, row),
    )  # fmt: skip
    irregular = tuple(JointStateEvent(between + k, *part) for k, part in enumerate(parts))
    assert Recording(JOINTS, [], np.empty((0, 3)), irregular=irregular).duration == pytest.approx(5e-9)
    recording = make_recording(irregular=irregular)
    write(recording, tmp_path / name)
    back = read(tmp_path / name)
    assert_same(back, recording)
    assert back.n_joint_states == 46 and (np.diff([event.arrival for event in back.events()]) >= 0).all()


def test_what_a_format_cannot_hold_and_arrays_that_do_not_fit_are_refused(tmp_path):
    irregular = (JointStateEvent(0, 7, ("x",), *np.ones((3, 1))),)
    accelerated, odd = make_recording(acceleration=np.zeros((40, 3))), make_recording(irregular=irregular)
    for name in PATHS:
        expected = "1 messages have another layout" if name in TABLES else "no acceleration"
        with pytest.raises(RecordingError, match=expected):
            write(odd if name in TABLES else accelerated, tmp_path / name)
        one = Recording(("a", "a"), [1], np.zeros((1, 2))) if name in TABLES else Recording(("a",), [2**62], [[0.0]])
        with pytest.raises(RecordingError, match="named twice" if name in TABLES else "bags hold stamps below"):
            write(one, tmp_path / name)
    with pytest.raises(RecordingError, match=r"arrived at -1 ns, but bags hold .* MCAP at 0 or later"):
        write(Recording(("a",), [1], [[0.0]], joint_arrivals=[-1]), tmp_path / "x.mcap")
    good = {"joint_names": ("a",), "joint_stamps": [1], "position": np.zeros((1, 1))}
    Recording(**good)
    for name, wrong in (
        ("position", np.zeros((2, 1))), ("position", np.zeros((1, 2))), ("velocity", np.zeros((2, 1))),
        ("wrench", np.zeros((1, 6))), ("wrench_stamps", [1]), ("joint_arrivals", [1, 2]),
    ):  # fmt: skip
        with pytest.raises(IcubLearningError):
            Recording(**good | {name: wrong})


def test_csv_as_a_person_writes_it_and_npz_with_one_clock_and_in_seconds(tmp_path):
    (path := tmp_path / "hand.csv").write_text(
        "\ufefftime,note,velocity.b,position.a,position.b,velocity.a,wrench.force.x,wrench.force.y,wrench.force.z,"
        "wrench.torque.x,wrench.torque.y,wrench.torque.z\n"
        "0.5,start,20,1,2,10,1,2,3,4,5,6\n\n0.505,,21,1.5,2.5,11,,,,,,\n0.51,wrench only,,,,,6,5,4,3,2,1\n"
        "0.4,backwards,22,nan,2.5,12,,,,,,\n0.52,joint b unnamed,,1.5,,12,,,,,,\n0.53,no velocities,,1.5,2.5,,,,,,,\n",
        encoding="utf-8",
    )
    recording = read(path)
    assert recording.joint_names == ("a", "b") and recording.effort is None
    assert recording.joint_stamps.tolist() == [500_000_000, 505_000_000, 400_000_000]
    np.testing.assert_array_equal(recording.position, [[1, 2], [1.5, 2.5], [np.nan, 2.5]])
    np.testing.assert_array_equal(recording.velocity, [[10, 20], [11, 21], [12, 22]])
    np.testing.assert_array_equal(recording.wrench, [[1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1]])
    events = list(recording.events())
    path.write_text("stamp_ns,position.a\n1,1\n3,1\n2,2\n9,3\n8,3\n9,3\n")
    assert read(path).joint_arrivals.tolist() == [1, 1, 2, 5, 8, 9]  # in the order of the rows, where the stamps are
    assert [event.stamp // 10**6 for event in events] == [500, 500, 505, 510, 400, 520, 530]  # the order of the rows
    assert [(event.names, event.velocity.tolist()) for event in events[5:]] == [(("a",), [12]), (("a", "b"), [])]
    wrench = {f"wrench.{part}.{axis}": np.ones(2) for part in ("force", "torque") for axis in "xyz"}
    np.savez(tmp_path / "x.npz", **{"time": [1.0, 1.25], "position.a": [1, 2], **wrench})
    found = read(tmp_path / "x.npz")
    assert found.joint_stamps.tolist() == found.wrench_stamps.tolist() == [10**9, 1_250_000_000]
    assert found.wrench.shape == (2, 6) and found.duration == pytest.approx(0.25)


@pytest.mark.parametrize(("content", "expected"), [
    ("", "it is empty"), ("# mine\ntime,position.a\n1,2\n", "begins with a comment, '# mine'"),
    ("position.a\n1\n", "no column stamp_ns"), ("time,position.a,position.b,velocity.a\n1,2,3,4\n", r"velocity\.b"),
    ("time;position.a\n", "by semicolons, but"), ("stamp_ns,position.a\n1.5,2\n", "stamp_ns is '1.5', but .* whole"),
    ("time\tposition.a\n", "by tabs, but"), ("time,position.a\n1,2\n# end\n", "line 3: .*remove this comment"),
    ("time,q1\n1,2\n", "no column position"), ("time,position.a,wrench.force.x\n1,2,3\n", r"wrench\.force\.y"),
    ("time,position.a,position.a\n1,2,3\n", "more than once"), ("time,position.a\n1,2\n1.1,apple\n", "line 3: .*apple"),
    ("time,position.a\n1e30,2\n", "line 2: time is '1e30'"), ("time,position.a,velocity.b\n1,2,3\n", r"velocity\.a"),
    ("time,position.a\n1,2\n1.1\n", "line 3: 1 cells"), ("time,position.a\nnan,2\n", "line 2: time is 'nan'"),
    ("time,position.a\n,2\n", "line 2"),
    ({"stamp_ns": [1.0], "position.a": [1.0]}, r"stamp_ns holds 1\.0 .*, but must hold whole"),
    ({"time": [1.0], "position.a": ["one"]}, r"position\.a"), ({"time": [1.0], "position.a": 1.0}, r"position\.a"),
    ({"time": [np.nan], "position.a": [1.0]}, "time"), ({"time": [1.0], "position.a": [1.0, 2.0]}, r"position\.a"),
    *(({"stamp_ns": [1], "position.a": [1.0], "arrival_ns": [at]}, "arrival_ns holds") for at in (np.nan, 1.5, 2**63)),
    ({"time": [1.0], "position.a": [1.0], "map": np.zeros((3, 2)).T}, r"map\.npy has type float64 in Fortran order"),
    ({"time": [1.0], "position.a": np.array([None])}, r"not an NPZ archive of plain arrays \(position"),
])  # fmt: skip
def test_faulty_tables_are_refused_by_name(tmp_path, content, expected):
    path = tmp_path / ("faulty.csv" if isinstance(content, str) else "faulty.npz")
    path.write_text(content) if isinstance(content, str) else np.savez(path, **content)
    with pytest.raises(RecordingError, match=expected) as caught:
        read(path)
    assert str(path) in str(caught.value)


def test_a_write_that_is_refused_overwrites_and_leaves_nothing_and_unknown_formats_are_not_read(tmp_path):
    (tmp_path / "kept").write_text("precious")
    with pytest.raises(RecordingError, match="exists already"):
        write(make_recording(), tmp_path / "kept")
    recording = make_recording(wrench_frame="\ud800")  # a lone surrogate has no UTF-8
    for name in ROSBAGS:
        with pytest.raises(RecordingError, match="cannot be written"):
            write(recording, tmp_path / name)
    for name, part in (("a#1", "#"), ("why?.db3", r"\?"), ("%41.db3", "%")):
        with pytest.raises(RecordingError, match=f"SQLite does not take {part} in a path"):
            write(make_recording(), tmp_path / name)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["precious"]
    (tmp_path / "x.bag").write_text("")
    (tmp_path / "empty").mkdir()
    for name, text in (("none.db3", "not exist"), ("x.bag", "no known format"), ("empty", r"no metadata\.yaml")):
        with pytest.raises(RecordingError, match=text):
            read(tmp_path / name)
    with pytest.raises(ParameterError, match="stamp_source"):
        read(tmp_path / "empty", stamp_source="clock")


@pytest.mark.parametrize("name", [name for name in PATHS if name != "bag"])  # its file is a .db3
def test_damaged_files_are_refused_by_name_or_read(tmp_path, name):
    """Files cut off or with changed bytes give a RecordingError that names the file, or a recording; nothing else."""
    write(make_recording(n=200), path := tmp_path / name)
    sound, rng = path.read_bytes(), np.random.default_rng(1)
    damaged = [b"", b"not a recording", sound[: len(sound) // 2], sound[:-1], bytes(len(sound))]
    for _ in range(40):
        flipped = bytearray(sound)
        for place in rng.integers(0, len(sound), 20):
            flipped[place] ^= int(rng.integers(1, 256))
        damaged.append(bytes(flipped))
    refused = 0
    for content in damaged:
        path.write_bytes(content)
        try:
            read(path)
        except RecordingError as error:
            assert str(path) in str(error)
            refused += 1
    assert refused >= 4


def test_damaged_metadata_and_unfinished_journals_are_refused_and_without_any_the_only_file_is_read(tmp_path):
    write(recording := make_recording(), tmp_path / "bag")
    metadata = tmp_path / "bag" / "metadata.yaml"
    for text in ("", "a: [", "rosbag2_bagfile_information: 3", "rosbag2_bagfile_information: {version: 99}"):
        metadata.write_text(text)
        with pytest.raises(RecordingError, match=r"bag cannot be read \((Invalid|Could not load|Rosbag2 version 99)"):
            read(tmp_path / "bag")
    metadata.unlink()
    assert_same(read(tmp_path / "bag"), recording)
    (tmp_path / "bag" / "bag_1.db3.zstd").touch()  # a second part, which alone would be missed
    with pytest.raises(RecordingError, match=r"no metadata\.yaml; it holds 2 rosbag2 files"):
        read(tmp_path / "bag")
    write(make_recording(), path := tmp_path / "x.db3")
    (connection := sqlite3.connect(path)).execute("PRAGMA journal_mode=WAL")
    connection.execute("INSERT INTO messages (topic_id, timestamp, data) VALUES (1, 1, x'00')")
    connection.commit()
    with pytest.raises(RecordingError, match=f"`sqlite3 {path} 'PRAGMA wal_checkpoint'`"):
        read(path)
    connection.close()


def write_topics(path, topics: dict[str, tuple[str, int]]) -> None:
    joint_state, wrench = (TYPES.types[t] for t in ("sensor_msgs/msg/JointState", "geometry_msgs/msg/WrenchStamped"))
    header = TYPES.types["std_msgs/msg/Header"](TYPES.types["builtin_interfaces/msg/Time"](1, 5), "hand")
    force, torque = (TYPES.types["geometry_msgs/msg/Vector3"](*values) for values in ((1.0, 2.0, 3.0), (4.0, 5.0, 6.0)))
    fields = (np.array(values) for values in ([0.1, 0.2], [0.3, 0.4], [0.5, 0.6]))
    messages = {
        "sensor_msgs/msg/JointState": joint_state(header, ["b", "a"], *fields), "std_msgs/msg/Header": header,
        "geometry_msgs/msg/WrenchStamped": wrench(header, TYPES.types["geometry_msgs/msg/Wrench"](force, torque)),
    }  # fmt: skip
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        for topic, (kind, count) in topics.items():
            connection = writer.add_connection(topic, kind, typestore=TYPES)
            for time in range(count):
                writer.write(connection, time + 1, TYPES.serialize_cdr(messages[kind], kind))


def test_topics_are_chosen_by_type_or_asked_for(tmp_path):
    joint_state, wrench = "sensor_msgs/msg/JointState", "geometry_msgs/msg/WrenchStamped"
    write_topics(tmp_path / "one", {"/arm/state": (joint_state, 3), "/silent": (joint_state, 0), "/w": (wrench, 2)})
    recording = read(tmp_path / "one")
    fields = recording.position, recording.velocity, recording.effort
    np.testing.assert_array_equal(fields, [[[0.1, 0.2]] * 3, [[0.3, 0.4]] * 3, [[0.5, 0.6]] * 3])
    np.testing.assert_array_equal(recording.wrench, [[1, 2, 3, 4, 5, 6]] * 2)
    assert (recording.joint_names, recording.wrench_frame) == (("b", "a"), "hand")
    assert recording.joint_stamps.tolist() == [1_000_000_005] * 3
    assert read(tmp_path / "one", stamp_source="arrival").joint_stamps.tolist() == [1, 2, 3]
    write(recording, tmp_path / "one.npz")
    for source in ("one", "one.npz"):
        without = read(tmp_path / source, wrench_topic="")
        assert without.wrench is None and not len(without.wrench_stamps)
    write_topics(tmp_path / "empty", {"/j": (joint_state, 0)})
    empty = read(tmp_path / "empty")
    assert (list(empty.events()), empty.duration) == ([], 0.0)
    topics = {"/left": (joint_state, 1), "/right": (joint_state, 2), "/w1": (wrench, 1), "/w2": (wrench, 2)}
    write_topics(tmp_path / "two", topics)
    for asked, text in (
        ((), r"/left \(1 messages\), /right \(2 messages\).*--joint-state-topic"),
        (("/left",), r"/w1 \(1 messages\), /w2 \(2 messages\).*--wrench-topic"),
        (("/w1",), r"no topic /w1 of sensor_msgs/msg/JointState; it has /left \(1 "),
    ):
        with pytest.raises(RecordingError, match=text):
            read(tmp_path / "two", *asked)
    assert len(read(tmp_path / "two", "right", "/w2").joint_stamps) == 2
    collector = Collector()
    for frame in ("left", "right", "right"):
        collector.add_wrench(WrenchEvent(1, 1, np.ones(6)), frame)
    assert collector.recording(with_wrench=True).mixed_frames == ("right", "left")
    write_topics(tmp_path / "none", {"/header": ("std_msgs/msg/Header", 1)})
    with pytest.raises(RecordingError, match=r"its topics: /header \(std_msgs/msg/Header\)"):
        read(tmp_path / "none")


def test_progress_is_shown_where_it_is_asked_for_and_rosbags_carry_message_definitions(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("tqdm.std.time", count(0.0, 10.0).__next__)  # ten seconds from look to look: it takes long
    write(make_recording(), tmp_path / "bag")
    read(tmp_path / "bag")
    assert capsys.readouterr().err == ""
    read(tmp_path / "bag", progress=True)
    *_, last, erased, end = capsys.readouterr().err.split("\r")
    assert re.match("reading: .*57/57", last) and erased.isspace() and end == ""
    # With them tools without ROS can read it too, and `ros2 bag play` finds the quality of service.
    with Reader(tmp_path / "bag") as reader:
        found = {connection.topic: connection for connection in reader.connections}
        kinds = {"/joint_states": "sensor_msgs/msg/JointState", "/wrench": "geometry_msgs/msg/WrenchStamped"}
        assert {topic: c.msgtype for topic, c in found.items()} == kinds
        assert all("std_msgs/Header header" in c.msgdef.data for c in found.values())
        assert all(c.ext.offered_qos_profiles[0].reliability.name == "RELIABLE" for c in found.values())
