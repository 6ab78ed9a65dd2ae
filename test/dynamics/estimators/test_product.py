"""The compiled product beside NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icub_learning.dynamics.estimators import _product


@given(st.integers(0, 20), st.integers(1, 70), st.integers(0, 20), st.integers(0, 9), st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=60)
def test_multiply_is_a_product(rows, columns, padding, start, seed):
    random = np.random.default_rng(seed)
    matrix, vector = random.normal(size=(rows, columns + padding))[:, :columns], random.normal(size=columns)
    out = np.full(start + rows + 1, 7.0)
    _product.multiply(out, start, matrix, vector)
    np.testing.assert_allclose(out[start : start + rows], matrix @ vector, rtol=0.0, atol=1e-13 * columns)
    assert (out[:start] == 7.0).all()
    assert out[-1] == 7.0


@pytest.mark.parametrize(
    ("out", "start", "matrix", "vector"),
    [
        (np.empty(2), 0, np.zeros((3, 4)), np.zeros(4)),
        (np.empty(3), 1, np.zeros((3, 4)), np.zeros(4)),
        (np.empty(3), -1, np.zeros((3, 4)), np.zeros(4)),
        (np.empty(3), 0, np.zeros((3, 4)), np.zeros(3)),
        (np.empty(3), 0, np.zeros((3, 4)), np.zeros(5)),
        (np.empty(3), 0, np.zeros((4, 3)).T, np.zeros(4)),
        (np.empty(3), 0, np.zeros(3), np.zeros(3)),
        (np.empty(3), 0, np.zeros((3, 4), np.float32), np.zeros(4)),
    ],
)
def test_multiply_refuses_what_does_not_fit(out, start, matrix, vector):
    with pytest.raises(ValueError):
        _product.multiply(out, start, matrix, vector)
