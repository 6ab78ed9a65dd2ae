"""The simulated arm against Pinocchio, against its own derivatives, and against bad commands."""

import math

import numpy as np
import pinocchio
import pytest
from helpers.arm_steps import steps
from helpers.robots import RIGHT_ARM

from icub_learning.dynamics.regressors.link_effects import LinkEffects
from icub_learning.dynamics.regressors.robot_model import RobotModel
from icub_learning.errors import NotFiniteError, ParameterError, ShapeError, SimulationError
from icub_learning.robots import find_urdf
from icub_learning.simulation import TASKS, ArmSimulation, SimulationSettings, simulate
from icub_learning.simulation.arm.disturbances import DENSITY, Push

IDEAL = SimulationSettings.without_effects


def run(simulation: ArmSimulation, count: int) -> dict[str, np.ndarray]:
    """Step, and return true motions, and measured efforts and wrenches, of every step."""
    shown = steps(simulation, count)
    rows = [(true.position, true.velocity, true.acceleration, seen.effort, seen.wrench) for seen, true in shown]
    return dict(zip(("q", "v", "a", "effort", "measured"), map(np.array, zip(*rows, strict=True)), strict=True))


def pinocchio_wrench_and_torque(simulation: ArmSimulation, moved: dict, mass: float = 0.0, position=None):
    """Return the joint wrench at the sensor and the joint torques that Pinocchio finds for the same motion."""
    robot = RobotModel(find_urdf("icub"), simulation.arm.joint_names, sensor=simulation.arm.sensor)
    if mass:
        ball = pinocchio.Inertia.FromSphere(mass, (3 * mass / (4 * math.pi * DENSITY)) ** (1 / 3))
        hand = robot.model.frames[robot.frame_of(simulation.arm.hand)]
        place = hand.placement * pinocchio.SE3(np.eye(3), np.array(position))
        robot.model.appendBodyToJoint(hand.parentJoint, ball, place)
    data = robot.model.createData()
    wrenches, torques = [], []
    for q, v, a in zip(moved["q"], moved["v"], moved["a"], strict=True):
        torques.append(pinocchio.rnea(robot.model, data, *robot.state(q, v, a))[robot.velocity_index])
        wrenches.append(data.f[robot.sensor_id].vector.copy())
    return np.array(wrenches), np.array(torques)


def check_against_pinocchio(simulation: ArmSimulation, *payload) -> None:
    moved = run(simulation, 300)
    wrench, torque = pinocchio_wrench_and_torque(simulation, moved, *payload)
    np.testing.assert_allclose(moved["measured"], wrench, rtol=0, atol=1e-10)
    np.testing.assert_allclose(moved["effort"], torque, rtol=0, atol=1e-10)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("side", ["right", "left"])
def test_ideal_sensor_is_pinocchios_joint_force(task: str, side: str) -> None:
    check_against_pinocchio(ArmSimulation(IDEAL(task=task, side=side)))


def test_acceleration_is_the_change_of_velocity_and_the_true_wrench_is_rigid_plus_cable() -> None:
    moved = run(ArmSimulation(SimulationSettings(task="circle_xz")), 200)
    np.testing.assert_allclose(np.diff(moved["v"], axis=0) / 1e-3, moved["a"][:-1], rtol=0, atol=1e-9)
    np.testing.assert_allclose(np.diff(moved["q"], axis=0) / 1e-3, moved["v"][1:], rtol=0, atol=1e-9)
    simulation = ArmSimulation(SimulationSettings())
    wrench, _ = pinocchio_wrench_and_torque(simulation, run(simulation, 300))
    truth = simulation.truth()
    np.testing.assert_allclose(truth.rigid_wrench, wrench[-1], rtol=0, atol=1e-10)
    np.testing.assert_array_equal(truth.rigid_wrench, truth.wrench - truth.cable_wrench)
    assert np.abs(truth.cable_wrench[:3]).max() > 0.1


def test_payload_shows_as_a_body_in_the_hand_and_can_be_dropped_while_running():
    payload, simulation = (1.5, (0.02, -0.03, 0.05)), ArmSimulation(IDEAL(task="circle_xy"))
    simulation.attach_payload(*payload)
    check_against_pinocchio(simulation, *payload)
    simulation = ArmSimulation(IDEAL(task="hold"))
    at_rest = run(simulation, 1)["measured"][0]
    simulation.attach_payload(0.5, (0.0, 0.0, 0.03))
    carrying = run(simulation, 1500)["measured"][-1]
    assert np.linalg.norm(carrying[:3]) - np.linalg.norm(at_rest[:3]) == pytest.approx(0.5 * 9.81, rel=1e-3)
    assert simulation.truth().payload_mass == 0.5
    simulation.attach_payload(0.0)
    dropped = run(simulation, 1500)
    np.testing.assert_allclose(dropped["measured"][-1], at_rest, rtol=0, atol=1e-3)
    assert np.abs(dropped["a"][:50]).max() > 0.5  # the arm springs up
    assert simulation.truth().payload_mass == 0.0


@pytest.fixture(scope="module")
def loaded() -> ArmSimulation:
    """Return an arm at rest with a payload and a push, which refused commands must leave unchanged."""
    simulation = ArmSimulation(IDEAL(task="hold"))
    simulation.attach_payload(0.3, (0.01, 0.0, 0.0))
    simulation.push((0.0, 0.0, 1.0), 60.0)
    steps(simulation, 20)
    return simulation


@pytest.mark.parametrize(("method", "given", "error"), [
    ("attach_payload", (-0.1,), ParameterError), ("attach_payload", (100.0,), ParameterError),
    ("attach_payload", (0.5, (0, 0)), ShapeError), ("attach_payload", (0.5, (0, 0, math.inf)), NotFiniteError),
    ("attach_payload", (0.5, (0, 5.0, 0)), ParameterError), ("push", ((0, 0, 200.0), 1.0), ParameterError),
    ("push", ((0, 0, 1.0), -1.0), ParameterError), ("push", ((0, 0), 1.0), ShapeError),
    ("push", ((0, 0, math.nan), 1.0), NotFiniteError),
])  # fmt: skip
def test_bad_payloads_and_pushes_are_refused_and_change_nothing(method, given, error, loaded) -> None:
    with pytest.raises(error, match=r"^((?!np\.).)*$"):  # numbers are shown as such
        getattr(loaded, method)(*given)
    loaded.step()
    truth = loaded.truth()
    assert [*truth.payload_position, truth.payload_mass, *truth.push] == [0.01, 0, 0, 0.3, 0, 0, 1]


def test_push_rises_stays_and_falls_and_shows_by_the_transpose_of_the_hands_jacobian(regressor):
    push = Push()
    assert not push.force(5.0).any()
    push.begin([1.0, -2.0, 0.5], 0.3, 2.0)
    forces = [push.force(t) for t in (2.005, 2.2, 2.305)]
    np.testing.assert_allclose(forces, np.outer([0.5, 1.0, 0.5], [1.0, -2.0, 0.5]))
    assert not push.force(2.4).any() and not push.force(1.0).any()
    simulation, force = ArmSimulation(IDEAL(task="hold")), np.array([2.0, -3.0, 1.0])
    simulation.push(force, 1.0)
    truth = steps(simulation, 600)[-1][1]
    np.testing.assert_allclose(truth.push, force)
    motion = truth.position, truth.velocity, truth.acceleration
    body = regressor(*motion) @ regressor.nominal_parameters
    pushed = LinkEffects(regressor, simulation.arm.hand)(*motion)[1] @ np.r_[force, np.zeros(3)]
    np.testing.assert_allclose(truth.wrench, body + pushed, atol=2e-3)


def readings(settings: SimulationSettings) -> np.ndarray:
    simulation = ArmSimulation(settings)
    made = steps(simulation, 50)
    simulation.set_task("circle_xz")
    simulation.attach_payload(0.4, (0.0, 0.0, 0.02))
    made += steps(simulation, 150)
    return np.array([np.concatenate([shown.position, shown.velocity, shown.effort, shown.wrench]) for shown, _ in made])


def test_same_seed_same_data() -> None:
    first, second, other = (readings(SimulationSettings(seed=seed)) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, second)
    assert np.abs(other - first).max() > 0.1


def test_nothing_is_read_before_the_first_step_and_tasks_are_known_and_changes_of_them_do_not_pile_up() -> None:
    simulation = ArmSimulation(IDEAL())
    for read in (simulation.sensors, simulation.truth):
        with pytest.raises(SimulationError, match="before the first step"):
            read()
    simulation.step()
    assert simulation.sensors().stamp == 1_000_000  # never 0, which means "not set"
    assert simulation.time == pytest.approx(0.002)
    simulation = ArmSimulation(IDEAL(task="circle_xy"))
    with pytest.raises(SimulationError, match="circle_xz"):
        simulation.set_task("dance")
    assert simulation.task == "circle_xy"
    with pytest.raises(SimulationError, match="under way"):
        for _ in range(5):
            simulation.set_task("circle_xz")
            simulation.set_task("circle_xy")
    run(simulation, 2700)  # the last one ends after 2.6 s
    simulation.set_task("random")


def test_recording_has_the_rate_and_the_names() -> None:
    recording = simulate([("circle_xy", 0.5), ("circle_xz", 0.25)], rate=100.0)
    shapes = {name: getattr(recording, name).shape for name in ("position", "velocity", "effort", "wrench")}
    assert shapes == {**dict.fromkeys(("position", "velocity", "effort"), (75, 7)), "wrench": (75, 6)}
    for stamps in (recording.joint_stamps, recording.wrench_stamps):
        np.testing.assert_array_equal(stamps, 10_000_000 * np.arange(1, 76))
    assert recording.joint_names == RIGHT_ARM and recording.wrench_frame == "r_upper_arm"
    with pytest.raises(ParameterError, match="at least one task"):
        simulate([])
