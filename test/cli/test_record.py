"""Commands that listen: what is played is what is recorded, to the last bit, and `check` says what is wrong with it."""

import json
import shutil
import signal
import sys
from dataclasses import replace
from functools import partialmethod
from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from helpers import records
from helpers.limits import set_limits
from helpers.planted_faults import planted
from helpers.recordings import rigid_recording
from helpers.robots import ICUB
from helpers.sound_robots import cut, zoo_robot
from helpers.waiting import wait_until

from icub_learning.cli import record
from icub_learning.cli.check import command
from icub_learning.cli.main import main
from icub_learning.clients.robot_listener import RobotListener
from icub_learning.dynamics.settings import Settings
from icub_learning.recording import JointStateEvent, Recording, read, write
from icub_learning.recording.collector import Collector
from icub_learning.settings import pick

CLI = (sys.executable, "-m", "icub_learning.cli.main")


@pytest.fixture
def interrupted_after(monkeypatch):
    """Return a function that raises SIGINT once a listener has taken the given numbers of joint states and wrenches."""

    def wait_for(joint_states, wrenches):
        stop = iter([signal.SIGINT])

        def added(self, *args, add):
            add(self, *args)
            if self.n_joint_states >= joint_states and self.n_wrenches >= wrenches and (number := next(stop, None)):
                signal.raise_signal(number)

        for name in ("add_joint_state", "add_wrench"):
            monkeypatch.setattr(Collector, name, partialmethod(added, add=getattr(Collector, name)))

    return wait_for


@pytest.fixture(scope="module")
def arm():
    return cut(zoo_robot("icub_left_arm_wrench_100hz").recording, 3.0, 8.0)


@pytest.fixture
def played(tmp_path) -> Recording:
    """Write 0.8 s of an arm at 125 Hz, with wrenches, one timestamp of zero and one message with other joints."""
    arm, row = rigid_recording(100), np.arange(2.0)
    times, stamps = arm.joint_stamps, arm.joint_stamps.copy()
    stamps[50] = 0
    odd = JointStateEvent(int(times[60]) + 1, 5, ("x", "y"), row, row, np.empty(0))
    arm = replace(arm, joint_stamps=stamps, joint_arrivals=times, acceleration=None, irregular=(odd,))
    recording = replace(arm, wrench_stamps=times[::2], wrench=np.arange(300.0).reshape(50, 6), wrench_frame="hand")
    write(recording, tmp_path / "played.mcap")
    return recording


@pytest.mark.check
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


@pytest.mark.check
def test_loop_goes_on_until_it_is_stopped(played, tmp_path, ros_domain, start_process, interrupted_after, monkeypatch):
    write(replace(played, irregular=()), tmp_path / "regular.csv")
    arguments = ("--rate", "8", "--loop", "--clock", "--wait", "240", *(topic := ("--joint-states", "/other")))
    player = start_process(*CLI, "replay", str(tmp_path / "regular.csv"), *arguments)
    interrupted_after(250, 0)  # two and a half rounds of the loop
    assert main(["record", str(tmp_path / "loop.npz"), "--no-wrench", *topic]) == 0
    monkeypatch.setattr(record, "show_status", lambda *_, **__: (tmp_path / "short.npz").touch())  # taken meanwhile
    monkeypatch.setattr(record.tempfile, "tempdir", str(tmp_path))
    assert main(["record", str(tmp_path / "short.npz"), "--no-wrench", "--duration", "0.01", *topic]) == 1
    (elsewhere,) = tmp_path.glob("icub_learning_*/short.npz")
    assert player.stop(signal.SIGTERM) == 0 and 0 < read(elsewhere).n_joint_states < 250
    recording = read(tmp_path / "loop.npz")
    assert recording.wrench is None
    steps = np.diff(recording.joint_stamps[recording.joint_stamps > 0])
    assert set(steps) == {8_000_000, 16_000_000}  # the longer ones, in each round, where a timestamp is zero


def test_nothing_heard_is_an_error(tmp_path, ros_domain, monkeypatch, capfd):
    monkeypatch.setattr(record, "time", SimpleNamespace(monotonic=iter([0.0, 5.0, 5.1]).__next__))
    looks, warned = iter((lambda: None, lambda: signal.raise_signal(signal.SIGTERM))), []
    monkeypatch.setattr(record, "show_status", lambda *_: warned.append(capfd.readouterr().err) or next(looks)())
    assert main(["record", str(tmp_path / "none.mcap")]) == 2
    assert warned == ["", ""]  # after five seconds, not before
    first, last = capfd.readouterr().err.splitlines()
    assert first == "no joint state on /joint_states yet; Ctrl-C ends" and "no joint state came" in last
    assert not (tmp_path / "none.mcap").exists()


def test_faults_of_a_recording_in_words_and_parameters_that_help(arm, tmp_path, capsys):
    for fault in ("degrees", "reaction", "unset_stamps", "no_frame"):
        arm = planted(fault, arm)
    write(arm, tmp_path / "arm.mcap")
    files = ["--parameters", str(tmp_path / "arm.yaml"), "--json", str(tmp_path / "arm.json")]
    assert main(["check", str(tmp_path / "arm.mcap"), "--urdf", "icub", *files]) == 1
    shown = capsys.readouterr().out.replace(str(tmp_path), "")
    records.check(__file__, "faults", [shown.splitlines(), json.loads((tmp_path / "arm.json").read_text())])
    values = yaml.safe_load((tmp_path / "arm.yaml").read_text())["inverse_dynamics"]["ros__parameters"]
    assert pick(Settings, values)  # raises if the node would refuse a value
    records.check(__file__, "parameters", values)


def test_a_sound_recording_is_recognized_by_its_joints_or_the_urdf_beside_it(arm, tmp_path, monkeypatch, capsys):
    write(arm, tmp_path / "arm.npz")
    monkeypatch.chdir(tmp_path)
    for urdf in ("icub", str(tmp_path / "arm.urdf")):
        assert main(["check", "arm.npz"]) == 0
        shown = capsys.readouterr().out
        said = ("nothing wrong was found", f"  urdf: {urdf}\n", "  sensor: l_arm_ft_sensor\n")
        assert all(part in shown for part in said)
        shutil.copy(ICUB, "arm.urdf")
    write(replace(arm, joint_names=tuple("abcdefg")), tmp_path / "unknown.npz")
    assert main(["check", "unknown.npz"]) == 2
    assert "--urdf" in (shown := capsys.readouterr().err) and shown.count("\n") == 1


def test_a_running_robot(arm, tmp_path, ros_domain, start_process, interrupted_after, monkeypatch, capfd):
    """The robot is a replayed recording, so its timestamps are those of another day."""
    set_limits(assign=monkeypatch.setattr)
    write(planted("degrees", arm), tmp_path / "arm.mcap")
    interrupted_after(300, 300)
    start_process(*CLI, "replay", str(tmp_path / "arm.mcap"), "--wait", "240", "--rate", "4")
    assert main(["check", "--duration", "240"]) == 1
    shown = capfd.readouterr().out
    assert all(part in shown for part in ("2 wrong: clock, degrees", "right qos", "    urdf: icub\n"))


def test_silence_names_other_topics(played, tmp_path, ros_domain, start_process, capfd, monkeypatch):
    found = RobotListener.other_joint_states
    monkeypatch.setattr(RobotListener, "other_joint_states", lambda self: wait_until(lambda: found(self), "a topic"))
    monkeypatch.setattr(command, "PATIENCE", 0.1)
    start_process(*CLI, "replay", f"{tmp_path}/played.mcap", "--wait", "240", "--joint-states", "/left/joint_states")
    assert main(["check", "--urdf", "icub"]) == 2
    shown = capfd.readouterr().err
    assert "no joint state came on /joint_states within 0.1 s" in shown and "/left/joint_states" in shown
