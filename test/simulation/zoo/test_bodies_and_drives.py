"""True outputs of the zoo against closed form, regressors and possible bodies; drives against their formulas."""

import numpy as np
import pinocchio

from icub_learning.dynamics.assembly import make_regressor
from icub_learning.dynamics.settings import Settings
from icub_learning.simulation.zoo import ZOO
from icub_learning.simulation.zoo.bodies import TrueBodies, changed_inertia, planar_arm_urdf
from icub_learning.simulation.zoo.drives import Drives

LENGTHS, MASSES = (0.4, 0.3), (2.0, 1.0)


def test_a_planar_arm_has_the_torques_of_the_textbook():
    """Two uniform rods; gravity along -z, positive angles turn the x axis towards -z."""
    (l1, l2), (m1, m2), g = LENGTHS, MASSES, 9.81
    random = np.random.default_rng(0)
    q, v, a = random.uniform(-2, 2, (3, 50, 2))
    c1, c2, i1, i2 = l1 / 2, l2 / 2, m1 * l1**2 / 12, m2 * l2**2 / 12
    (q1, q2), (v1, v2), (a1, a2) = q.T, v.T, a.T
    alpha = i1 + i2 + m1 * c1**2 + m2 * (l1**2 + c2**2)
    beta, delta = m2 * l1 * c2, i2 + m2 * c2**2
    across, swirl = delta + beta * np.cos(q2), beta * np.sin(q2)
    gravity_2 = -m2 * g * c2 * np.cos(q1 + q2)
    gravity_1 = -(m1 * c1 + m2 * l1) * g * np.cos(q1) + gravity_2
    first = (alpha + 2 * beta * np.cos(q2)) * a1 + across * a2 - swirl * (2 * v1 * v2 + v2**2) + gravity_1
    second = across * a1 + delta * a2 + swirl * v1**2 + gravity_2
    bodies = TrueBodies(planar_arm_urdf(LENGTHS, MASSES), ("joint_1", "joint_2"), None, 0.0, random)
    np.testing.assert_allclose(bodies.outputs(q, v, a), np.column_stack([first, second]), atol=1e-10)


def test_true_parameters_times_the_regressor_are_the_true_outputs():
    for name, robot in ZOO.items():
        regressor = make_regressor(Settings(**robot.settings, friction=False))
        true = np.array([robot.bodies.parameters.get(key, 0.0) for key in regressor.parameter_names])
        motion = np.random.default_rng(0).normal(0, [[1], [2], [4]], (20, 3, len(robot.joints)))
        expected = np.array([regressor(*state) @ true for state in motion])
        np.testing.assert_allclose(robot.bodies.outputs(*motion.swapaxes(0, 1)), expected, atol=1e-9, err_msg=name)
        inertial = np.array([key in robot.bodies.parameters for key in regressor.parameter_names])
        masses = np.array([key.endswith(".m") for key in regressor.parameter_names])
        nominal = regressor.nominal_parameters[masses]
        assert inertial.sum() >= 10 * masses.sum()
        assert np.abs(np.log(true[masses][nominal > 0] / nominal[nominal > 0])).max() > 0.05, "differs from the URDF"


def test_changed_bodies_are_possible_ones():
    random = np.random.default_rng(0)
    for radii in random.uniform(0.01, 1.0, (50, 3)):
        place = pinocchio.SE3(pinocchio.rpy.rpyToMatrix(random.uniform(-3, 3, 3)), random.normal(size=3))
        body = pinocchio.Inertia.FromEllipsoid(random.uniform(0.1, 6.0), *radii).se3Action(place)
        changed = changed_inertia(body, 0.2, random)
        moments = np.linalg.eigvalsh(changed.inertia)
        assert changed.mass > 0 and moments[0] > 0
        assert moments[0] + moments[1] >= moments[2] * (1 - 1e-9), "triangle inequality"
        same = changed_inertia(body, 0.0, random)
        np.testing.assert_allclose(same.toDynamicParameters(), body.toDynamicParameters(), atol=1e-12)
    assert changed_inertia(pinocchio.Inertia.Zero(), 0.2, random).mass == 0.0


def test_friction_resists_motion_efforts_hold_rotor_offset_ripple_and_gain_and_elastic_gears_ring_after_a_step():
    drives = Drives((2.0,), (0.5,), breakaway=0.001, stribeck=0.5, stribeck_velocity=0.1, load_friction=0.1)
    v = np.array([[-1.0], [0.02], [1.0]])
    found, bump = drives.friction(v, np.array([[0.0], [0.0], [-10.0]]))[:, 0], 1.0 * np.exp(-(0.02**2 / 0.1**2))
    np.testing.assert_allclose(found, [-2.5, 2.0 + bump + 0.01, 2.5 + 1.0], rtol=1e-9)
    drives = Drives((0.0,), (0.0,), rotor_inertia=(0.3,), offset=(0.2,), ripple=(0.5,), ripple_periods=4.0, gain=(2.0,))
    q, v, a, torque = (np.array([[value]]) for value in (0.3, 1.0, 2.0, 5.0))
    expected = (5.0 + 0.3 * 2.0 + 0.2 + 0.5 * np.sin(1.2)) / 2.0
    np.testing.assert_allclose(drives.efforts(q, v, a, torque, torque), [[expected]])
    assert drives.parameters(["j"]) == {"j.coulomb": 0.0, "j.viscous": 0.0, "j.offset": 0.2, "j.rotor": 0.3}
    # Of an elastic gear the expected torque is the step response of a second-order oscillator in closed form.
    step, frequency, damping = 1e-4, 10.0, 0.2
    drives, times = Drives((0.0,), (0.0,), gear_frequency=frequency, gear_damping=damping), np.arange(0.0, 1.0, step)
    torque = np.where(times < 0.1, 1.0, 3.0)[:, None]
    root = 2 * np.pi * frequency * (-damping + 1j * np.sqrt(1 - damping**2))  # [1/s]
    ringing = np.imag(root.conjugate() * np.exp(root * np.maximum(times - 0.1, 0.0))) / root.imag
    np.testing.assert_allclose(drives.transmitted(torque, step)[:, 0], 3 + 2 * ringing, atol=0.02)
    np.testing.assert_array_equal(Drives((0.0,), (0.0,)).transmitted(torque, step), torque)
