"""Trajectory messages made as bytes equal those that ROS makes."""

import numpy as np
import pytest
from rclpy.serialization import deserialize_message
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from icub_learning.nodes.common.trajectories import step_trajectory, trajectory_points


@pytest.mark.parametrize("names", [["a"], ["abc", "de"], ["abcd", "efghi", "j"], [f"joint_{k}" for k in range(7)]])
@pytest.mark.parametrize("n_points", [0, 1, 2, 1500])
def test_a_trajectory_of_steps_is_the_message_of_its_points(names: list[str], n_points: int) -> None:
    positions = np.random.default_rng(0).normal(size=(n_points, len(names)))
    expected = JointTrajectory(joint_names=names)
    for k, row in enumerate(positions, start=1):
        point = JointTrajectoryPoint(positions=row.tolist())
        point.time_from_start.sec, point.time_from_start.nanosec = divmod(k * 1_000_000, 10**9)
        expected.points.append(point)
    made = deserialize_message(step_trajectory(names, 1_000_000, positions), JointTrajectory)
    assert made == expected
    if n_points:
        numbers = trajectory_points(made)
        np.testing.assert_array_equal(numbers["positions"], positions)
        np.testing.assert_allclose(numbers["times"], 0.001 * np.arange(1, n_points + 1))
        assert numbers["velocities"] is None
