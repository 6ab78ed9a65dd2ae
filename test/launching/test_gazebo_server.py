"""The system `gazebo` on real servers: what it publishes, what is learned from it, and its end."""

import fcntl
import json
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from helpers.gazebo_servers import needs_gazebo, servers, use
from helpers.node_probe import NodeProbe
from helpers.ros_probe import MANY
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

SERVERS = servers()
pytestmark = [needs_gazebo, pytest.mark.xdist_group("alone")]
RELEASES = list(SERVERS) or ["none"]


@pytest.fixture(params=RELEASES)
def gazebo(request, tmp_path, monkeypatch):
    """A server's environment for this process and its children, with ros_gz_bridge or its stand-in."""
    use(SERVERS[request.param], tmp_path / "stand_in", monkeypatch)
    with open(Path(tempfile.gettempdir(), "icub_learning_gazebo.lock"), "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one server at a time: it takes more than a core
        yield request.param


def check(checkout: Path, tmp_path: Path, *options: str) -> dict[str, float]:
    """Run tools/gazebo_check; return its figures."""
    file = tmp_path / "figures.json"
    line = [sys.executable, str(checkout / "tools" / "gazebo_check"), "--json", str(file), *options]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert file.is_file(), done.stdout + done.stderr
    print(done.stdout)
    (figures,) = json.loads(file.read_text())["launches"]
    return figures


def common(figures: dict[str, float]) -> None:
    """Assert what holds for every robot and server."""
    assert figures["joint states in simulated time"] == 200.0 and figures["wrenches in simulated time"] == 200.0
    assert figures["wrench in the axes of the sensor's frame (1: yes)"] == 1.0
    assert all(figures[f"wrench against rigid bodies {how}, relative"] < 1e-9 for how in ("at rest", "in motion"))
    assert figures["joint states with their wrench, one step later"] > 0.9  # queues are short
    # The trial keeps clear of the joint limits: it uses three fifths of the range of narrow joints, in a few seconds.
    assert 0.1 < figures["largest velocity, relative to its limit"] < 1.05
    assert not any("never changed" in text for text in figures["texts"])


def test_the_arm_is_learned_in_twenty_seconds(gazebo: str, checkout: Path, tmp_path: Path) -> None:
    common(figures := check(checkout, tmp_path, "--rest", "2", "--seconds", "20"))
    assert figures["force measured, RMS"] > 9.0
    assert max(figures["force error of SP, RMS"], figures["force error of P, RMS"]) < 0.1
    assert 0.99 < figures["sum of learned masses, relative to the model's"] < 1.01


@pytest.mark.parametrize("robot", ["icub_left_arm", "panda"])
def test_another_robot_by_one_argument(gazebo: str, robot: str, checkout: Path, tmp_path: Path) -> None:
    if robot == "panda" and gazebo != RELEASES[0]:
        pytest.skip("on one server only, for the sake of time")
    common(figures := check(checkout, tmp_path, "--robot", robot, "--rest", "1", "--seconds", "6"))
    assert figures["force measured, RMS"] > 4.0


def test_a_launch_follows_points_far_apart_and_ends_cleanly(gazebo, checkout, start_process, ros_domain, monkeypatch):
    launch = start_process(sys.executable, "-m", "icub_learning.cli", "launch", "gazebo", "gz_args:=-rs")
    with NodeProbe(("r_elbow",)) as probe:
        states = probe.hear(JointState, "/joint_states")
        commands = probe.node.create_publisher(JointTrajectory, "/joint_trajectory", MANY)
        probe.until(lambda: len(states) > 300 and commands.get_subscription_count(), f"states; {launch.output}")
        message = JointTrajectory(joint_names=["r_elbow"])
        for milliseconds, position in ((500, 0.4), (501, 1.4)):
            point = JointTrajectoryPoint(positions=[position])
            point.time_from_start.nanosec = milliseconds * 1_000_000
            message.points.append(point)
        commands.publish(message)
        begin = len(states)

        def elbow(field: str) -> np.ndarray:
            return np.array([getattr(one, field)[list(one.name).index("r_elbow")] for one in states[begin:]])

        def arrived() -> bool:
            return len(states) > begin + 200 and bool(np.abs(elbow("position")[-100:] - 1.4).max() < 0.002)

        probe.until(arrived, "the elbow at its last point")
        assert np.abs(elbow("velocity")).max() < 4.0 * 1.05  # [rad/s], the controller's limit
        assert elbow("position").max() < 1.45
        probe.until(lambda: len(probe.predictions) > 100, "predictions")
    assert launch.stop(signal.SIGINT) == 0, launch.output
    assert "followed more slowly" in launch.output and "killed" not in launch.output
