"""The compiled window of samples beside NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icub_learning.dynamics.motion import _window


@given(st.integers(1, 9), st.integers(1, 7), st.booleans(), st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=60)
def test_a_window_is_kept_and_read(window, joints, moving, seed):
    """After any number of samples, the newest ones lie side by side, oldest first."""
    random = np.random.default_rng(seed)
    total = int(random.integers(1, 3 * window + 1))
    kept, samples = [], np.zeros((2 * window, 2, joints))
    for index in range(total):
        position, velocity = random.normal(size=(2, joints))
        _window.push(samples, index % window, window, joints, position, velocity if moving else None, 0.5)
        kept = [*kept, (position, 0.5 * velocity if moving else np.zeros(joints))][-window:]
    count, first = len(kept), ((total - 1) % window) + 1 + window - len(kept)
    np.testing.assert_array_equal(samples[first : first + count], np.array(kept))
    coefficients = random.normal(size=(3, 2 * count if moving else count))
    values = np.array(kept).reshape(-1, joints) if moving else np.array(kept)[:, 0]
    out = np.empty((3, joints))
    _window.combine(out, coefficients, samples, first, count, joints, moving)
    np.testing.assert_allclose(out, coefficients @ values, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("place", [-1, 3])
def test_no_sample_is_written_outside_the_window(place):
    with pytest.raises(ValueError):
        _window.push(np.zeros((6, 2, 2)), place, 3, 2, np.zeros(2), None, 1.0)
    with pytest.raises(ValueError):
        _window.push(np.zeros((6, 2, 2)), 0, 3, 2, np.zeros(1), None, 1.0)
    with pytest.raises(ValueError):
        _window.push(np.zeros((6, 2, 2)), 0, 3, 2, np.zeros(2), np.zeros(1), 1.0)
    with pytest.raises(ValueError):
        _window.push(np.zeros((5, 2, 2)), 0, 3, 2, np.zeros(2), None, 1.0)
    with pytest.raises(ValueError):
        _window.combine(np.zeros((3, 2)), np.zeros((3, 3)), np.zeros((6, 2, 2)), 4, 3, 2, False)
