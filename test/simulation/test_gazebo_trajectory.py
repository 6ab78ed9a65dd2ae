"""Trajectories for Gazebo: within the limits whatever is commanded, and unchanged where nothing exceeds them."""

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icub_learning.errors import IcubLearningError
from icub_learning.robots import find_urdf, read_urdf
from icub_learning.simulation.gazebo_model import model_file
from icub_learning.simulation.gazebo_trajectory import LONGEST, STEP, Commands, Joints, brake, follow, joints_of

JOINTS = Joints(("a", "b"), np.array([-1.5, -0.5]), np.array([1.5, 2.0]), np.array([2.0, 4.0]), np.array([40.0, 20.0]))
START, NAN = np.array([0.2, 0.0]), float("nan")


def derivatives(commands: Commands) -> tuple[np.ndarray, np.ndarray]:
    """Return velocities and accelerations between the targets, from rest to rest."""
    positions = np.vstack([START, START, commands.positions, commands.positions[-1]])
    return np.diff(positions, axis=0) / STEP, np.diff(positions, 2, axis=0) / STEP**2


@pytest.mark.parametrize(("spacing", "error"), [(0.02, 0.01), (0.05, 0.02), (0.1, 0.1)])
def test_points_within_the_limits_are_joined_smoothly(spacing: float, error: float) -> None:
    def wanted(times: np.ndarray) -> np.ndarray:
        ramp = np.sin(np.pi * times / 6.0) ** 4
        return START + ramp[:, None] * np.stack([0.3 * np.sin(5.0 * times), 0.3 * np.cos(3.0 * times)], axis=1)

    times = np.arange(1, round(6.0 / spacing) + 1) * spacing
    commands = follow(JOINTS, START, ["a", "b"], times, wanted(times))
    assert (commands.slower, commands.reason) == (1.0, "") == (Commands(START).slower, Commands(START).reason)
    steps = np.arange(1, 6001) * STEP
    np.testing.assert_allclose(commands.positions, wanted(steps), atol=2e-4)
    # Accelerations as well, of up to 9 rad/s^2: the learner differentiates what it sees.
    true = np.diff(wanted(steps), 2, axis=0) / STEP**2
    np.testing.assert_allclose(np.diff(commands.positions, 2, axis=0) / STEP**2, true, atol=error)


@pytest.mark.parametrize(
    ("times", "points"),
    [([1.0, 1.001], [0.2, 1.2]), ([0.0], [1.2]), ([0.001], [1.2]), ([1.0, 1.01, 1.02], [1.2, 0.2, 1.2])],
)
def test_points_one_radian_apart_are_reached_within_the_limits(times: list[float], points: list[float]) -> None:
    commands = follow(JOINTS, START, ["a"], times, np.array(points)[:, None])
    velocities, accelerations = derivatives(commands)
    assert np.abs(velocities[:, 0]).max() <= 2.0 * 1.001 and np.abs(accelerations[:, 0]).max() <= 40.0 * 1.01
    np.testing.assert_allclose(commands.positions[-1], [points[-1], 0.0], atol=1e-9)
    np.testing.assert_allclose(commands.positions[:, 1], START[1], atol=1e-12)  # the command does not name joint b
    assert commands.slower > 1.0 and "'a'" in commands.reason and len(commands.positions) * STEP < times[-1] + 3.0


POINTS = st.tuples(st.floats(0.001, 2.0), st.floats(-1.5, 1.5), st.floats(-0.5, 2.0))


@settings(deadline=None, max_examples=60)
@given(points=st.lists(POINTS, min_size=1, max_size=12), with_velocity=st.booleans())
def test_whatever_is_asked_for_stays_within_limits_and_ends_at_the_last_point(points, with_velocity):
    steps, *columns = np.array(points).T
    wanted = np.stack(columns, axis=1)
    velocities = np.clip(np.gradient(wanted, axis=0), -1.9, 1.9) if with_velocity and len(points) > 1 else None
    commands = follow(JOINTS, START, ["a", "b"], np.cumsum(steps), wanted, velocities)
    speed, acceleration = derivatives(commands)
    assert (np.abs(speed).max(axis=0) <= JOINTS.velocity * 1.02).all()
    assert (np.abs(acceleration).max(axis=0) <= JOINTS.acceleration * 1.1).all()
    assert ((commands.positions >= JOINTS.lower - 1e-4) & (commands.positions <= JOINTS.upper + 1e-4)).all()
    np.testing.assert_allclose(commands.positions[-1], wanted[-1], atol=1e-9)


def test_dense_points_that_end_in_motion_only_brake_at_the_end_and_a_moving_arm_brakes_within_its_limits():
    times = np.arange(1, 3001) * STEP
    phase = np.clip(times, 0, 1)
    ramp = phase**3 * (10 - 15 * phase + 6 * phase**2)
    wanted = START + ramp[:, None] * np.stack([0.3 * np.sin(5 * times), 0.2 * np.sin(3 * times)], axis=1)
    commands = follow(JOINTS, START, ["a", "b"], times, wanted)
    np.testing.assert_allclose(commands.positions[:2500], wanted[:2500], atol=1e-6)
    assert len(commands.positions) * STEP < 3.2 and np.abs(derivatives(commands)[1]).max() < 41.0
    position, velocity = np.array([0.5, 1.9]), np.array([1.8, 3.0])
    commands = brake(JOINTS, position, velocity)
    positions = np.vstack([position - velocity * STEP, position, commands.positions])
    np.testing.assert_allclose(np.diff(positions, axis=0)[1] / STEP, velocity, rtol=0.05)
    assert np.abs(np.diff(commands.positions[-3:], axis=0)).max() < 1e-5 and commands.positions[-1, 1] <= 2.0 + 1e-9


@pytest.mark.parametrize(("names", "times", "points", "words", "value"), [
    (["c"], [1.0], [[0.0]], "unknown joints", ("joint_names", ["c"])), (["a"], [1.0], [[NAN]], "nan", None),
    (["a"], [1.0, 1.0], [[0.0], [0.1]], "increase", ("times", 1.0)),
    (["b", "a"], [1.0], [[0.0, 1.6]], r"'a' at 1.6 rad: not within \[-1.5, 1.5\] rad", ("a", 1.6)),
    (["a"], [1.0, 2.0], [[0.0], [-1.6]], r"point 1 .*'a' at -1.6 rad: not within", ("a", -1.6)),
    (["a"], [1.0, LONGEST + 1.0], [[0.0]] * 2, "lasts 601 s, at most 600 s", ("times", LONGEST + 1.0)),
])  # fmt: skip
def test_bad_trajectories_are_refused_with_a_reason(names, times, points, words, value):
    with pytest.raises(IcubLearningError, match=words) as caught:
        follow(JOINTS, START, names, times, points)
    assert value in (None, (caught.value.name, caught.value.value))


@pytest.mark.parametrize("times", [[1.0], [1.0, 2.0]])
@pytest.mark.parametrize("velocity", [None, 0.1])
def test_a_first_point_at_time_0_counts_only_where_the_arm_is_not(times: list[float], velocity: float | None) -> None:
    points = 0.2 + np.array(times)[:, None] / 2
    velocities = None if velocity is None else np.full((3, 1), velocity)[-len(times) - 1 :]
    expected = follow(JOINTS, START, ["a"], times, points, velocities if velocity is None else velocities[1:])
    for away in (0.0, 0.0099, 0.0101):
        found = follow(JOINTS, START, ["a"], [0.0, *times], [[0.2 + away], *points], velocities)
        if away < 0.01:  # [rad]
            np.testing.assert_array_equal(found.positions, expected.positions)
        else:  # the way there takes a step or more
            assert len(found.positions) > len(expected.positions)


def test_limits_are_those_of_the_description_and_of_the_user(checkout: Path, tmp_path: Path) -> None:
    panda = joints_of(checkout / "config" / "gazebo_panda.yaml", 2.3, 40.0)
    np.testing.assert_allclose(panda.velocity, [2.175] * 4 + [2.3] * 3)
    assert panda.upper[3] < 0.0  # its own limit, although Gazebo's model admits 0
    icub = joints_of(checkout / "config" / "gazebo.yaml", 4.0, 40.0)
    np.testing.assert_allclose(icub.velocity, 4.0)  # [rad/s] the user's limit; the URDF has 50 000
    config = tmp_path / "unlimited.yaml"
    urdf = re.sub(r'velocity="[^"]*"', 'velocity="0"', Path(find_urdf("panda")).read_text())  # as some exporters write
    urdf = urdf.replace('name="panda_joint7" type="revolute"', 'name="panda_joint7" type="continuous"')
    (tmp_path / "unlimited.urdf").write_text(urdf)
    text = (checkout / "config" / "gazebo_panda.yaml").read_text()
    config.write_text(text.replace("urdf: panda", f"urdf: {tmp_path / 'unlimited.urdf'}"))
    made = joints_of(config, 2.3, 40.0)
    np.testing.assert_allclose(made.velocity, 2.3)
    assert np.isfinite(made.upper).tolist() == [True] * 6 + [False]  # continuous: limits that are written do not count
    limit = read_urdf(model_file(config)).find("joint[@name='panda_joint7']/limit")
    assert limit is not None and not {"lower", "upper"} & {*limit.attrib}
