"""The `check` command: its sentences, its exit codes, and a parameter file that the node accepts."""

import json
import shutil
import sys
from dataclasses import replace

import pytest
import yaml
from helpers.limits import set_limits
from helpers.planted_faults import planted
from helpers.robots import ICUB
from helpers.ros_probe import RosProbe
from helpers.sound_robots import cut, zoo_robot
from helpers.waiting import wait_until
from sensor_msgs.msg import JointState

from icub_learning.cli.check import command
from icub_learning.cli.main import main
from icub_learning.clients.robot_listener import RobotListener
from icub_learning.dynamics.settings import Settings
from icub_learning.recording import write
from icub_learning.settings import pick


@pytest.fixture(scope="module")
def arm():
    return cut(zoo_robot("icub_left_arm_wrench_100hz").recording, 3.0, 8.0)


def test_faults_of_a_recording_in_words_and_parameters_that_help(arm, tmp_path, capsys):
    for fault in ("degrees", "reaction", "unset_stamps", "no_frame"):
        arm = planted(fault, arm)
    write(arm, tmp_path / "arm.mcap")
    files = ["--parameters", str(tmp_path / "arm.yaml"), "--json", str(tmp_path / "arm.json")]
    assert main(["check", str(tmp_path / "arm.mcap"), "--urdf", "icub", *files]) == 1
    shown = capsys.readouterr().out
    assert "WRONG degrees          positions look like degrees" in shown
    assert f"\n{'':23}-> publish radians (REP-103)" in shown
    assert "4 wrong: stamps_unset, degrees, frame, gravity" in shown
    assert json.loads((tmp_path / "arm.json").read_text())["faults"] == ["stamps_unset", "degrees", "frame", "gravity"]
    values = yaml.safe_load((tmp_path / "arm.yaml").read_text())["inverse_dynamics"]["ros__parameters"]
    assert pick(Settings, values)  # raises if the node would refuse a value
    expected = {
        "urdf": "icub", "output": "wrench", "sensor": "l_arm_ft_sensor", "frame_id": "l_upper_arm",
        "stamp_source": "arrival", "wrench_direction": "child_to_parent", "joints": list(arm.joint_names),
    }  # fmt: skip
    assert {name: values[name] for name in expected} == expected and "friction" not in values


def test_a_sound_recording_is_recognized_by_its_joints_or_the_urdf_beside_it(arm, tmp_path, monkeypatch, capsys):
    write(arm, tmp_path / "arm.npz")
    monkeypatch.chdir(tmp_path)
    for urdf in ("icub", str(tmp_path / "arm.urdf")):
        assert main(["check", "arm.npz"]) == 0
        shown = capsys.readouterr().out
        for part in ("nothing wrong was found", f"  urdf: {urdf}\n", "  sensor: l_arm_ft_sensor\n"):
            assert part in shown
        shutil.copy(ICUB, "arm.urdf")


def test_a_robot_that_nobody_knows_is_asked_for(arm, tmp_path, capsys):
    write(replace(arm, joint_names=tuple("abcdefg")), tmp_path / "arm.npz")
    assert main(["check", str(tmp_path / "arm.npz")]) == 2
    assert "--urdf" in (shown := capsys.readouterr().err) and shown.count("\n") == 1


def test_a_running_robot(arm, tmp_path, ros_domain, start_process, interrupted_after, monkeypatch, capfd):
    """The robot is a replayed recording, so its timestamps are those of another day."""
    set_limits(assign=monkeypatch.setattr)
    write(planted("degrees", arm), tmp_path / "arm.mcap")
    interrupted_after(300, 300)
    replay = ("replay", str(tmp_path / "arm.mcap"), "--wait", "240", "--rate", "4")
    start_process(sys.executable, "-m", "icub_learning.cli", *replay)
    assert main(["check", "--duration", "240"]) == 1
    shown = capfd.readouterr().out
    assert all(part in shown for part in ("2 wrong: clock, degrees", "right qos", "    urdf: icub\n"))


def test_silence_names_other_topics(ros_domain, capfd, monkeypatch):
    found = RobotListener.other_joint_states
    monkeypatch.setattr(RobotListener, "other_joint_states", lambda self: wait_until(lambda: found(self), "a topic"))
    monkeypatch.setattr(command, "PATIENCE", 0.1)
    with RosProbe() as driver:
        driver.node.create_publisher(JointState, "/left/joint_states", 1)
        assert main(["check", "--urdf", "icub"]) == 2
    shown = capfd.readouterr().err
    assert "no joint state came on /joint_states within 0.1 s" in shown and "/left/joint_states" in shown
