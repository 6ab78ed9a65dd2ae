"""The compiled checks beside NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icub_learning.dynamics import _checks


@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 2**32 - 1), st.sampled_from([0, 4]))
@settings(deadline=None, max_examples=60)
def test_select_takes_what_indices_name(count, joints, seed, shift):
    random = np.random.default_rng(seed)
    values = random.normal(size=count)
    indices = random.integers(0, count, joints)
    memory = bytes(shift) + values.tobytes()
    out = np.empty(joints)
    assert _checks.select(out, np.frombuffer(memory, np.float64, count, shift), indices, 100.0)  # aligned or not
    np.testing.assert_array_equal(out, values[indices])
    assert _checks.select(out, memoryview(memory)[shift:].cast("d"), indices, 100.0)
    np.testing.assert_array_equal(out, values[indices])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 10.1, -10.1])
def test_select_tells_what_is_beyond_the_bound(bad):
    values = np.array([1.0, bad, 10.0, -10.0])
    out = np.empty(2)
    assert not _checks.select(out, values, np.array([0, 1]), 10.0)
    np.testing.assert_array_equal(out, [1.0, bad])
    assert _checks.select(out, values, np.array([2, 3]), 10.0)


@pytest.mark.parametrize(
    ("out", "values", "indices", "error"),
    [
        (np.empty(2), np.zeros(3), np.array([0, 3]), IndexError),
        (np.empty(2), np.zeros(3), np.array([-1, 0]), IndexError),
        (np.empty(1), np.zeros(3), np.array([0, 1]), ValueError),
        (np.empty(2), np.zeros(3, np.float32), np.array([0, 1]), ValueError),
        (np.empty(2), np.zeros(3), np.array([0, 1], np.int32), ValueError),
        (np.empty(2, np.float32), np.zeros(3), np.array([0, 1]), ValueError),
    ],
)
def test_select_refuses_what_does_not_fit(out, values, indices, error):
    with pytest.raises(error):
        _checks.select(out, values, indices, 1.0)


def test_finite_vectors():
    good = np.arange(3.0)
    assert _checks.finite_vectors((good, good.copy()), 3)
    assert _checks.finite_vectors((), 3)
    for bad in (np.zeros(2), np.zeros((3, 1)), np.zeros(3, np.float32), np.array([0.0, np.nan, 0.0]),
                np.array([np.inf, 0.0, 0.0]), [0.0, 0.0, 0.0], np.zeros(6)[::2], None):  # fmt: skip
        assert not _checks.finite_vectors((good, bad), 3)
