"""Every effect alone: what it does, that it is off at 0, and that its seed decides."""

import numpy as np
import pinocchio
import pytest
from helpers.arm_steps import steps

from icub_learning.simulation import ArmSimulation, SimulationSettings
from icub_learning.simulation.arm import effects
from icub_learning.simulation.arm.effects import FULL_SCALE, CableBundle, DahlFriction, Encoders, SensorDrift

IDEAL = SimulationSettings.without_effects


def elbow_pose(angle: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the pose of a link 8 cm beyond the sensor, turned by `angle` about y."""
    quaternion = np.array([np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0])
    return np.array([0.0, 0.0, 0.08]), pinocchio.utils.rotate("y", angle).ravel(), quaternion


SENSOR = (np.zeros(3), *elbow_pose(0.0)[1:])


def wrench_of(bundle: CableBundle, angle: float) -> np.ndarray:
    """Return force, and torque about the origin, that the bundle exerts on the elbow's link."""
    point, force, torque = bundle.step(SENSOR, elbow_pose(angle))
    return np.concatenate([force, torque + np.cross(point, force)])


def make_bundle(stiffness=200.0, bending=1.0, hysteresis=0.0) -> CableBundle:
    bundle = CableBundle(stiffness, bending, hysteresis, "right")
    bundle.relax(SENSOR, elbow_pose(0.0))
    return bundle


def settled(bundle: CableBundle, angle: float) -> np.ndarray:
    wrench_of(bundle, angle)
    return wrench_of(bundle, angle)  # the second step at the same place has no rate


def elbow_torque(wrenches: np.ndarray) -> np.ndarray:
    """Return the torque about the elbow's axis."""
    return wrenches[..., 4] - np.cross(elbow_pose(0.0)[0], wrenches[..., :3])[..., 1]


def test_elastic_bundle_is_the_gradient_of_its_energy_and_a_bending_one_turns_back_in_proportion() -> None:
    step, stiffness, upper = 1e-5, 300.0, CableBundle.UPPER_CLAMP
    bundle = make_bundle(stiffness, 0.0)

    def energy(angle: float) -> float:
        position, rotation, _ = elbow_pose(angle)
        lower = position + rotation.reshape(3, 3) @ (CableBundle.LOWER_CLAMP - position)
        return 0.5 * stiffness * (np.linalg.norm(lower - upper) - np.linalg.norm(CableBundle.LOWER_CLAMP - upper)) ** 2

    for angle in (-0.4, 0.1, 0.7):
        slope = (energy(angle + step) - energy(angle - step)) / (2 * step)
        assert elbow_torque(settled(bundle, angle)) == pytest.approx(-slope, rel=1e-5)
    bending = make_bundle(0.0, 1.5)
    for angle in (-0.5, 0.2, 1.0):
        np.testing.assert_allclose(settled(bending, angle), [0, 0, 0, 0, -1.5 * angle, 0], atol=1e-9)


def loop_area(bundle: CableBundle, steps: int) -> float:
    """Return the energy lost over one closed cycle of the elbow, after one cycle to settle."""
    angles = 0.4 * np.sin(np.linspace(0, 4 * np.pi, 2 * steps + 1))
    torques = elbow_torque(np.array([wrench_of(bundle, angle) for angle in angles]))
    return float(-(np.diff(angles[steps:]) * torques[steps + 1 :]).sum())


def test_creep_loses_more_the_faster_and_hysteresis_loses_energy_however_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    slow, fast = loop_area(make_bundle(), 1000), loop_area(make_bundle(), 250)
    assert fast == pytest.approx(4 * slow, rel=0.05)
    monkeypatch.setattr(CableBundle, "CREEP_TIME", 0.0)
    elastic, slow, fast = (loop_area(make_bundle(hysteresis=h), n) for h, n in ((0.0, 1000), (0.3, 2000), (0.3, 1000)))
    assert abs(elastic) < 0.02 * slow and slow > 0.1 and fast == pytest.approx(slow, rel=0.02)


def test_dahl_friction_keeps_its_level_in_any_direction() -> None:
    friction, direction = DahlFriction(2.0, 0.1), np.array([0.6, 0.8])
    for _ in range(200):
        force = friction.step(0.01 * direction)
    np.testing.assert_allclose(force, 2.0 * direction, rtol=1e-6)
    np.testing.assert_array_equal(friction.step(np.zeros(2)), force)
    one, many = DahlFriction(2.0, 0.1), DahlFriction(2.0, 0.1)
    in_many_steps = [many.step(np.array([0.001])) for _ in range(50)][-1]
    np.testing.assert_allclose(in_many_steps, one.step(np.array([0.05])), rtol=1e-9)


def test_left_arm_is_the_mirror_image() -> None:
    shares = {}
    for side in ("right", "left"):
        simulation = ArmSimulation(IDEAL(cable_stiffness=200.0, side=side, circle_wander=0.0))
        shares[side] = steps(simulation, 100)[-1][1].cable_wrench
    np.testing.assert_allclose(shares["left"] * [1, -1, 1, -1, 1, -1], shares["right"], atol=0.05)


def test_cross_talk_is_linear_and_small_and_friction_shows_in_efforts_only():
    made = steps(ArmSimulation(IDEAL(cross_talk=0.01)), 400)
    shown, true = ([reading.wrench for reading in readings] for readings in zip(*made, strict=True))
    matrix = effects.cross_talk(0.01, np.random.default_rng([0, 100]))
    np.testing.assert_allclose(shown, np.array(true) @ matrix.T, atol=1e-12)
    np.testing.assert_array_equal(np.diag(matrix), np.ones(6))
    assert 0.001 < (np.abs(matrix - np.eye(6)) / FULL_SCALE[:, None] * FULL_SCALE).max() <= 0.01
    np.testing.assert_array_equal(effects.cross_talk(0.0, np.random.default_rng(0)), np.eye(6))
    rubbing, smooth = (steps(ArmSimulation(IDEAL(joint_friction=scale)), 200)[-1] for scale in (1.0, 0.0))
    np.testing.assert_equal((rubbing[1].position, rubbing[0].wrench), (smooth[1].position, smooth[0].wrench))
    v, extra = smooth[1].velocity, rubbing[0].effort - smooth[0].effort
    np.testing.assert_allclose(extra, effects.joint_friction(1.0, v), atol=1e-9)
    assert (extra * v > 0).all()


def test_drift_is_slow_and_noise_is_white_with_their_deviations():
    rng = np.random.default_rng(0)
    starts = np.array([SensorDrift(0.5, rng).step(np.zeros(6)) for _ in range(4000)])
    np.testing.assert_allclose(starts.std(axis=0), 0.5 * FULL_SCALE / FULL_SCALE[0], rtol=0.05)
    path = np.array(list(map(SensorDrift(0.5, rng).step, rng.standard_normal((20_000, 6)))))
    assert 0 < np.abs(np.diff(path, axis=0)).max() < 0.01 and 0.01 < np.ptp(path[:, 0]) < 1.0
    np.testing.assert_array_equal(SensorDrift(0.0, rng).step(np.ones(6)), np.zeros(6))
    made = steps(ArmSimulation(IDEAL(noise=0.4, task="hold")), 3000)
    errors = np.array([sensors.wrench - truth.wrench for sensors, truth in made])
    np.testing.assert_allclose(errors.std(axis=0), 0.4 * FULL_SCALE / FULL_SCALE[0], rtol=0.06)
    assert np.abs(np.mean(errors[1:] * errors[:-1], axis=0) / errors.var(axis=0)).max() < 0.08


def test_encoders_count_and_their_velocity_is_late_by_half_a_window() -> None:
    bits, rate = 16, 3.0
    start, speed = np.full(7, 0.1), np.full(7, rate)
    encoders, resolution = Encoders(bits, start, speed), 2 * np.pi / 2**bits
    assert pytest.approx(0.004) == Encoders.DELAY
    for number in range(1, 300):
        time = number * 1e-3
        q = 0.1 + np.sin(rate * time) * np.ones(7)
        position, velocity = encoders.step(q, np.full(7, np.nan))  # it sees positions only
        np.testing.assert_allclose(position, q, atol=resolution / 2 + 1e-12)
        np.testing.assert_allclose(position / resolution, np.round(position / resolution), atol=1e-6)
        if number > Encoders.WINDOW:
            before = rate * np.cos(rate * (time - Encoders.DELAY))
            np.testing.assert_allclose(velocity, before, atol=resolution / 0.008 + 1e-3)
    np.testing.assert_array_equal(Encoders(0, start, speed).step(start, speed), (start, speed))
    ((sensors, truth),) = steps(ArmSimulation(IDEAL(encoder_bits=20, task="circle_xz")), 1)
    # Tolerance: an acceleration of up to 50 rad/s^2 over the 4 ms delay of velocities.
    np.testing.assert_allclose(sensors.velocity, truth.velocity, atol=0.25)
