"""The compiled algebra of evidence where test_evidence.py does not see it: moments, rounding, and what is refused."""

import numpy as np
import pytest
from helpers.spoiled_arguments import assert_refused
from hypothesis import given, settings
from hypothesis import strategies as st

from icub_learning.dynamics.changes import _evidence


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 9))
def test_remember(seed, m):
    rng = np.random.default_rng(seed)
    near, far = 2, 5
    past, moments, error = rng.standard_normal((far + 1, m)), rng.standard_normal((4, m, m)), rng.standard_normal(m)
    mean = rng.standard_normal(m)
    new_past, new_mean = np.vstack([past[1:], error]), 0.9 * mean + 0.1 * error
    centred = new_past - new_mean
    products = [np.outer(centred[-1], centred[-1 - lag]) for lag in (0, near, far)] + [np.outer(new_mean, new_mean)]
    expected = moments + (np.array(products) - moments) / 7.0
    _evidence.remember(past, mean, moments, np.empty((2, m)), error, m, near, far, 0.1, 1.0 / 7.0)
    np.testing.assert_array_equal(past, new_past)
    np.testing.assert_allclose(mean, new_mean, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(moments, expected, rtol=1e-9, atol=1e-9)


def test_information_that_is_indefinite_by_rounding_is_explained():
    """Squares of numbers of 1e10 have rounding errors of 1e4: no pivot may fall below its value without data."""
    x = np.random.default_rng(0).standard_normal(10) * 1e10
    information = np.outer(x, x) - 1e3 * np.eye(10)
    root, mean = np.empty((10, 10)), np.empty(10)
    assert np.isfinite(_evidence.explain(root, mean, information, x, np.ones(10), 10)) and (np.diag(root) >= 1.0).all()
    assert mean @ x == pytest.approx(1.0, rel=1e-6)  # the value without rounding: x'x / (1 + x'x)


def test_what_is_not_positive_definite_is_refused():
    with pytest.raises(ValueError, match="matrix is not positive definite"):
        _evidence.factor(np.empty((2, 2)), np.diag([1.0, -2.0]), np.ones(2), 2)
    arrays = np.eye(2), np.empty((2, 1)), np.empty(1), np.empty(1), np.ones(2), np.ones(1), np.ones(1)
    with pytest.raises(ValueError, match="innovations is not positive definite"):
        _evidence.predict(*arrays, np.array([-9.0]), np.zeros(2), 1, 1.0)
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="D A D is not positive definite"):
            _evidence.explain(np.empty(1), np.empty(1), np.array([bad]), np.ones(1), np.ones(1), 1)


def ones(*sizes):
    return [np.ones(size) for size in sizes]


MEMORY = tuple(ones(24, 10, 4))  # evidence for two causes, of 1 and 3 coefficients, in three outputs
CALLS = {
    "remember": [*ones(18, 3, 36, 6, 3), 3, 2, 5, 0.1, 2.0], "predict": [*ones(36, 18, 9, 9, 2, 9, 9, 9, 6), 3, 1.0],
    "factor": [*ones(9, 9, 3), 3], "step": [*ones(24, 12, 12, 2, 18, 9), 3, 4],
    "add": [MEMORY, *ones(12, 3, 2, 18, 9), 3, (1, 3)], "explain": [*ones(16, 4, 16, 4, 4), 4],
}  # fmt: skip


def called(name):
    """Return a function of the module; `add` takes a memory as the second one, after a good memory."""
    function = getattr(_evidence, name)
    return function if name != "add" else lambda memory, *rest: function((MEMORY, memory), *rest)


@pytest.mark.parametrize("name", CALLS)
def test_what_does_not_fit_is_refused(name):
    assert_refused(called(name), CALLS[name])


@pytest.mark.parametrize(("name", "sizes", "message"), [
    ("remember", (0, 2, 5, 0.1, 2.0), "sizes are 0 and 2, must be 1 to 32767"),
    ("remember", (3, 6, 5, 0.1, 2.0), "near is 6, more than far = 5"),
    ("predict", (2**15, 1.0), "covariance: holds 100 numbers, needs 4294967296"),
    ("step", (2**40, 4), "m: is 1099511627776, must be 0 to 2147483647"), ("step", (3, 0), "sizes are 3 and 0"),
    ("add", (3, ()), "sizes are 3 and 0"), ("add", (3, (1, 0)), "sizes are 0 and 1"),
    ("add", (3, (2**14, 2**14)), "sizes are 16384 and 32768"), ("explain", (0,), "sizes are 0 and 0"),
])  # fmt: skip
def test_sizes_that_are_impossible_are_refused(name, sizes, message):
    arrays = [np.ones(100) if isinstance(value, np.ndarray) else value for value in CALLS[name][: -len(sizes)]]
    with pytest.raises(ValueError, match=message):
        called(name)(*arrays, *sizes)
