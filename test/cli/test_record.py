"""`record` and `replay` between processes: what is played is what is recorded, to the last bit."""

import signal
import sys
from dataclasses import replace

import numpy as np
import pytest
from helpers.recordings import rigid_recording

from icub_learning.cli import record
from icub_learning.cli.main import main
from icub_learning.recording import JointStateEvent, Recording, read, write

pytestmark = pytest.mark.check
CLI = (sys.executable, "-m", "icub_learning.cli")


@pytest.fixture
def played(tmp_path) -> Recording:
    """Write 0.8 s of an arm at 125 Hz, with wrenches, one timestamp of zero and one message with other joints."""
    arm, row = rigid_recording(100), np.arange(2.0)
    times, stamps = arm.joint_stamps, arm.joint_stamps.copy()
    stamps[50] = 0
    odd = JointStateEvent(int(times[60]) + 1, 5, ("x", "y"), row, row, np.empty(0))
    arm = replace(arm, joint_stamps=stamps, joint_arrivals=times, acceleration=None, irregular=(odd,))
    wrench = np.arange(300.0).reshape(50, 6)
    recording = replace(arm, wrench_stamps=times[::2], wrench=wrench, wrench_frame="hand")
    write(recording, tmp_path / "played.mcap")
    return recording


def test_what_is_played_is_what_is_recorded(played, tmp_path, ros_domain, start_process, interrupted_after, capfd):
    player = start_process(*CLI, "replay", str(tmp_path / "played.mcap"), "--rate", "2", "--wait", "240")
    interrupted_after(101, 50)
    assert main(["record", str(tmp_path / "again.csv")]) == 0  # which cannot hold the message with other joints
    assert player.wait() == 0 and "151 messages published" in player.output
    assert "again.csv.mcap: 101 joint states, 50 wrenches" in capfd.readouterr().out
    again = read(tmp_path / "again.csv.mcap")
    np.testing.assert_array_equal(again.joint_stamps, played.joint_stamps)
    for name in ("position", "velocity", "effort", "wrench", "wrench_stamps"):
        np.testing.assert_array_equal(getattr(again, name), getattr(played, name), name)
    assert again.wrench_frame == "hand" and [event.names for event in again.irregular] == [("x", "y")]


def test_loop_goes_on_in_time_until_it_is_stopped(played, tmp_path, ros_domain, start_process, interrupted_after):
    write(replace(played, irregular=()), tmp_path / "regular.csv")
    topic = ("--joint-states", "/other")
    arguments = ("--rate", "8", "--loop", "--clock", "--wait", "240", *topic)
    player = start_process(*CLI, "replay", str(tmp_path / "regular.csv"), *arguments)
    interrupted_after(250, 0)  # two and a half rounds of the loop
    assert main(["record", str(tmp_path / "loop.npz"), "--no-wrench", *topic]) == 0
    assert main(["record", str(tmp_path / "short.npz"), "--no-wrench", "--duration", "0.01", *topic]) == 0
    assert player.stop(signal.SIGTERM) == 0 and 0 < read(tmp_path / "short.npz").n_joint_states < 250
    recording = read(tmp_path / "loop.npz")
    assert recording.wrench is None
    steps = np.diff(recording.joint_stamps[recording.joint_stamps > 0])
    assert set(steps) == {8_000_000, 16_000_000}  # the longer ones, in each round, where a timestamp is zero


def test_nothing_heard_is_an_error(tmp_path, ros_domain, monkeypatch, capfd):
    monkeypatch.setattr(record, "PATIENCE", 0.0)
    looks = iter((lambda: None, lambda: signal.raise_signal(signal.SIGTERM)))
    monkeypatch.setattr(record, "show_status", lambda *_: next(looks)())
    assert main(["record", str(tmp_path / "none.mcap")]) == 2
    shown = capfd.readouterr().err
    assert "no joint state on /joint_states yet" in shown and "no joint state came" in shown
    assert not (tmp_path / "none.mcap").exists()
