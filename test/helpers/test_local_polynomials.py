"""Causal derivatives: exact on polynomials, right instant, and what they do at gaps and at the start."""

import numpy as np
import pytest
from helpers.local_polynomials import LocalPolynomials
from hypothesis import given
from hypothesis import strategies as st

PERIOD = 5_000_000  # ns


def cubic(t):
    """Two joints on cubic paths: position, velocity, acceleration at time t [s]."""
    c = np.array([[0.3, -0.2], [0.7, 1.1], [-0.5, 2.0], [4.0, -3.0]])
    return c[0] + c[1] * t + c[2] * t**2 + c[3] * t**3, c[1] + 2 * c[2] * t + 3 * c[3] * t**2, 2 * c[2] + 6 * c[3] * t


@given(
    gaps=st.lists(st.integers(1_000_000, 9_000_000), min_size=12, max_size=25),
    window=st.integers(4, 12),
    velocity_weight=st.sampled_from([0.0, 0.01, 1.0]),
    data=st.data(),
)
def test_exact_on_cubics_with_irregular_stamps_at_both_instants(gaps, window, velocity_weight, data):
    delay = data.draw(st.integers(0, window - 1))
    derivatives = LocalPolynomials(2, window, 3, velocity_weight, delay)
    stamps = 10**18 + np.cumsum(gaps)
    for stamp in stamps:
        q, v, _ = cubic((stamp - stamps[0]) * 1e-9)
        derivatives.add(int(stamp), q, v)
    for motion, expected in ((derivatives.newest(), stamps[-1]), (derivatives.delayed(), stamps[-1 - delay])):
        assert motion.stamp == expected
        q, v, a = cubic((expected - stamps[0]) * 1e-9)
        np.testing.assert_allclose(motion.position, q, atol=1e-9)
        np.testing.assert_allclose(motion.velocity, v, atol=1e-6)
        np.testing.assert_allclose(motion.acceleration, a, atol=3e-3)


@given(late=st.floats(0.0, 0.02), window=st.integers(4, 12))
def test_velocities_known_to_be_late_are_put_where_they_belong(late, window):
    derivatives = LocalPolynomials(2, window, 3, 0.05, 2, velocity_delay=late)
    for k in range(20):
        derivatives.add(10**9 + k * PERIOD, cubic(k * 5e-3)[0], cubic(k * 5e-3 - late)[1])
    for motion, instant in ((derivatives.newest(), 19 * 5e-3), (derivatives.delayed(), 17 * 5e-3)):
        _, v, a = cubic(instant)
        np.testing.assert_allclose(motion.velocity, v, atol=1e-6)
        np.testing.assert_allclose(motion.acceleration, a, atol=3e-3)


def test_without_velocities_they_are_estimated_from_positions():
    derivatives = LocalPolynomials(2, 9, 3, 0.0, 4)
    for k in range(20):
        derivatives.add(10**9 + k * PERIOD, cubic(k * 5e-3)[0], None)
    np.testing.assert_allclose(derivatives.newest().velocity, cubic(19 * 5e-3)[1], atol=1e-6)


def test_first_samples_are_answered_with_what_they_determine():
    derivatives = LocalPolynomials(1, 9, 3, 0.05, 4)
    derivatives.add(10**9, np.array([0.2]), np.array([1.5]))
    first = derivatives.newest()
    np.testing.assert_allclose([first.position[0], first.velocity[0], first.acceleration[0]], [0.2, 1.5, 0.0])
    for k in range(1, 9):
        assert derivatives.delayed() is None
        derivatives.add(10**9 + k * PERIOD, np.array([0.2 + 1.5 * k * 5e-3]), np.array([1.5]))
        np.testing.assert_allclose(derivatives.newest().velocity, [1.5], rtol=1e-9)
    assert derivatives.delayed().stamp == 10**9 + 4 * PERIOD


@pytest.mark.parametrize("max_gap, gap", [(0.1, 150), (10.0, 51)])  # seconds, and in periods
def test_a_gap_starts_the_window_anew(max_gap, gap):
    derivatives = LocalPolynomials(1, 5, 2, 0.05, 2, max_gap=max_gap)
    for k in range(5):
        derivatives.add(10**9 + k * PERIOD, np.array([100.0 * k]), np.array([0.0]))
    derivatives.add(10**9 + (4 + gap) * PERIOD, np.array([1.0]), np.array([0.5]))
    assert derivatives.delayed() is None
    np.testing.assert_allclose(derivatives.newest().position, [1.0])


def test_the_middle_of_the_window_is_more_certain_than_its_end():
    rng = np.random.default_rng(1)
    derivatives = LocalPolynomials(1, 15, 3, 0.05, 7)
    ends, middles = [], []
    for k in range(2000):
        t = k * 5e-3
        noise = rng.normal(scale=[2e-4, 4e-3])
        derivatives.add(
            10**9 + k * PERIOD, np.array([np.sin(2 * t) + noise[0]]), np.array([2 * np.cos(2 * t) + noise[1]])
        )
        if k > 20:
            ends.append(derivatives.newest().acceleration[0] + 4 * np.sin(2 * t))
            middles.append(derivatives.delayed().acceleration[0] + 4 * np.sin(2 * (t - 7 * 5e-3)))
    assert np.std(middles) < 0.5 * np.std(ends)
