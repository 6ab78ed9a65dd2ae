"""Identifiable combinations: known ranks, exact reproduction of the regressor, and a closed form."""

import numpy as np
import pinocchio
import pytest
from helpers.robots import ICUB, LEFT_ARM, PANDA, PANDA_JOINTS, RIGHT_ARM, UR10, UR10_JOINTS, random_state

from icub_learning.dynamics.regressors.regressor import base_projection
from icub_learning.dynamics.regressors.torque_regressor import TorqueRegressor
from icub_learning.dynamics.regressors.wrench_regressor import WrenchRegressor

REGRESSORS = {
    "right arm": lambda: WrenchRegressor.from_urdf(ICUB, RIGHT_ARM, "r_arm_ft_sensor", offset=False),
    "right arm with offsets": lambda: WrenchRegressor.from_urdf(ICUB, RIGHT_ARM, "r_arm_ft_sensor"),
    "left arm": lambda: WrenchRegressor.from_urdf(ICUB, LEFT_ARM, "l_arm_ft_sensor", offset=False),
    "four joints": lambda: WrenchRegressor.from_urdf(ICUB, RIGHT_ARM[:4], "r_arm_ft_sensor"),
    "UR10": lambda: TorqueRegressor.from_urdf(UR10, UR10_JOINTS),
    "UR10 with plain friction": lambda: TorqueRegressor.from_urdf(UR10, UR10_JOINTS, ("coulomb", "viscous", "offset")),
    "UR10 without friction": lambda: TorqueRegressor.from_urdf(UR10, UR10_JOINTS, friction=False),
    "Panda": lambda: TorqueRegressor.from_urdf(PANDA, PANDA_JOINTS[:7], friction=False),
}


@pytest.fixture(scope="module")
def regressors():
    return {name: make() for name, make in REGRESSORS.items()}


def stacked(regressor, seeds):
    return np.concatenate([regressor(*random_state(regressor.n_joints, seed)) for seed in seeds])


@pytest.mark.parametrize(
    ("name", "rank"),
    # 38 of 50: two independent computations; 36 of 60 and 43 of 70: the literature's numbers for 6 and 7 joints.
    [
        ("right arm", 38),
        ("left arm", 38),
        ("right arm with offsets", 38 + 6),
        ("UR10 without friction", 36),
        ("Panda", 43),
        ("UR10 with plain friction", 36 + 18),
        # The rotors of the first two joints, whose axes meet at right angles, are not told from the links' moments.
        ("UR10", 36 + 36 - 2),
    ],
)
def test_known_ranks(name, rank, regressors):
    assert regressors[name].n_base == rank
    assert regressors[name].base_projection.shape == (rank, regressors[name].n_parameters)


def test_whole_icub_has_212_identifiable_combinations_of_320():
    joints = list(pinocchio.buildModelFromUrdf(str(ICUB)).names)[1:]
    regressor = TorqueRegressor.from_urdf(ICUB, joints, friction=False)
    assert (regressor.n_base, regressor.n_parameters) == (212, 320)


@pytest.mark.parametrize("name", REGRESSORS)
def test_what_the_projection_does_not_see_has_no_effect_and_the_rest_has(name, regressors):
    regressor, projection = regressors[name], regressors[name].base_projection
    directions = np.linalg.svd(projection)[2]
    stack = stacked(regressor, range(3000, 3100))
    scale = np.abs(stack).max()
    silent, heard = directions[regressor.n_base :], directions[: regressor.n_base]
    assert np.abs(stack @ silent.T).max() < 1e-9 * scale
    assert np.linalg.norm(stack @ heard.T, axis=0).min() > 1e-3


@pytest.mark.parametrize("name", REGRESSORS)
def test_rows_are_in_reduced_echelon_form(name, regressors):
    """Each combination starts at its own parameter, with factor 1, and that parameter is in no other combination."""
    projection = regressors[name].base_projection
    first = [int(np.flatnonzero(row)[0]) for row in projection]
    assert first == sorted(set(first))
    np.testing.assert_array_equal(projection[:, first], np.eye(len(first)))


def test_planar_pendulum_in_closed_form():
    """Torque of a two-link arm in the vertical plane, textbook form: link 2 adds its mass to two combinations."""

    def torques(q, v, a):
        """Columns: first moment and inertia of link 1, then m, m c and inertia of link 2 hanging at distance 0.5."""
        length, g = 0.5, 9.81
        c2, s2 = np.cos(q[1]), np.sin(q[1])
        both, c1, c12 = a[0] + a[1], np.cos(q[0]), np.cos(q[0] + q[1])
        coupling = length * (c2 * (2 * a[0] + a[1]) - s2 * (2 * v[0] * v[1] + v[1] ** 2)) + g * c12
        return np.array(
            [
                [g * c1, a[0], length**2 * a[0] + length * g * c1, coupling, both],
                [0.0, 0.0, 0.0, length * (c2 * a[0] + s2 * v[0] ** 2) + g * c12, both],
            ]
        )

    expected = [[1, 0, 0.5, 0, 0], [0, 1, 0.25, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1]]
    np.testing.assert_allclose(base_projection(torques, 2, 5), expected, atol=1e-9)


def test_a_column_of_zeros_takes_part_in_no_combination():
    def constant(q, v, a):
        return np.array([[1.0, 0.0, 2.0]])

    np.testing.assert_allclose(base_projection(constant, 1, 3), [[1.0, 0.0, 2.0]], atol=1e-12)
