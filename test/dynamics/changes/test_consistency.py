"""Possible bodies: always found, the nearest ones also by another optimizer, and unchanged if possible already."""

from dataclasses import replace

import numpy as np
import pinocchio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from icub_learning.dynamics.changes.consistency import ConsistentParameters, bodies_of, is_consistent, possible
from icub_learning.dynamics.changes.load import Load, about_centre
from icub_learning.dynamics.regressors.link_effects import pseudo_inertia
from icub_learning.errors import ParameterError, ShapeError

BALLS = [pinocchio.Inertia.FromSphere(mass, 0.06) for mass in (1.0, 0.3)]
BALLS[0].lever = np.array([0.02, 0.0, 0.1])
NOMINAL = np.concatenate([*(ball.toDynamicParameters() for ball in BALLS), [0.0]])
BODIES = np.arange(20).reshape(2, 10)


def divergence(parameters):
    total = 0.0
    for body in BODIES:
        ratio = np.linalg.solve(pseudo_inertia(NOMINAL[body]), pseudo_inertia(parameters[body]))
        sign, logarithm = np.linalg.slogdet(ratio)
        total += np.trace(ratio) - logarithm - 4 if sign > 0 and is_consistent(parameters[body]) else 1e200
    return total


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31), st.floats(-3, 6) | st.floats(6, 200), st.integers(1, 30))
def test_every_answer_is_possible(seed, magnitude, rank):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((rank, 21)) * 10 ** rng.uniform(-2, 2, 21)
    found = ConsistentParameters(NOMINAL, BODIES).nearest(10**magnitude * rng.standard_normal(21), rows.T @ rows)
    assert all(is_consistent(found[body]) for body in BODIES)


@pytest.mark.parametrize("samples", [50.0, 1e4, 1e7])
def test_answer_is_the_minimum(samples):
    """With many samples of an impossible body, the minimum lies at the bounds up to rounding."""
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((15, 21))
    information, estimate = samples * rows.T @ rows, NOMINAL + 0.1 * rng.standard_normal(21)
    found = ConsistentParameters(NOMINAL, BODIES).nearest(estimate, information)

    def value(x):
        return 0.5 * (x - estimate) @ information @ (x - estimate) + divergence(x)

    for _ in range(50):
        assert value(found) <= value(found + 1e-4 * rng.standard_normal(21) * np.abs(found).clip(1e-6)) + 1e-6
    other = minimize(value, found * rng.uniform(0.99, 1.01, 21), method="Nelder-Mead", options={"maxiter": 500})
    assert value(found) <= other.fun + 1e-6


def test_what_is_known_and_possible_stays_and_offsets_follow_and_without_data_bodies_are_nominal():
    target = np.concatenate([1.5 * NOMINAL[:20], [7.0]])
    found = ConsistentParameters(NOMINAL, BODIES).nearest(target, 1e13 * np.eye(21))
    np.testing.assert_allclose(found, target, rtol=1e-4, atol=1e-9)
    found = ConsistentParameters(NOMINAL, BODIES).nearest(np.full(21, -3.0), np.zeros((21, 21)))
    np.testing.assert_allclose(found[:20], NOMINAL[:20], rtol=1e-4, atol=1e-9)


def test_massless_link_becomes_possible_and_bad_sizes_are_refused():
    pseudo = possible(np.zeros((4, 4)))
    assert (np.linalg.eigvalsh(pseudo) > 0).all() and pseudo[3, 3] < 0.01
    with pytest.raises(ShapeError):
        ConsistentParameters(NOMINAL, BODIES).nearest(np.zeros(3), np.zeros((3, 3)))
    with pytest.raises(ParameterError):
        possible(np.full((4, 4), np.nan))


def test_names_of_bodies():
    names = ["a.m", *(f"a.{i}" for i in range(9)), "offset.fx", "b.m", *(f"b.{i}" for i in range(9))]
    np.testing.assert_array_equal(bodies_of(names), [range(10), range(11, 21)])


def test_load_that_is_hardly_known_is_a_ball():
    estimate = np.array([0.5, 0.01, 0.0, 0.02, *[-0.01] * 6])
    load = Load(1, 5.0, estimate, np.diag(np.square([0.01, 0.001, 0.001, 0.001, *[0.1] * 6])))
    found, (mass, centre, inertia) = load.consistent(), load.body()
    assert (mass, centre.tolist()) == (load.mass, load.centre.tolist())  # of which the deviations are known
    np.testing.assert_array_equal(inertia, about_centre(found))
    mass, centre, inertia = replace(load, parameters=-estimate).body()
    assert mass > 0.0 and (np.linalg.eigvalsh(0.5 * np.trace(inertia) * np.eye(3) - inertia) > 0.0).all()
    assert is_consistent(found)
    np.testing.assert_allclose(found[:4], estimate[:4], atol=0.02)
    radius = (3 * 0.5 / (4000 * np.pi)) ** (1 / 3)
    np.testing.assert_allclose(np.diag(about_centre(found)), 0.4 * 0.5 * radius**2, rtol=0.5)
