"""Regressors against Pinocchio's recursive Newton-Euler algorithm and Newton's law on point masses; their columns; and
identifiable combinations: known ranks, exact reproduction of the regressor, and a closed form."""

import re

import numpy as np
import pinocchio
import pytest
from helpers import point_mass_arm
from helpers.robots import ICUB, LEFT_ARM, PANDA, PANDA_JOINTS, RIGHT_ARM, UR10, UR10_JOINTS, random_state
from numpy.polynomial import chebyshev

from icub_learning.dynamics import TorqueRegressor, WrenchRegressor
from icub_learning.dynamics.assembly import Settings, make_reader
from icub_learning.dynamics.estimators.saved_states import describe, rebuild_regressor
from icub_learning.dynamics.regressors.regressor import base_projection
from icub_learning.errors import ParameterError, ShapeError

SENSOR = "r_arm_ft_sensor"
CASES = {  # arguments of a regressor: of the wrench with a sensor, of torques without
    "right arm": (ICUB, RIGHT_ARM, SENSOR), "left arm": (ICUB, LEFT_ARM, "l_arm_ft_sensor"),
    "torso and arm": (ICUB, ("torso_pitch", "torso_roll", "torso_yaw", *RIGHT_ARM), SENSOR),
    "elbow and shoulder only, in disorder": (ICUB, (RIGHT_ARM[3], *RIGHT_ARM[:3]), SENSOR),
    "arm above the sensor only": (ICUB, RIGHT_ARM[:3], SENSOR),
    "leg": (ICUB, ("r_hip_pitch", "r_hip_roll", "r_knee", "r_ankle_roll"), "r_leg_ft_sensor"),
    "panda's wrist": (PANDA, PANDA_JOINTS, "panda_hand_joint"), "torques of the right arm": (ICUB, RIGHT_ARM),
    "torques of the left arm": (ICUB, LEFT_ARM), "UR10": (UR10, UR10_JOINTS),
    "UR10 in disorder": (UR10, (*UR10_JOINTS[3:], *UR10_JOINTS[:3])),
    "UR10, some joints held": (UR10, UR10_JOINTS[1:4]), "Panda": (PANDA, PANDA_JOINTS),
    "UR10's elbow alone": (UR10, UR10_JOINTS[2:3]), "iCub's elbow alone": (ICUB, RIGHT_ARM[3:4], SENSOR),
}  # fmt: skip
FURTHER = {
    "right arm without offsets": lambda: WrenchRegressor.from_urdf(*CASES["right arm"], offset=False),
    "four joints": lambda: WrenchRegressor.from_urdf(ICUB, RIGHT_ARM[:4], SENSOR),
    "UR10 with plain friction": lambda: TorqueRegressor.from_urdf(UR10, UR10_JOINTS, ("coulomb", "viscous", "offset")),
    "UR10 without friction": lambda: TorqueRegressor.from_urdf(UR10, UR10_JOINTS, friction=False),
    "Panda without friction": lambda: TorqueRegressor.from_urdf(PANDA, PANDA_JOINTS[:7], friction=False),
}


@pytest.fixture(scope="module")
def regressors():
    plain = {name: (WrenchRegressor if case[2:] else TorqueRegressor).from_urdf(*case) for name, case in CASES.items()}
    return plain | {name: make() for name, make in FURTHER.items()}


class Newton:
    """Pinocchio's own torques in the unreduced model, with all joints that are not listed at rest. With a sensor, its
    wrench instead: the sensor becomes a revolute joint that is held at 0."""

    def __init__(self, urdf, joints, sensor=None):
        text = urdf.read_text()
        if sensor:
            fixed = re.compile(rf'<joint name="{sensor}" type="fixed">(.*?)</joint>', re.DOTALL)
            inside = re.sub(r"<axis[^>]*/>", "", fixed.search(text)[1])
            limit = '<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/>'
            text = fixed.sub(lambda _: f'<joint name="{sensor}" type="revolute">{inside}{limit}</joint>', text)
        self.model = pinocchio.buildModelFromXML(text)
        self.sensor = sensor and self.model.getJointId(sensor)
        self.columns = [self.model.joints[self.model.getJointId(joint)].idx_v for joint in joints]
        assert self.model.nq == self.model.nv

    def __call__(self, q, v, a):
        data, state = self.model.createData(), np.zeros((3, self.model.nv))
        state[0] = np.clip(0.0, self.model.lowerPositionLimit, self.model.upperPositionLimit)
        state[:, self.columns] = q, v, a
        torques = pinocchio.rnea(self.model, data, *state)[self.columns]
        return data.f[self.sensor].vector if self.sensor else torques


@pytest.mark.parametrize("name", CASES)
def test_regressor_times_nominal_parameters_is_newton_and_euler(name, regressors):
    regressor, newton = regressors[name], Newton(*CASES[name])
    for seed in range(100):
        state = random_state(regressor.n_joints, seed)
        expected, found = newton(*state), regressor(*state) @ regressor.nominal_parameters
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * max(1.0, np.abs(expected).max()))


def test_wrench_and_torques_are_newtons_law_on_every_point_mass():
    """Independent of Pinocchio: revolute, continuous and prismatic joints, and a link fixed beyond the last one."""
    arm = point_mass_arm.urdf(), point_mass_arm.JOINTS
    both = WrenchRegressor.from_urdf(*arm, point_mass_arm.SENSOR), TorqueRegressor.from_urdf(*arm)
    for seed in range(20):
        random = np.random.default_rng(seed)
        state = random.uniform(-2.5, 2.5, 3), random.normal(0, 1.5, 3), random.normal(0, 5, 3)
        for regressor, expected in zip(both, point_mass_arm.wrench_and_torques(*state), strict=True):
            np.testing.assert_allclose(regressor(*state) @ regressor.nominal_parameters, expected, rtol=0, atol=1e-6)
        assert np.abs(point_mass_arm.wrench_and_torques(*state)[0]).max() > 10
    turned = 4e7 * np.array([name == "spin" for name in point_mass_arm.JOINTS])
    assert make_reader(Settings(), both[0]).read(point_mass_arm.JOINTS, turned).position.max() == 4e7


def test_names_and_sizes(regressors):
    regressor = regressors["right arm"]
    assert (regressor.n_joints, regressor.n_outputs, regressor.n_parameters) == (7, 6, 56)
    assert regressor.parameter_names[50:] == tuple(f"offset.{axis}" for axis in ("fx", "fy", "fz", "tx", "ty", "tz"))
    assert regressor.offset_indices == tuple(range(50, 56))
    assert regressor.joints == RIGHT_ARM and regressor.sensor == SENSOR
    assert regressor.output_names == ("force.x", "force.y", "force.z", "torque.x", "torque.y", "torque.z")
    links, own = zip(*(name.split(".") for name in regressor.parameter_names[:50]), strict=True)
    assert links[::10] == ("r_upper_arm", "r_elbow_1", "r_forearm", "r_wrist_1", "r_hand")
    assert own == 5 * ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")


def test_a_call_changes_no_input_and_no_earlier_result(regressors):
    for regressor in regressors.values():
        state = random_state(regressor.n_joints, 0)
        copies, first = [values.copy() for values in state], regressor(*state)
        kept = first.copy()
        assert first.flags.c_contiguous and first.flags.owndata
        regressor(*random_state(regressor.n_joints, 1))
        np.testing.assert_array_equal(first, kept)
        np.testing.assert_array_equal(state, copies)


@pytest.mark.parametrize("shape", [(), (1,), (6,), (8,), (1, 7)])
def test_a_state_of_the_wrong_size_is_refused_by_name(shape, regressors):
    for position, name in enumerate("qva"):
        state = [np.zeros(7)] * 3
        state[position] = np.zeros(shape)
        with pytest.raises(ShapeError, match=f"^{name} has shape"):
            regressors["right arm"](*state)


def test_a_regressor_is_rebuilt_from_its_state(regressors):
    for regressor in regressors.values():
        again = rebuild_regressor(describe(regressor))
        assert again.parameter_names == regressor.parameter_names
        state = random_state(regressor.n_joints, 3)
        np.testing.assert_array_equal(again(*state), regressor(*state))


def test_a_sensor_that_shows_the_reaction_has_the_opposite_sign(regressors):
    action, reaction = regressors["right arm"], WrenchRegressor.from_urdf(*CASES["right arm"], "child_to_parent")
    state = random_state(7, 4)
    np.testing.assert_array_equal(reaction(*state)[:, :50], -action(*state)[:, :50])
    np.testing.assert_array_equal(reaction(*state)[:, 50:], np.eye(6))  # offsets are those of the reading
    np.testing.assert_array_equal(reaction.nominal_parameters, action.nominal_parameters)
    with pytest.raises(ParameterError, match="direction"):
        WrenchRegressor.from_urdf(*CASES["right arm"], "upwards")


def test_friction_columns_belong_to_their_joint_only(regressors):
    regressor = TorqueRegressor.from_urdf(*CASES["UR10"], coulomb_velocity=0.1)
    assert regressor.n_parameters == 60 + 36 and regressor.output_names == regressor.joints == UR10_JOINTS
    q, v, a = random_state(6, 0)
    v[1] = 0.02
    phi, load = regressor(q, v, a), regressors["UR10 without friction"]
    torque, expected = load(q, v, a) @ load.nominal_parameters, np.zeros((6, 36))
    for j in range(6):
        sign = np.tanh(v[j] / 0.1)
        bump = sign * np.exp(-((v[j] / 0.05) ** 2))
        expected[j, 6 * j : 6 * j + 6] = sign, v[j], 1.0, bump, sign * abs(torque[j]), a[j]
    np.testing.assert_allclose(phi[:, 60:], expected, rtol=1e-12, atol=0)
    own = ("coulomb", "viscous", "offset", "stribeck", "load", "rotor")
    assert regressor.parameter_names[60:] == tuple(f"{joint}.{name}" for joint in UR10_JOINTS for name in own)
    assert regressor.offset_indices == tuple(range(62, 96, 6)) and not regressor.nominal_parameters[60:].any()
    np.testing.assert_array_equal(load(q, v, a), phi[:, :60])
    assert load.parameter_names == regressor.parameter_names[:60]


def test_friction_follows_the_callers_order_of_joints():
    forwards, backwards = (TorqueRegressor.from_urdf(UR10, joints) for joints in (UR10_JOINTS, UR10_JOINTS[::-1]))
    q, v, a = random_state(6, 4)
    values = dict(zip(forwards.parameter_names, np.random.default_rng(0).normal(size=96), strict=True))
    expected = forwards(q, v, a) @ [values[name] for name in forwards.parameter_names]
    found = backwards(q[::-1], v[::-1], a[::-1]) @ [values[name] for name in backwards.parameter_names]
    np.testing.assert_allclose(found[::-1], expected, rtol=1e-12)


@pytest.mark.parametrize(("name", "rank"), [
    # 38 of 50 by two independent computations; 36 of 60 and 43 of 70 in the literature, for 6 and 7 joints.
    ("right arm without offsets", 38), ("right arm", 38 + 6), ("UR10 without friction", 36),
    ("Panda without friction", 43), ("UR10 with plain friction", 36 + 18),
    # Rotors of the first two joints, whose axes meet at right angles, cannot be told from the links' inertias.
    ("UR10", 36 + 36 - 2),
])  # fmt: skip
def test_known_ranks(name, rank, regressors):
    assert regressors[name].base_projection.shape == (rank, regressors[name].n_parameters)


def test_whole_icub_has_212_identifiable_combinations_of_320():
    regressor = TorqueRegressor.from_urdf(ICUB, list(pinocchio.buildModelFromUrdf(str(ICUB)).names)[1:], friction=False)
    assert (regressor.n_base, regressor.n_parameters) == (212, 320)


@pytest.mark.parametrize("name", ("right arm", "UR10", *FURTHER))
def test_what_the_projection_does_not_see_has_no_effect_and_the_rest_has(name, regressors):
    """In the reduced echelon form each combination starts at a parameter with factor 1, which is in no other one."""
    regressor, projection = regressors[name], regressors[name].base_projection
    first = [int(np.flatnonzero(row)[0]) for row in projection]
    assert first == sorted(set(first))
    np.testing.assert_array_equal(projection[:, first], np.eye(len(first)))
    stack = np.concatenate([regressor(*random_state(regressor.n_joints, seed)) for seed in range(3000, 3100)])
    heard, silent = np.split(np.linalg.svd(projection)[2], [regressor.n_base])
    assert np.abs(stack @ silent.T).max() < 1e-9 * np.abs(stack).max()
    assert np.linalg.norm(stack @ heard.T, axis=0).min() > 1e-3


def test_planar_pendulum_in_closed_form():
    """Torque of a two-link arm in the vertical plane, textbook form: link 2 adds its mass to two combinations."""

    def torques(q, v, a):
        """Return columns: m c and inertia of link 1, zeros, then m, m c and inertia of link 2 at distance 0.5."""
        length, g = 0.5, 9.81
        c2, s2 = np.cos(q[1]), np.sin(q[1])
        both, c1, c12 = a[0] + a[1], np.cos(q[0]), np.cos(q[0] + q[1])
        coupling = length * (c2 * (2 * a[0] + a[1]) - s2 * (2 * v[0] * v[1] + v[1] ** 2)) + g * c12
        first = [g * c1, a[0], 0.0, length**2 * a[0] + length * g * c1, coupling, both]
        return np.array([first, [0.0, 0.0, 0.0, 0.0, length * (c2 * a[0] + s2 * v[0] ** 2) + g * c12, both]])

    expected = [[1, 0, 0, 0.5, 0, 0], [0, 1, 0, 0.25, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1]]
    np.testing.assert_allclose(base_projection(torques, 2, 6), expected, atol=1e-9)


def test_columns_that_depend_are_told_from_those_that_nearly_do():
    """Powers of a position, the first four thrice each, and a Chebyshev polynomial, which is their sum."""
    expected = np.c_[np.repeat(np.eye(16)[:, :4], 3, axis=1), np.eye(16)[:, 4:], chebyshev.cheb2poly(np.eye(16)[15])]
    found = base_projection(lambda q, v, a: (q / np.pi)[:, None] ** np.arange(16) @ expected, 1, 25)
    np.testing.assert_allclose(found, expected, atol=1e-5)
