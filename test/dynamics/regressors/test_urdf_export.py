"""The exported URDF is read by Pinocchio and MuJoCo, and has the dynamics of the learned parameters."""

import mujoco
import numpy as np
import pinocchio
import pytest
from helpers.robots import RIGHT_ARM, random_state

from icub_learning.dynamics import TorqueRegressor, WrenchRegressor
from icub_learning.dynamics.changes.consistency import ConsistentParameters, bodies_of, is_consistent
from icub_learning.dynamics.regressors.robot_model import RobotModel
from icub_learning.dynamics.regressors.urdf_export import with_inertias
from icub_learning.errors import ModelError
from icub_learning.robots import find_urdf

SENSOR = "r_arm_ft_sensor"


def consistent_parameters(regressor, seed):
    estimate = regressor.nominal_parameters * np.random.default_rng(seed).uniform(0.5, 2.0, regressor.n_parameters)
    finder = ConsistentParameters(regressor.nominal_parameters, bodies_of(regressor.parameter_names))
    return finder.nearest(estimate, 1e3 * np.eye(regressor.n_parameters))


@pytest.mark.parametrize(("joints", "too_light"), [(RIGHT_ARM, []), (RIGHT_ARM[:4], ["r_elbow_1"])])
def test_wrench_of_exported_robot_is_that_of_the_parameters(joints, too_light):
    """Wrenches are compared unless the learned mass of a link is below that of what hangs on it."""
    regressor = WrenchRegressor.from_urdf(find_urdf("icub"), joints, SENSOR, offset=False)
    parameters = consistent_parameters(regressor, 1)
    text, notes = with_inertias(find_urdf("icub"), joints, SENSOR, regressor.parameter_names, parameters)
    assert [note.partition(": less was learned")[0] for note in notes] == too_light
    again = WrenchRegressor.from_urdf(text, joints, SENSOR, offset=False)
    assert all(is_consistent(again.nominal_parameters[body]) for body in bodies_of(again.parameter_names))
    added = dict(zip(regressor.parameter_names, again.nominal_parameters - parameters, strict=True))
    assert all(note.endswith(f"by {added[f'{name}.m']:+.3g} kg") for name, note in zip(too_light, notes, strict=True))
    for seed in range(5 * (not too_light)):
        state = random_state(len(joints), seed)
        expected = regressor(*state) @ parameters
        np.testing.assert_allclose(again(*state) @ again.nominal_parameters, expected, rtol=1e-6, atol=1e-8)


def test_torques_of_exported_robot_are_those_of_pinocchio():
    joints = ("shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint")
    regressor = TorqueRegressor.from_urdf(find_urdf("ur10"), joints, friction=False)
    # All parameters are scaled by one factor, so that what is left for each link is a possible body too.
    parameters = 1.3 * regressor.nominal_parameters
    text, notes = with_inertias(find_urdf("ur10"), joints, None, regressor.parameter_names, parameters)
    assert not notes
    full = pinocchio.buildModelFromXML(text)
    data = full.createData()
    q, v, a = np.zeros((3, full.nv))
    index = [full.joints[full.getJointId(name)].idx_v for name in joints]
    q[index], v[index], a[index] = random_state(3, 0)
    torques = pinocchio.rnea(full, data, q, v, a)[index]
    np.testing.assert_allclose(regressor(q[index], v[index], a[index]) @ parameters, torques, rtol=1e-9, atol=1e-9)


def test_mujoco_reads_the_export():
    regressor = TorqueRegressor.from_urdf(find_urdf("panda"), [f"panda_joint{i}" for i in range(1, 8)], friction=False)
    parameters = consistent_parameters(regressor, 3)
    urdf = RobotModel(find_urdf("panda"), regressor.joints).urdf  # the text without meshes
    text, _ = with_inertias(urdf, regressor.joints, None, regressor.parameter_names, parameters)
    assert mujoco.MjSpec.from_string(text).compile().nq >= 7


def test_impossible_body_is_refused(regressor):
    parameters = regressor.nominal_parameters.copy()
    parameters[0] = -1.0
    with pytest.raises(ModelError, match="no possible body"):
        with_inertias(find_urdf("icub"), RIGHT_ARM, SENSOR, regressor.parameter_names, parameters)
