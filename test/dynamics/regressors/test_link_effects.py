"""Effects of a load and a push, against Pinocchio with the same load on the same link and the same external force."""

import numpy as np
import pinocchio
import pytest
from helpers.robots import RIGHT_ARM, random_state

from icub_learning.dynamics import TorqueRegressor, WrenchRegressor
from icub_learning.dynamics.regressors.link_effects import LinkEffects, from_pseudo_inertia, pseudo_inertia
from icub_learning.dynamics.regressors.robot_model import RobotModel
from icub_learning.errors import ModelError
from icub_learning.robots import find_urdf

SENSOR, HAND = "r_arm_ft_sensor", "r_hand_dh_frame"


@pytest.mark.parametrize("direction", ["parent_to_child", "child_to_parent"])
def test_load_adds_its_wrench(direction):
    regressor = WrenchRegressor.from_urdf(find_urdf("icub"), RIGHT_ARM, SENSOR, direction)
    effects, robot = LinkEffects(regressor, HAND), RobotModel(find_urdf("icub"), RIGHT_ARM, SENSOR)
    frame, state = robot.model.frames[robot.frame_of(HAND)], random_state(7, 1)
    without = regressor(*state) @ regressor.nominal_parameters
    body = pinocchio.Inertia(0.4, np.array([0.05, -0.02, 0.08]), np.diag([0.002, 0.003, 0.004]))
    parameters = body.toDynamicParameters()
    first = regressor.parameter_names.index(f"{robot.body_names[frame.parentJoint - 1]}.m")
    loaded = regressor.nominal_parameters.copy()
    # Pinocchio itself transforms the inertia to the joint's frame.
    loaded[first : first + 10] += frame.placement.act(body).toDynamicParameters()
    load, _ = effects(*state)
    np.testing.assert_allclose(load @ parameters, regressor(*state) @ loaded - without, rtol=1e-9, atol=1e-10)
    np.testing.assert_array_equal(load, effects.load(*state))


@pytest.mark.parametrize("joints", [[f"panda_joint{i}" for i in (*range(4, 8), 3, 2, 1)], ["panda_joint4"]])
def test_push_acts_on_torques_as_an_external_force(joints):
    regressor = TorqueRegressor.from_urdf(find_urdf("panda"), joints, friction=False)
    effects = LinkEffects(regressor, "panda_link7")
    assert LinkEffects(regressor).link == f"panda_link{max(joints)[-1]}"
    robot = RobotModel(find_urdf("panda"), joints)
    model, data = robot.model, robot.data
    q, v, a = random_state(len(joints), 3)
    full, wrench = [array.copy() for array in robot.state(q, v, a)], np.array([3.0, -2.0, 5.0, 0.1, 0.4, -0.3])
    pinocchio.forwardKinematics(model, data, full[0])
    pinocchio.updateFramePlacements(model, data)
    link = robot.frame_of("panda_link7")
    frame, at_link = model.frames[link], pinocchio.SE3(np.eye(3), data.oMf[link].translation)
    outside = [pinocchio.Force.Zero() for _ in range(model.njoints)]
    outside[frame.parentJoint] = data.oMi[frame.parentJoint].actInv(at_link.act(pinocchio.Force(wrench)))
    change = pinocchio.rnea(model, data, *full, outside) - pinocchio.rnea(model, data, *full)
    _, push = effects(q, v, a)
    np.testing.assert_allclose(push @ wrench, change[robot.velocity_index], rtol=1e-9, atol=1e-9)


def test_push_against_gravity_lightens_the_hand():
    effects = LinkEffects(WrenchRegressor.from_urdf(find_urdf("icub"), RIGHT_ARM, SENSOR), HAND)
    load, push = effects(random_state(7, 4)[0], np.zeros(7), np.zeros(7))
    np.testing.assert_allclose(push @ [0.0, 0.0, -9.81, 0.0, 0.0, 0.0], load[:, 0], rtol=1e-6, atol=1e-9)


def test_joints_that_are_not_learned_are_named():
    regressor = WrenchRegressor.from_urdf(find_urdf("icub"), RIGHT_ARM[:4], SENSOR)
    assert LinkEffects(regressor, HAND).held_joints == RIGHT_ARM[4:] and LinkEffects(regressor).link == "r_elbow_1"
    assert LinkEffects(WrenchRegressor.from_urdf(find_urdf("icub"), RIGHT_ARM[::-1], SENSOR)).link == "r_hand"


@pytest.mark.parametrize("link, text", [("r_hnad", "no link"), ("chest", "before the force|moved by none")])
def test_links_that_show_nothing_are_refused(link, text):
    with pytest.raises(ModelError, match=text):
        LinkEffects(WrenchRegressor.from_urdf(find_urdf("icub"), RIGHT_ARM, SENSOR), link)


def test_pseudo_inertia_of_a_cloud_of_points():
    """The pseudo-inertia is the second moment of the homogeneous coordinates of all mass."""
    rng = np.random.default_rng(5)
    masses, points = rng.uniform(0.1, 1, 9), rng.normal(size=(9, 3))
    i = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, points, strict=True))
    parameters = np.r_[masses.sum(), masses @ points, i[0, 0], i[0, 1], i[1, 1], i[0, 2], i[1, 2], i[2, 2]]
    homogeneous = np.column_stack([points, np.ones(9)])
    np.testing.assert_allclose(pseudo_inertia(parameters), (homogeneous * masses[:, None]).T @ homogeneous)
    np.testing.assert_allclose(from_pseudo_inertia(pseudo_inertia(parameters)), parameters)
