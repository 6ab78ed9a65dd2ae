"""A push changes the wrench as the transpose of the hand's Jacobian says, and ends."""

import numpy as np
from helpers.arm_steps import steps

from icub_learning.dynamics.regressors.link_effects import LinkEffects
from icub_learning.dynamics.regressors.wrench_regressor import WrenchRegressor
from icub_learning.robots import find_urdf
from icub_learning.simulation.arm.arm_simulation import ArmSimulation
from icub_learning.simulation.arm.disturbances import Push
from icub_learning.simulation.arm.settings import SimulationSettings


def test_force_rises_stays_and_falls():
    push = Push()
    assert not push.force(5.0).any()
    push.begin([1.0, -2.0, 0.5], 0.3, 2.0)
    np.testing.assert_allclose(push.force(2.005), [0.5, -1.0, 0.25])
    np.testing.assert_allclose(push.force(2.2), [1.0, -2.0, 0.5])
    np.testing.assert_allclose(push.force(2.305), [0.5, -1.0, 0.25])
    assert not push.force(2.4).any() and not push.force(1.0).any()


def test_sensor_shows_the_push():
    simulation = ArmSimulation(SimulationSettings.without_effects(task="hold"))
    arm = simulation.arm
    regressor = WrenchRegressor.from_urdf(find_urdf("icub"), arm.joint_names, arm.sensor, offset=False)
    effects = LinkEffects(regressor, arm.hand)
    force = np.array([2.0, -3.0, 1.0])
    simulation.push(force, 1.0)
    truth = steps(simulation, 600)[-1][1]
    np.testing.assert_allclose(truth.push, force)
    motion = truth.position, truth.velocity, truth.acceleration
    body = regressor(*motion) @ regressor.nominal_parameters
    pushed = effects(*motion)[1] @ np.r_[force, np.zeros(3)]
    np.testing.assert_allclose(truth.wrench, body + pushed, atol=2e-3)
