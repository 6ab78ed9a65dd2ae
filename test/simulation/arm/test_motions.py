"""Reference motions: circles, random motion, blends and commanded trajectories."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.arm_steps import hand_position, steps
from scipy.interpolate import CubicSpline

from icub_learning.errors import NotFiniteError, ShapeError, SimulationError
from icub_learning.simulation import ArmSimulation, SimulationSettings
from icub_learning.simulation.arm.arm_model import ArmModel
from icub_learning.simulation.arm.circles import circle, solve_circle_path
from icub_learning.simulation.arm.motions import Blend, task_motions
from icub_learning.simulation.arm.quintic import QuinticSpline, hermite_accelerations, spline_velocities
from icub_learning.simulation.arm.trajectory import TrajectoryMotion

RIGHT, NAN = ArmModel("right"), float("nan")


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("task", ["circle_xy", "circle_xz"])
def test_hand_follows_the_circle_at_constant_speed(task: str, side: str) -> None:
    arm, motion = ArmModel(side), task_motions(SimulationSettings(side=side, circle_wander=0.0))[task]
    times = np.linspace(0, 2 * np.pi * 0.1 / 0.6, 1000)  # [s] one turn
    q, _, a = motion(times)
    path, target = np.array([hand_position(arm, one) for one in q]), circle(task, side, 0.1).points(times * 6.0)
    np.testing.assert_allclose(path, target, atol=5e-4)  # 10 cm radius, within 0.5 mm
    assert np.ptp(path[:, 2 if task == "circle_xy" else 1]) < 1e-3
    np.testing.assert_allclose(np.linalg.norm(np.diff(path, axis=0), axis=1) / np.diff(times), 0.6, rtol=0.01)
    np.testing.assert_allclose(q[0], q[-1], atol=1e-12)  # the circle is closed
    assert np.abs(a).max() < 80.0  # rad/s^2: no kink where a joint nears its limit


def check_derivatives(motion, times: np.ndarray) -> None:
    """Check velocities and accelerations against central differences."""
    step = times[1] - times[0]
    q, v, a = motion(times)
    np.testing.assert_allclose((q[2:] - q[:-2]) / (2 * step), v[1:-1], atol=1e-5)
    np.testing.assert_allclose((v[2:] - v[:-2]) / (2 * step), a[1:-1], atol=1e-3)


@pytest.mark.parametrize("task", ["circle_xy", "circle_xz", "random"])
def test_velocities_and_accelerations_are_derivatives(task: str) -> None:
    check_derivatives(task_motions(SimulationSettings())[task], np.arange(20.0, 21.0, 1e-4))


def test_random_motion_excites_every_joint_and_a_blend_meets_both_motions_with_two_derivatives():
    q, v, _ = task_motions(SimulationSettings())["random"](np.arange(0, 200, 0.02))
    assert (np.ptp(q, axis=0) > 0.5 * np.ptp(RIGHT.limits, axis=0)).all()
    assert max(np.linalg.cond(np.corrcoef(values.T)) for values in (q, v)) < 10
    motions = task_motions(SimulationSettings())
    blend = Blend(motions["circle_xy"], motions["random"], start=1.0, duration=2.0)
    for times, motion in (([1.0], "circle_xy"), ([3.0, 5.0], "random")):
        np.testing.assert_allclose(blend(np.array(times)), motions[motion](np.array(times)), atol=1e-12)
    check_derivatives(blend, np.arange(1.2, 2.8, 1e-4))


def test_splines_agree_with_scipy() -> None:
    rng = np.random.default_rng(0)
    knots, positions = np.sort(rng.uniform(0, 5, 9)), rng.normal(size=(9, 3))
    reference, velocities = CubicSpline(knots, positions, bc_type="clamped"), spline_velocities(knots, positions)
    np.testing.assert_allclose(velocities, reference(knots, 1), atol=1e-10)
    inner = hermite_accelerations(knots, positions, velocities)
    np.testing.assert_allclose(inner, reference(knots[1:-1], 2), atol=1e-9)
    spline = QuinticSpline(knots, np.stack([positions, velocities, reference(knots, 2)]))
    times = np.linspace(knots[0], knots[-1], 500)
    for order, values in enumerate(spline(times)):
        np.testing.assert_allclose(values, reference(times, order), atol=1e-8)
    states = rng.normal(size=(3, 9, 3))  # states of no cubic spline
    np.testing.assert_allclose(np.stack(QuinticSpline(knots, states)(knots)), states, atol=1e-12)


def test_trajectory_passes_its_points_and_then_holds() -> None:
    simulation = ArmSimulation(SimulationSettings.without_effects())
    moving = steps(simulation, 333)[-1][1].acceleration
    names = ["r_elbow", "r_shoulder_pitch"]  # another order than the arm's, and not all
    points, start = np.deg2rad([[60.0, -20.0], [80.0, -40.0], [50.0, -30.0]]), simulation.time
    simulation.command_trajectory(names, [1.0, 2.0, 3.5], points)
    made = [truth for _, truth in steps(simulation, 4000)]
    passed = {round(truth.stamp * 1e-9 - start, 3): truth.position for truth in made}
    for time, point in zip((1.0, 2.0, 3.5, 3.9), [*points, points[-1]], strict=True):
        np.testing.assert_allclose(passed[time][[3, 0]], point, atol=1e-3)
    accelerations = [moving, *(truth.acceleration for truth in made)]
    assert np.abs(np.diff(accelerations, axis=0)).max() < 1.0 and simulation.task == "trajectory"
    simulation.set_task("circle_xy")


@pytest.fixture(scope="module")
def twins() -> tuple[ArmSimulation, ArmSimulation]:
    """Return two equal simulations that go on from test to test: one gets bad commands, the other none."""
    return ArmSimulation(SimulationSettings.without_effects()), ArmSimulation(SimulationSettings.without_effects())


@pytest.mark.parametrize(("changes", "error", "match", "value"), [
    ({"joint_names": ["r_elbow", "x"], "positions": [[1.0, 1.0]] * 2}, SimulationError, "'x'", "joint_names ['x']"),
    ({"joint_names": ["r_elbow"] * 2, "positions": [[1.0, 1.0]] * 2}, SimulationError, "once", "joint_names ['r_e"),
    ({"joint_names": [], "positions": [[]] * 2}, SimulationError, "at least one joint", "joint_names []"),
    ({"times": [], "positions": []}, SimulationError, "no points", "times 0"),
    ({"times": [1.0, 1.0]}, SimulationError, "increase.*point 1: 1 s", "times 1.0"),
    ({"times": [-1.0, 1.0]}, SimulationError, "increase.*point 0: -1 s", "times -1.0"),
    ({"times": [1.0, NAN]}, NotFiniteError, "times", "times {1: nan}"),
    ({"times": [1.0, 2.0, 1e12]}, SimulationError, r"lasts 1e\+12 s", "times 1000000000000.0"),
    ({"times": [1e-5, 1.0]}, SimulationError, "increase", "times 1e-05"),
    ({"times": [0.0, 1.0]}, SimulationError, "starts at time 0", "r_"),
    ({"times": [1.0]}, SimulationError, "1 times but 2 positions", "positions 2"),
    ({"positions": [[NAN] * 7] * 2}, NotFiniteError, "positions", "positions {0: nan"),
    ({"positions": [[0.0] * 6] * 2}, ShapeError, "positions", "positions (2, 6)"),
    ({"positions": [[3.0] * 7] * 2}, SimulationError, "position of joint", "r_shoulder_pitch 3."),
    ({"positions": [[1e308] * 7] * 2}, SimulationError, "not within", "r_shoulder_pitch nan"),
    ({"velocities": [[0.0] * 7]}, SimulationError, "1 velocities", "velocities 1"),
    ({"velocities": [[0.0, 0.0]] * 2}, ShapeError, "velocities", "velocities (2, 2)"),
    ({"velocities": [[50.0] * 7] * 2}, SimulationError, "not within", "r_wrist_yaw -1"),
    ({"accelerations": [[NAN] * 7] * 2}, NotFiniteError, "accelerations", "accelerations {0: nan"),
    ({"joint_names": ["r_elbow"], "times": [0.002], "positions": [[1.5]]}, SimulationError, "velocity", "r_elbow"),
])  # fmt: skip
def test_bad_trajectory_is_refused_with_a_reason(changes, error, match, value, twins) -> None:
    simulation, untouched = twins
    middle = np.mean(RIGHT.limits, axis=0)
    good = {"joint_names": RIGHT.joint_names, "times": [1.5, 3.0], "positions": [middle, middle + 0.1]}
    with pytest.raises(error, match=match) as caught:
        simulation.command_trajectory(**(good | changes))
    assert f"{caught.value.name} {caught.value.value}".startswith(value) and simulation.task == "circle_xy"
    (_, found), (_, wanted) = steps(simulation, 40)[-1], steps(untouched, 40)[-1]
    np.testing.assert_array_equal(found.position, wanted.position)


def test_trajectory_may_begin_where_the_arm_is() -> None:
    start = np.mean(RIGHT.limits, axis=0)
    for times, points in (([0.0, 1.0], [start, start + 0.1]), ([0.0], [start])):  # a single point: stop there
        motion = TrajectoryMotion(RIGHT, 5.0, start, RIGHT.joint_names, times, points)
        np.testing.assert_allclose(motion(np.array([5.0, 7.0]))[0], [start, points[-1]], atol=1e-12)


def test_a_circle_that_brings_joints_too_near_to_their_limits_is_refused() -> None:
    target = circle("circle_xy", "right", 0.1)
    far = replace(target, center=np.add(target.center, [0.2, -0.2, 0.0]))
    with pytest.raises(SimulationError, match=r"circle about .* comes within 0\.018 rad of a joint limit") as caught:
        solve_circle_path(RIGHT, far)
    assert caught.value.bound == "at least 0.022 rad"  # 1.25 degrees
