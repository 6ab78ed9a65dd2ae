"""Launch files under ROS 2's own launch, with the real nodes: all become active and publish, and all end.

launch and launch_ros come from a ROS 2 installation, or from the folder ICUB_LEARNING_LAUNCH (tools/real_launch).
"""

import importlib.util
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from helpers.faulty_icub import FaultyIcub
from helpers.gazebo_servers import needs_gazebo, servers, use
from helpers.processes import Process, nodes_in
from helpers.robots import RIGHT_ARM
from helpers.ros_probe import RosProbe
from helpers.waiting import wait_until

from icub_learning.errors import ParameterError
from icub_learning.launching.commands import find_executable
from icub_learning.launching.table import SYSTEMS

FOLDER = os.environ.get("ICUB_LEARNING_LAUNCH", "")
HAS_LAUNCH = bool(FOLDER) or importlib.util.find_spec("launch_ros") is not None
pytestmark = [
    pytest.mark.slow,
    pytest.mark.ros,
    pytest.mark.xdist_group("alone"),
    pytest.mark.skipif(not HAS_LAUNCH, reason="no launch_ros: source a ROS 2, or see tools/real_launch"),
]


@pytest.fixture
def ros2_launch(ros_domain, checkout, tmp_path, start_process, monkeypatch) -> Callable[..., Process]:
    """Start the launch file of a system: ros2_launch("robot", "robot:=ur10")."""
    try:
        find_executable("icub_learning", "inverse_dynamics_node")
    except ParameterError as error:
        pytest.skip(f"runs from the source folder: {error}")
    prefix = installed(tmp_path / "prefix", checkout)
    for name, value in (("PYTHONPATH", FOLDER), ("AMENT_PREFIX_PATH", f"{prefix}{os.pathsep}{sys.prefix}")):
        monkeypatch.setenv(name, os.pathsep.join(filter(None, [value, os.environ.get(name, "")])))
    monkeypatch.setenv("ROS_LOG_DIR", str(tmp_path / "log"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def start(system: str, *assignments: str) -> Process:
        file = prefix / "share" / "icub_learning" / "launch" / SYSTEMS[system].launch_file
        # -u: an interpreter of its own, which finds launch_ros on PYTHONPATH
        return start_process(
            sys.executable, "-u", str(checkout / "test/helpers/ros2_launch.py"), str(file), *assignments
        )

    return start


def installed(prefix: Path, checkout: Path) -> Path:
    """Return a prefix that has the package as colcon installs it; an editable installation by pip has no share/."""
    index = prefix / "share" / "ament_index" / "resource_index" / "packages"
    index.mkdir(parents=True)
    (index / "icub_learning").touch()
    (prefix / "lib").mkdir()
    (prefix / "share" / "icub_learning").symlink_to(checkout)
    (prefix / "lib" / "icub_learning").symlink_to(
        Path(find_executable("icub_learning", "inverse_dynamics_node")).parent
    )
    return prefix


def diagnosed(system: str, process: Process) -> bool:
    """Wait until all nodes of a system have published diagnostics; whether they have before the launch ended."""
    with RosProbe() as probe:
        heard = probe.hear(DiagnosticArray, "/diagnostics")

        def all_heard() -> bool:
            return nodes_of(system) <= {one.name.partition(":")[0].strip("/") for each in heard for one in each.status}

        probe.until(lambda: all_heard() or not process.running, f"diagnostics of {nodes_of(system)}; {process.output}")
        return all_heard()


def nodes_of(system: str) -> set[str]:
    return {
        process.name for process in SYSTEMS[system].processes if process.is_node and process.package == "icub_learning"
    }


def ends(process: Process, domain: int) -> None:
    """The launch ends after Ctrl-C, and so do all its nodes."""
    process.stop(signal.SIGINT)
    wait_until(lambda: not nodes_in(domain), f"the end of all nodes; {process.output}")
    assert "process has died" not in process.output, process.output


@pytest.mark.parametrize("system", ["simulation", "robot", "recognition", "objects", "detection"])
def test_all_nodes_of_a_system_work_and_end(system: str, ros_domain: int, ros2_launch: Callable[..., Process]) -> None:
    process = ros2_launch(system)
    assert diagnosed(system, process), process.output
    ends(process, ros_domain)


def test_both_arms_of_a_faulty_icub_are_predicted_in_their_frames(ros_domain, ros2_launch):
    process = ros2_launch("icub")
    with FaultyIcub() as robot:
        robot.wait(50)
        for side in ("right", "left"):
            assert {one.header.frame_id for one in robot.external[side]} == {f"{side[0]}_upper_arm"}
            names = [f"{kind}.{axis}" for kind in ("force", "torque") for axis in "xyz"]
            assert robot.predictions[side][-1].names == names
        ends(process, ros_domain)


def test_a_recording_is_played_to_its_end(tmp_path: Path, ros_domain: int, ros2_launch: Callable[..., Process]) -> None:
    from icub_learning.recording import write
    from icub_learning.simulation import simulate

    recording = simulate([("circle_xy", 3.0)])
    assert set(recording.joint_names) <= set(RIGHT_ARM)
    write(recording, tmp_path / "arm.mcap")
    config = tmp_path / "arm.yaml"
    config.write_text(
        "inverse_dynamics:\n  ros__parameters:\n    urdf: icub\n    output: wrench\n    sensor: r_arm_ft_sensor\n"
        f"    joints: [{', '.join(recording.joint_names)}]\n"
    )
    process = ros2_launch("recording", f"recording:={tmp_path / 'arm.mcap'}", f"config:={config}")
    process.wait()
    assert "process has finished cleanly" in process.output, process.output
    assert not nodes_in(ros_domain)


@needs_gazebo
def test_gazebo(tmp_path, ros_domain, ros2_launch, monkeypatch):
    use(next(iter(servers().values())), tmp_path / "stand_in", monkeypatch)
    process = ros2_launch("gazebo", "gz_args:=-rs")
    assert diagnosed("gazebo", process), process.output
    ends(process, ros_domain)


def test_arguments_are_shown_as_ros2_launch_shows_them(checkout: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": FOLDER}
    program = (
        "import sys\n"
        "from launch.launch_description_sources import get_launch_description_from_python_launch_file as read\n"
        "print(*sorted(one.name for one in read(sys.argv[1]).get_launch_arguments()))"
    )
    for system in SYSTEMS.values():
        line = [sys.executable, "-c", program, str(checkout / "launch" / system.launch_file)]
        shown = subprocess.run(line, env=environment, capture_output=True, text=True, check=True)
        assert shown.stdout.split() == sorted(argument.name for argument in system.arguments)
