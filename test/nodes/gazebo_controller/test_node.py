"""The node that moves a robot in Gazebo, with a stand-in for Gazebo that follows its targets exactly."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")
from helpers.node_probe import MANY, NodeProbe
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from icub_learning.nodes.common.trajectories import trajectory_points

JOINTS = ("r_shoulder_pitch", "r_shoulder_roll", "r_shoulder_yaw", "r_elbow", "r_wrist_prosup", "r_wrist_pitch",
          "r_wrist_yaw")  # fmt: skip
STEP = 0.001  # [s]
ELBOW = JOINTS.index("r_elbow")
HOME = np.array([0.0, 0.0, 0.0, 0.2617993877991494, 0.0, 0.0, 0.0])


class Gazebo:
    """Follows targets exactly, one step of the physics after the other, as fast as it is asked to."""

    def __init__(self, probe: NodeProbe) -> None:
        self.probe = probe
        self.commands: list[dict[str, Any]] = []
        probe._node.create_subscription(JointTrajectory, "/gazebo/joint_trajectory", self._command, MANY)
        self.send = probe._node.create_publisher(JointTrajectory, "/joint_trajectory", MANY)
        self.position, self.velocity = np.zeros(len(JOINTS)), np.zeros(len(JOINTS))
        self.left = np.zeros((0, len(JOINTS)))
        self.step, self.path = 1000, []

    def _command(self, message: JointTrajectory) -> None:
        assert tuple(message.joint_names) == JOINTS
        self.commands.append(trajectory_points(message))
        self.left = np.array(self.commands[-1]["positions"])

    def run(self, seconds: float) -> None:
        """Let simulated time pass; a joint state every 5 ms."""
        for _ in range(round(seconds / STEP / 5)):
            for _ in range(5):
                target = self.left[0] if len(self.left) else self.position
                self.left = self.left[1:]
                self.velocity, self.position = (target - self.position) / STEP, target
                self.step += 1
                self.path.append(target)
            stamp = round(self.step * STEP * 1e9)
            self.probe.state(stamp, position=self.position, velocity=self.velocity)
            self.probe.spin(0.001)

    def command(self, times: list[float], rows: list[list[float]], names: tuple[str, ...] = ("r_elbow",)) -> None:
        message = JointTrajectory(joint_names=list(names))
        for time, row in zip(times, rows, strict=True):
            point = JointTrajectoryPoint(positions=row)
            point.time_from_start.sec, point.time_from_start.nanosec = divmod(round(time * 1e9), 10**9)
            message.points.append(point)
        before = len(self.commands)
        self.send.publish(message)
        self.probe.spin_until(lambda: len(self.commands) > before, 3.0)


@pytest.fixture
def gazebo(start_node, checkout: Path) -> Iterator[Gazebo]:
    start_node("gazebo_controller", config=str(checkout / "config" / "gazebo.yaml"))
    with NodeProbe(JOINTS) as probe:
        made = Gazebo(probe)
        assert probe.spin_until(
            lambda: made.send.get_subscription_count() and probe._states.get_subscription_count()
            and probe._node.count_publishers("/gazebo/joint_trajectory")
        )  # fmt: skip
        probe.spin(0.5)
        yield made


def test_it_goes_home_then_follows_and_brakes_before_it_begins_anew(gazebo: Gazebo) -> None:
    gazebo.run(0.1)
    assert gazebo.probe.spin_until(lambda: len(gazebo.commands) == 1)  # the elbow begins beyond its limit
    gazebo.run(1.5)
    np.testing.assert_allclose(gazebo.position, HOME, atol=1e-6)

    gazebo.command([1.0, 1.001], [[0.4], [1.4]])  # two points one radian apart
    times = gazebo.commands[-1]["times"]
    np.testing.assert_allclose(times, STEP * np.arange(1, len(times) + 1))
    gazebo.run(0.7)
    gazebo.command([2.0], [[0.8]])  # while it moves: it brakes, and then goes there
    braking = len(gazebo.commands)
    gazebo.run(4.0)
    assert len(gazebo.commands) == braking + 1
    path = np.array(gazebo.path)
    assert np.abs(np.diff(path, axis=0)).max() / STEP <= 4.0 * 1.01
    np.testing.assert_allclose(gazebo.position[ELBOW], 0.8, atol=1e-6)


def test_what_cannot_be_followed_is_refused_and_changes_nothing(gazebo: Gazebo) -> None:
    gazebo.run(0.1)
    assert gazebo.probe.spin_until(lambda: len(gazebo.commands) == 1)
    gazebo.run(1.5)
    gazebo.command([1.0], [[3.0]])  # beyond the joint's limit
    gazebo.command([1.0], [[0.5]], ("l_elbow",))
    gazebo.command([1.0, 2.0], [[0.5], [0.5, 0.6]])  # points of different sizes
    gazebo.run(0.5)
    assert len(gazebo.commands) == 1
    gazebo.command([1.0], [[0.5]])
    assert len(gazebo.commands) == 2


def test_a_trajectory_from_before_the_first_joint_state_is_followed_after_it(gazebo: Gazebo) -> None:
    gazebo.command([1.0], [[0.8]])
    assert not gazebo.commands
    gazebo.run(1.5)  # the joints move to their limits first
    gazebo.run(3.0)
    assert len(gazebo.commands) == 2
    np.testing.assert_allclose(gazebo.position[ELBOW], 0.8, atol=1e-6)


def test_a_trajectory_that_was_lost_is_made_up_for(gazebo: Gazebo) -> None:
    gazebo.run(0.1)
    assert gazebo.probe.spin_until(lambda: len(gazebo.commands) == 1)
    gazebo.left = gazebo.left[:0]  # Gazebo never got it
    gazebo.run(3.0)
    assert gazebo.probe.spin_until(lambda: len(gazebo.commands) == 2)
    gazebo.run(3.0)
    np.testing.assert_allclose(gazebo.position, HOME, atol=1e-6)
    assert len(gazebo.commands) == 2


def test_nothing_is_sent_before_somebody_takes_it(start_node, checkout: Path) -> None:
    start_node("gazebo_controller", config=str(checkout / "config" / "gazebo.yaml"))
    with NodeProbe(JOINTS) as probe:
        assert probe.spin_until(lambda: probe._states.get_subscription_count() > 0)
        probe.spin(0.5)
        zeros = np.zeros(len(JOINTS))
        for step in range(20):
            probe.state(1_000_000_000 + step * 5_000_000, position=zeros, velocity=zeros)
            probe.spin(0.01)
        late = Gazebo(probe)
        assert probe.spin_until(lambda: probe._node.count_publishers("/gazebo/joint_trajectory") > 0)
        probe.spin(0.5)
        late.step = 2000
        late.run(0.1)
        assert probe.spin_until(lambda: len(late.commands) == 1)
        late.run(2.0)
        np.testing.assert_allclose(late.position, HOME, atol=1e-6)
