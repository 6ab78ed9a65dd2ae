"""The wrench regressor against Pinocchio's recursive Newton-Euler algorithm and Newton's law on point masses."""

import re

import numpy as np
import pinocchio
import pytest
from helpers import point_mass_arm
from helpers.robots import ICUB, LEFT_ARM, PANDA, PANDA_JOINTS, RIGHT_ARM, random_state

from icub_learning.dynamics.estimators.saved_states import describe, rebuild_regressor
from icub_learning.dynamics.regressors.torque_regressor import TorqueRegressor
from icub_learning.dynamics.regressors.wrench_regressor import WrenchRegressor
from icub_learning.errors import ParameterError, ShapeError

CASES = {
    "right arm": (ICUB, RIGHT_ARM, "r_arm_ft_sensor"),
    "left arm": (ICUB, LEFT_ARM, "l_arm_ft_sensor"),
    "torso and arm": (ICUB, ("torso_pitch", "torso_roll", "torso_yaw", *RIGHT_ARM), "r_arm_ft_sensor"),
    "elbow and shoulder only, in disorder": (ICUB, (RIGHT_ARM[3], *RIGHT_ARM[:3]), "r_arm_ft_sensor"),
    "arm above the sensor only": (ICUB, RIGHT_ARM[:3], "r_arm_ft_sensor"),
    "leg": (ICUB, ("r_hip_pitch", "r_hip_roll", "r_knee", "r_ankle_roll"), "r_leg_ft_sensor"),
    "panda's wrist": (PANDA, PANDA_JOINTS, "panda_hand_joint"),
}


@pytest.fixture(scope="module")
def regressors():
    return {name: WrenchRegressor.from_urdf(*case) for name, case in CASES.items()}


class JointForce:
    """Pinocchio's own force at the sensor: in the unreduced model, with the sensor as a revolute joint held at 0."""

    def __init__(self, urdf, joints, sensor):
        text = urdf.read_text()
        fixed = re.compile(rf'<joint name="{sensor}" type="fixed">(.*?)</joint>', re.DOTALL)
        inside = re.sub(r"<axis[^>]*/>", "", fixed.search(text)[1])
        limit = '<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/>'
        text = fixed.sub(lambda _: f'<joint name="{sensor}" type="revolute">{inside}{limit}</joint>', text)
        self.model = pinocchio.buildModelFromXML(text)
        self.sensor = self.model.getJointId(sensor)
        self.columns = [self.model.joints[self.model.getJointId(joint)].idx_v for joint in joints]
        assert self.model.nq == self.model.nv

    def __call__(self, q, v, a):
        data = self.model.createData()
        state = np.zeros((3, self.model.nv))
        state[0] = np.clip(0.0, self.model.lowerPositionLimit, self.model.upperPositionLimit)
        state[:, self.columns] = q, v, a
        pinocchio.rnea(self.model, data, *state)
        return data.f[self.sensor].vector


@pytest.mark.parametrize("name", CASES)
def test_regressor_times_nominal_parameters_is_pinocchios_joint_force(name, regressors):
    regressor, force = regressors[name], JointForce(*CASES[name])
    for seed in range(100):
        state = random_state(regressor.n_joints, seed)
        expected = force(*state)
        scale = max(1.0, np.abs(expected).max())
        found = regressor(*state) @ regressor.nominal_parameters
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * scale)


def test_wrench_and_torques_are_newtons_law_on_every_point_mass():
    """Independent of Pinocchio: revolute, continuous and prismatic joints, and a link fixed beyond the last one."""
    arm = point_mass_arm.urdf(), point_mass_arm.JOINTS
    both = WrenchRegressor.from_urdf(*arm, point_mass_arm.SENSOR), TorqueRegressor.from_urdf(*arm)
    for seed in range(20):
        random = np.random.default_rng(seed)
        state = random.uniform(-2.5, 2.5, 3), random.normal(0, 1.5, 3), random.normal(0, 5, 3)
        for regressor, expected in zip(both, point_mass_arm.wrench_and_torques(*state), strict=True):
            found = regressor(*state) @ regressor.nominal_parameters
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)
        assert np.abs(point_mass_arm.wrench_and_torques(*state)[0]).max() > 10


def test_a_robot_at_rest_shows_the_weight_beyond_the_sensor_pointing_up(regressors):
    """The sign: what carries the arm pushes it up; the sum of forces is the weight in any posture."""
    regressor = regressors["right arm"]
    mass = regressor.nominal_parameters[::10].sum()
    zero = np.zeros(7)
    force = (regressor(zero, zero, zero) @ regressor.nominal_parameters)[:3]
    model = pinocchio.buildModelFromUrdf(str(ICUB))
    data = model.createData()
    pinocchio.framesForwardKinematics(
        model, data, np.where(np.isin(model.names[1:], RIGHT_ARM), 0, np.clip(0, model.lowerPositionLimit, None))
    )
    rotation = data.oMf[model.getFrameId("r_upper_arm")].rotation
    np.testing.assert_allclose(rotation @ force, [0, 0, 9.81 * mass], atol=1e-9)


def test_names_and_sizes(regressors):
    regressor = regressors["right arm"]
    assert (regressor.n_joints, regressor.n_outputs, regressor.n_parameters) == (7, 6, 56)
    assert regressor.parameter_names[50:] == tuple(f"offset.{axis}" for axis in ("fx", "fy", "fz", "tx", "ty", "tz"))
    assert regressor.offset_indices == tuple(range(50, 56))
    assert regressor.joints == RIGHT_ARM
    assert regressor.sensor == "r_arm_ft_sensor"
    assert regressor.output_names == ("force.x", "force.y", "force.z", "torque.x", "torque.y", "torque.z")
    assert regressor.parameter_names[20:30] == tuple(
        f"r_forearm.{name}" for name in ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
    )


@pytest.fixture(scope="module")
def all_regressors(regressors):
    torques = (
        TorqueRegressor.from_urdf(PANDA, PANDA_JOINTS, friction=own, coulomb_velocity=0.2) for own in (False, True)
    )
    return [*regressors.values(), *torques]


def test_a_call_changes_no_input_and_no_earlier_result(all_regressors):
    for regressor in all_regressors:
        state = random_state(regressor.n_joints, 0)
        copies = [values.copy() for values in state]
        first = regressor(*state)
        kept = first.copy()
        assert first.flags.c_contiguous and first.flags.owndata
        regressor(*random_state(regressor.n_joints, 1))
        np.testing.assert_array_equal(first, kept)
        for values, copy in zip(state, copies, strict=True):
            np.testing.assert_array_equal(values, copy)


@pytest.mark.parametrize("shape", [(), (1,), (6,), (8,), (1, 7)])
def test_a_state_of_the_wrong_size_is_refused_by_name(shape, regressors):
    good = np.zeros(7)
    for position, name in enumerate("qva"):
        state = [good] * 3
        state[position] = np.zeros(shape)
        with pytest.raises(ShapeError, match=f"^{name} has shape"):
            regressors["right arm"](*state)


def test_a_regressor_is_rebuilt_from_its_state(all_regressors):
    for regressor in all_regressors:
        again = rebuild_regressor(describe(regressor))
        assert again.parameter_names == regressor.parameter_names
        state = random_state(regressor.n_joints, 3)
        np.testing.assert_array_equal(again(*state), regressor(*state))


def test_a_sensor_that_shows_the_reaction_has_the_opposite_sign():
    action, reaction = (
        WrenchRegressor.from_urdf(ICUB, RIGHT_ARM, "r_arm_ft_sensor", direction)
        for direction in ("parent_to_child", "child_to_parent")
    )
    state = random_state(7, 4)
    np.testing.assert_array_equal(reaction(*state)[:, :50], -action(*state)[:, :50])
    np.testing.assert_array_equal(reaction(*state)[:, 50:], np.eye(6))  # offsets are those of what the sensor shows
    np.testing.assert_array_equal(reaction.nominal_parameters, action.nominal_parameters)
    with pytest.raises(ParameterError, match="direction"):
        WrenchRegressor.from_urdf(ICUB, RIGHT_ARM, "r_arm_ft_sensor", "upwards")
