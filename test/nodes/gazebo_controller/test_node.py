"""The node that moves a robot in Gazebo, with a stand-in for Gazebo that follows its targets exactly."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.robots import RIGHT_ARM as JOINTS
from helpers.ros_probe import MANY, RosProbe
from helpers.waiting import wait_until
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from icub_learning.nodes.common.conversions import set_stamp
from icub_learning.nodes.common.trajectories import trajectory_points

STEP = 0.001  # [s] step of the physics
STEPS = 5  # steps from one joint state to the next
AT_ONCE = 4  # joint states between two requests for the node's state: fewer than its queue holds
ELBOW, HOME = JOINTS.index("r_elbow"), np.array([0.0, 0.0, 0.0, 0.2617993877991494, 0.0, 0.0, 0.0])


class Gazebo(RosProbe):
    """A Gazebo that follows targets exactly, step by step, as fast as the node takes joint states in. It asks the node
    for its state: the answer comes after all commands that earlier messages cause."""

    def __init__(self) -> None:
        super().__init__("/gazebo_controller", "trajectories")
        self.commands: list[dict[str, Any]] = []
        self.position, self.velocity = np.zeros(len(JOINTS)), np.zeros(len(JOINTS))
        self.left = np.zeros((0, len(JOINTS)))
        self.step, self.path = 1000, [self.position]

    def open(self) -> None:
        self.states = self.node.create_publisher(JointState, "/joint_states", MANY)
        self.trajectories = self.node.create_publisher(JointTrajectory, "/joint_trajectory", MANY)

    def listen(self) -> None:
        """Take commands from now on."""
        self.node.create_subscription(JointTrajectory, "/gazebo/joint_trajectory", self._command, MANY)
        self.matched(self.states, self.trajectories, topics=("/gazebo/joint_trajectory",))

    def _command(self, message: JointTrajectory) -> None:
        assert tuple(message.joint_names) == JOINTS
        self.commands.append(trajectory_points(message))
        self.left = np.array(self.commands[-1]["positions"])

    def run(self, seconds: float) -> None:
        """Let simulated time pass."""
        for number in range(round(seconds / STEP / STEPS)):
            for _ in range(STEPS):
                target = self.left[0] if len(self.left) else self.position
                self.left = self.left[1:]
                self.velocity, self.position = (target - self.position) / STEP, target
                self.step += 1
                self.path.append(target)
            message = JointState(name=JOINTS, position=self.position.tolist(), velocity=self.velocity.tolist())
            set_stamp(message.header.stamp, round(self.step * STEP * 1e9))
            self.states.publish(message)
            if number % AT_ONCE == 0:
                self.state()
        self.state()

    def run_until_sent(self, count: int) -> None:
        """Let simulated time pass until `count` commands have come in all."""
        wait_until(lambda: len(self.commands) >= count, f"command {count}", lambda: self.run(0.02))
        assert len(self.commands) == count

    def command(self, times: list[float], rows: list[list[float]], names: tuple[str, ...] = ("r_elbow",)) -> None:
        """Send a trajectory, and wait until the node has handled it."""
        message = JointTrajectory(joint_names=list(names))
        for time, row in zip(times, rows, strict=True):
            point = JointTrajectoryPoint(positions=row)
            point.time_from_start.sec, point.time_from_start.nanosec = divmod(round(time * 1e9), 10**9)
            message.points.append(point)
        self.trajectories.publish(message)
        self.state()


@pytest.fixture
def silent(node_here, checkout: Path) -> Iterator[Gazebo]:
    """A Gazebo that does not take commands yet."""
    node_here("gazebo_controller", config=str(checkout / "config" / "gazebo.yaml"))
    with Gazebo() as made:
        yield made


@pytest.fixture
def gazebo(silent: Gazebo) -> Gazebo:
    silent.listen()
    return silent


def test_it_goes_home_then_follows_and_brakes_before_it_begins_anew(gazebo: Gazebo) -> None:
    gazebo.run_until_sent(1)  # the elbow begins beyond its limit
    gazebo.run(1.5)
    np.testing.assert_allclose(gazebo.position, HOME, atol=1e-6)
    gazebo.command([1.0, 1.001], [[0.4], [1.4]])  # two points one radian apart
    gazebo.until(lambda: len(gazebo.commands) == 2)
    times = gazebo.commands[-1]["times"]
    np.testing.assert_allclose(times, STEP * np.arange(1, len(times) + 1))
    gazebo.run(0.7)
    gazebo.command([2.0], [[0.8]])  # while it moves: it brakes, and then goes there
    gazebo.until(lambda: len(gazebo.commands) == 3)
    gazebo.run(4.0)
    gazebo.report(lambda _: gazebo.message == "holding", "of an arm at rest")
    assert len(gazebo.commands) == 4 and np.abs(np.diff(gazebo.path, axis=0)).max() / STEP <= 4.0 * 1.01
    np.testing.assert_allclose(gazebo.position[ELBOW], 0.8, atol=1e-6)


def test_what_cannot_be_followed_is_refused_and_changes_nothing(gazebo: Gazebo) -> None:
    gazebo.run_until_sent(1)
    gazebo.run(1.5)
    gazebo.command([1.0], [[3.0]])  # beyond the joint's limit
    gazebo.command([1.0], [[0.5]], ("l_elbow",))
    gazebo.command([1.0, 2.0], [[0.5], [0.5, 0.6]])  # points of different sizes
    gazebo.report(lambda values: values["trajectories refused"] == "3", "of three refusals")
    assert len(gazebo.commands) == 1
    gazebo.command([1.0], [[0.5]])
    gazebo.until(lambda: len(gazebo.commands) == 2)


def test_an_arm_within_its_limits_follows_from_where_it_is_and_then_from_its_last_target(gazebo: Gazebo) -> None:
    target = np.where(np.arange(len(JOINTS)) == ELBOW, 0.8, HOME)
    for number, (start, end) in enumerate(((HOME, 0.8), (target, 0.5)), 1):
        gazebo.position = start + 0.005 * (number - 1)  # it sags a little: no reason to jump there
        gazebo.run(0.1)
        gazebo.command([1.0], [[end]])
        gazebo.until(lambda number=number: len(gazebo.commands) == number)
        np.testing.assert_allclose(gazebo.commands[-1]["positions"][0], start, atol=1e-4)
        gazebo.run(1.5)


def test_a_trajectory_from_before_the_first_joint_state_is_followed_after_it(gazebo: Gazebo) -> None:
    gazebo.command([1.0], [[0.8]])
    assert not gazebo.commands
    gazebo.run_until_sent(2)  # the joints move to their limits first
    gazebo.run(1.5)
    assert len(gazebo.commands) == 2
    np.testing.assert_allclose(gazebo.position[ELBOW], 0.8, atol=1e-6)


def test_a_trajectory_that_was_lost_is_made_up_for(gazebo: Gazebo) -> None:
    gazebo.run_until_sent(1)
    gazebo.left = gazebo.left[:0]  # Gazebo never got it
    gazebo.run_until_sent(2)
    gazebo.run(1.5)
    np.testing.assert_allclose(gazebo.position, HOME, atol=1e-6)
    assert len(gazebo.commands) == 2


def test_nothing_is_sent_before_somebody_takes_it(silent: Gazebo) -> None:
    silent.matched(silent.states)
    silent.run(0.1)
    silent.listen()
    assert not silent.commands
    silent.run_until_sent(1)
    silent.run(2.0)
    np.testing.assert_allclose(silent.position, HOME, atol=1e-6)
