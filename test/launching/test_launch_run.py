"""Systems by `icub-learning launch` and by ROS 2's own launch, with the real nodes: all work, and all end. launch and
launch_ros come from a ROS 2 installation, or from the folder ICUB_LEARNING_LAUNCH (tools/real_launch)."""

import importlib.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from helpers.gazebo_servers import needs_gazebo, servers, use
from helpers.node_probe import NodeProbe
from helpers.processes import nodes_in
from helpers.robots import ARM, RIGHT_ARM, UR10_JOINTS
from helpers.ros_probe import RosProbe
from helpers.waiting import wait_until
from sensor_msgs.msg import JointState

from icub_learning.errors import ParameterError
from icub_learning.launching.commands import find_executable
from icub_learning.launching.table import SYSTEMS
from icub_learning.nodes.common.conversions import set_wrench
from icub_learning_msgs.msg import DynamicsPrediction

FOLDER = os.environ.get("ICUB_LEARNING_LAUNCH", "")
HAS_LAUNCH = bool(FOLDER) or importlib.util.find_spec("launch_ros") is not None
NEEDS_LAUNCH = pytest.mark.skipif(not HAS_LAUNCH, reason="no launch_ros: source a ROS 2, or see tools/real_launch")
GAZEBO = pytest.param("gazebo", marks=needs_gazebo)
ROS2 = pytest.param("ros2 launch", marks=[pytest.mark.slow, NEEDS_LAUNCH])
pytestmark = [pytest.mark.ros, pytest.mark.xdist_group("alone")]


@pytest.fixture(params=["icub-learning launch", ROS2])
def launch(request, ros_domain, checkout, tmp_path, start_process, monkeypatch):
    """Start a system, as in launch("robot", "robot:=ur10"); at the end no node of it may be left."""
    try:
        nodes = Path(find_executable("icub_learning", "inverse_dynamics_node")).parent
    except ParameterError as error:
        pytest.skip(f"runs from the source folder: {error}")
    if request.param == "ros2 launch":
        prefix = tmp_path / "prefix"  # has the package as colcon installs it; an editable installation has no share/
        share, index = prefix / "share", prefix / "share" / "ament_index" / "resource_index" / "packages"
        index.mkdir(parents=True)
        (index / "icub_learning").touch()
        (prefix / "lib").mkdir()
        (share / "icub_learning").symlink_to(checkout)
        (prefix / "lib" / "icub_learning").symlink_to(nodes)
        for name, value in (("PYTHONPATH", FOLDER), ("AMENT_PREFIX_PATH", f"{prefix}{os.pathsep}{sys.prefix}")):
            monkeypatch.setenv(name, os.pathsep.join(filter(None, [value, os.environ.get(name, "")])))
        monkeypatch.setenv("ROS_LOG_DIR", str(tmp_path / "log"))
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
        # -u: an interpreter of its own, which finds launch_ros on PYTHONPATH
        program = ("-u", str(checkout / "test" / "helpers" / "ros2_launch.py"))
        folder = share / "icub_learning" / "launch"
        names = {system: str(folder / described.launch_file) for system, described in SYSTEMS.items()}
    else:
        program, names = ("-m", "icub_learning.cli", "launch"), {system: system for system in SYSTEMS}
    yield lambda system, *assignments: start_process(sys.executable, *program, names[system], *assignments)
    wait_until(lambda: not nodes_in(ros_domain), "the end of all nodes")


def end(process):
    """End a system with Ctrl-C."""
    assert process.stop(signal.SIGINT) == 0, process.output
    assert "Traceback" not in process.output and "process has died" not in process.output


def test_simulation(ros_domain, launch):
    with NodeProbe(RIGHT_ARM) as probe:
        process = launch("simulation", "log_level:=warn")
        probe.until(lambda: len(probe.predictions) >= 100, "predictions")
        probe.until(lambda: len(probe.outputs["external"]) >= 20, "wrenches that are paired with states")
        assert len(nodes_in(ros_domain)) == 2
        stamps = probe.stamps()
        assert len(set(stamps)) == len(stamps)
        end(process)


def test_recording(launch, shared_data):
    recording = shared_data / "ur10" / "ur10_exciting_trajectory.db3"
    with NodeProbe(UR10_JOINTS) as probe:
        process = launch("recording", f"recording:={recording}", "robot:=ur10", "rate:=4", "log_level:=warn")
        probe.until(lambda: not process.running, "its end")
    assert process.wait() == 0, process.output
    assert len(probe.predictions) > 100 and len(probe.outputs["external"]) > 100
    assert "[player] is done" in process.output or "process has finished cleanly" in process.output


class FaultyIcub(RosProbe):
    """Both arms as ROS 2 drivers publish them: wrenches without usable stamps and without a frame."""

    def open(self) -> None:
        """Make publishers and subscriptions for both arms."""
        self.predictions, self.external, self._publishers = {}, {}, {}  # keys: "right", "left"
        for side in ("right", "left"):
            self.predictions[side] = self.hear(DynamicsPrediction, f"/{side}_arm_dynamics/prediction")
            self.external[side] = self.hear(WrenchStamped, f"/{side}_arm_dynamics/external_wrench")
            states = self.node.create_publisher(JointState, f"/{side}_arm/joint_states", 10)
            self._publishers[side] = states, self.node.create_publisher(WrenchStamped, f"/{side}_arm/wrench", 10)
        self.node.create_timer(0.02, self._publish)  # as often as the drivers publish
        self._began = time.monotonic()

    def _publish(self) -> None:
        phase = np.arange(len(ARM)) + np.array([1.0, 1.3, 0.7, 1.9, 0.5, 1.1, 0.9]) * (time.monotonic() - self._began)
        for side, (states, wrenches) in self._publishers.items():
            state = JointState(name=[f"{side[0]}_{joint}" for joint in ARM], position=(0.3 * np.sin(phase)).tolist())
            state.header.stamp = self.node.get_clock().now().to_msg()
            states.publish(state)
            wrench = WrenchStamped()
            wrench.header.stamp.sec = -(2**31)  # a time that is not set
            set_wrench(wrench.wrench, np.sin(phase[:6]))
            wrenches.publish(wrench)

    def wait(self, count: int) -> None:
        """Wait until `count` predictions and external wrenches of each side have come."""
        answers = (*self.predictions.values(), *self.external.values())
        self.until(lambda: min(map(len, answers)) >= count, f"{count} answers of each node")


def test_both_arms_of_an_icub_at_once(ros_domain, launch):
    with FaultyIcub() as robot:
        process = launch("icub", "log_level:=warn")
        robot.wait(20)
        assert len(nodes_in(ros_domain)) == 2
        for side in ("right", "left"):
            assert {one.header.frame_id for one in robot.external[side]} == {f"{side[0]}_upper_arm"}
            names = [f"{kind}.{axis}" for kind in ("force", "torque") for axis in "xyz"]
            assert robot.predictions[side][-1].names == names
        end(process)


@pytest.mark.parametrize("launch", [ROS2], indirect=True)
@pytest.mark.parametrize("system", ["robot", "recognition", "objects", "detection", GAZEBO])
def test_all_nodes_of_a_system_work(system, launch, tmp_path, monkeypatch):
    if system == "gazebo":
        use(next(iter(servers().values())), tmp_path / "stand_in", monkeypatch)
    process = launch(system, *(["gz_args:=-rs"] if system == "gazebo" else []))
    nodes = {one.name for one in SYSTEMS[system].processes if one.is_node and one.package == "icub_learning"}
    with RosProbe() as probe:
        heard = probe.hear(DiagnosticArray, "/diagnostics")

        def all_heard() -> bool:
            return nodes <= {one.name.partition(":")[0].strip("/") for each in heard for one in each.status}

        probe.until(lambda: all_heard() or not process.running, f"diagnostics of {nodes}; {process.output}")
        assert all_heard(), process.output
    end(process)


@pytest.mark.slow
@NEEDS_LAUNCH
def test_arguments_are_shown_as_ros2_launch_shows_them(checkout):
    program = """import sys
from launch.launch_description_sources import get_launch_description_from_python_launch_file as read
for file in sys.argv[1:]:
    print(*sorted(one.name for one in read(file).get_launch_arguments()))"""
    files = [str(checkout / "launch" / system.launch_file) for system in SYSTEMS.values()]
    environment, line = {**os.environ, "PYTHONPATH": FOLDER}, [sys.executable, "-c", program, *files]
    shown = subprocess.run(line, env=environment, capture_output=True, text=True, check=True).stdout
    expected = [sorted(argument.name for argument in system.arguments) for system in SYSTEMS.values()]
    assert [line.split() for line in shown.splitlines()] == expected
