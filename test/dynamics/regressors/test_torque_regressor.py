"""The joint torque regressor against Pinocchio's rnea and against Newton's law on point masses; friction columns."""

import numpy as np
import pinocchio
import pytest
from helpers import point_mass_arm
from helpers.robots import ICUB, LEFT_ARM, PANDA, PANDA_JOINTS, RIGHT_ARM, UR10, UR10_JOINTS, random_state

from icub_learning.dynamics.regressors.torque_regressor import TorqueRegressor
from icub_learning.errors import ParameterError, ShapeError

CASES = {
    "iCub, right arm": (ICUB, RIGHT_ARM),
    "iCub, left arm": (ICUB, LEFT_ARM),
    "UR10": (UR10, UR10_JOINTS),
    "UR10 in disorder": (UR10, (*UR10_JOINTS[3:], *UR10_JOINTS[:3])),
    "UR10, some joints held": (UR10, UR10_JOINTS[1:4]),
    "Panda": (PANDA, PANDA_JOINTS),
}


class Torques:
    """Pinocchio's rnea on the unreduced model, all joints that are not listed at rest."""

    def __init__(self, urdf, joints):
        self.model = pinocchio.buildModelFromUrdf(str(urdf))
        self.columns = [self.model.joints[self.model.getJointId(joint)].idx_v for joint in joints]
        assert self.model.nq == self.model.nv

    def __call__(self, q, v, a):
        state = np.zeros((3, self.model.nv))
        state[0] = np.clip(0.0, self.model.lowerPositionLimit, self.model.upperPositionLimit)
        state[:, self.columns] = q, v, a
        return pinocchio.rnea(self.model, self.model.createData(), *state)[self.columns]


@pytest.mark.parametrize("friction", [True, False])
@pytest.mark.parametrize("name", CASES)
def test_regressor_times_nominal_parameters_is_rnea(name, friction):
    regressor, torques = TorqueRegressor.from_urdf(*CASES[name], friction=friction), Torques(*CASES[name])
    for seed in range(100):
        state = random_state(regressor.n_joints, seed)
        expected = torques(*state)
        scale = max(1.0, np.abs(expected).max())
        found = regressor(*state) @ regressor.nominal_parameters
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * scale)


def test_a_turn_of_a_continuous_joint_changes_nothing():
    regressor = TorqueRegressor.from_urdf(point_mass_arm.urdf(), point_mass_arm.JOINTS)
    q, v, a = random_state(3, 0)
    turned = q + np.array([0, 2 * np.pi, 0])
    np.testing.assert_allclose(regressor(turned, v, a), regressor(q, v, a), atol=1e-10)


def test_friction_columns_belong_to_their_joint_only():
    regressor = TorqueRegressor.from_urdf(*CASES["UR10"], coulomb_velocity=0.1)
    assert regressor.n_parameters == 60 + 36
    assert regressor.output_names == regressor.joints == UR10_JOINTS
    q, v, a = random_state(6, 0)
    v[1] = 0.02
    phi = regressor(q, v, a)
    load = TorqueRegressor.from_urdf(*CASES["UR10"], friction=False)
    torque = load(q, v, a) @ load.nominal_parameters
    expected = np.zeros((6, 36))
    for j in range(6):
        sign = np.tanh(v[j] / 0.1)
        bump = sign * np.exp(-((v[j] / 0.05) ** 2))
        expected[j, 6 * j : 6 * j + 6] = sign, v[j], 1.0, bump, sign * abs(torque[j]), a[j]
    np.testing.assert_allclose(phi[:, 60:], expected, rtol=1e-12, atol=0)
    assert regressor.parameter_names[60:66] == tuple(
        f"shoulder_pan_joint.{name}" for name in ("coulomb", "viscous", "offset", "stribeck", "load", "rotor")
    )
    assert [regressor.parameter_names[index] for index in regressor.offset_indices] == [
        f"{joint}.offset" for joint in UR10_JOINTS
    ]
    assert not regressor.nominal_parameters[60:].any()
    np.testing.assert_array_equal(load(q, v, a), phi[:, :60])
    assert load.parameter_names == regressor.parameter_names[:60]


def test_friction_follows_the_callers_order_of_joints():
    forwards, backwards = (TorqueRegressor.from_urdf(UR10, joints) for joints in (UR10_JOINTS, UR10_JOINTS[::-1]))
    q, v, a = random_state(6, 4)
    values = dict(zip(forwards.parameter_names, np.random.default_rng(0).normal(size=96), strict=True))
    expected = forwards(q, v, a) @ [values[name] for name in forwards.parameter_names]
    found = backwards(q[::-1], v[::-1], a[::-1]) @ [values[name] for name in backwards.parameter_names]
    np.testing.assert_allclose(found[::-1], expected, rtol=1e-12)


def test_bad_arguments_are_refused_by_name():
    for value in (0.0, -1.0, np.nan, "fast"):
        with pytest.raises(ParameterError, match="coulomb_velocity"):
            TorqueRegressor.from_urdf(UR10, UR10_JOINTS, coulomb_velocity=value)
    regressor = TorqueRegressor.from_urdf(UR10, UR10_JOINTS)
    with pytest.raises(ShapeError, match="v has shape"):
        regressor(np.zeros(6), np.zeros(1), np.zeros(6))
