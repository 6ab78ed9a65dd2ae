"""The compiled loops of an aggregate beside NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icub_learning.dynamics.estimators import _experts

SIZES = st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 4), st.integers(1, 7), st.integers(1, 40))


@pytest.fixture(params=_experts.available(), autouse=True, scope="module")
def _version(request):
    before = _experts.use(request.param)
    yield
    _experts.use(before)


@given(SIZES, st.booleans(), st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=60)
def test_errors_are_those_of_each_expert(sizes, with_rigid, seed):
    ages, scales, learners, outputs, features = sizes
    random = np.random.default_rng(seed)
    weights = random.normal(size=(scales, ages, learners, outputs, features))
    rows, measured = random.normal(size=(scales, features)), random.normal(size=outputs)
    rigid = random.normal(size=(ages, outputs)) if with_rigid else None
    expected = np.einsum("salof,sf->aslo", weights, rows)
    if rigid is not None:
        expected[:, :, 1::2] += rigid[:, None, None]
    expected = expected.reshape(ages, -1, outputs)
    if rigid is not None:
        expected = np.concatenate([rigid[:, None], expected], axis=1)
    errors = np.empty(expected.shape)
    assert _experts.judge(errors, weights, rows, rigid, measured, *sizes)
    np.testing.assert_allclose(errors, expected - measured, rtol=0.0, atol=1e-12 * features)


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("place", range(2 * 7 * 3))
def test_an_error_that_is_not_finite_is_found_wherever_it_is(bad, place):
    weights, rows, rigid = np.ones((3, 2, 2, 3, 4)), np.ones((3, 4)), np.ones((2, 3))
    age, expert, output = np.unravel_index(place, (2, 7, 3))
    if expert:
        weights[(expert - 1) // 2, age, (expert - 1) % 2, output, 1] = bad
    else:
        rigid[age, output] = bad
    assert not _experts.judge(np.empty((2, 7, 3)), weights, rows, rigid, np.zeros(3), 2, 3, 2, 3, 4)


@given(SIZES, st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=40)
def test_weighed_errors_are_a_product(sizes, seed):
    ages, rows, experts, outputs, _ = sizes
    random = np.random.default_rng(seed)
    tables, errors = random.normal(size=(ages, rows, experts, outputs)), random.normal(size=(ages, experts, outputs))
    out = np.empty((ages, rows, outputs))
    _experts.weigh(out, tables, errors, ages, rows, experts, outputs)
    np.testing.assert_allclose(out, np.einsum("arej,aej->arj", tables, errors), rtol=0.0, atol=1e-13)


@given(SIZES, st.integers(0, 9), st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=40)
def test_combined_weights_are_a_product(sizes, padding, seed):
    scales, learners, outputs, _, half = sizes
    random = np.random.default_rng(seed)
    shares = random.normal(size=(scales, learners, outputs))
    weights = random.normal(size=(scales, learners, outputs, 2 * half + padding))
    out = np.empty((outputs, 2, scales, half))
    _experts.combine(out, shares, weights, scales, learners, outputs, half, 2 * half + padding)
    parts = weights[..., : 2 * half].reshape(scales, learners, outputs, 2, half)
    np.testing.assert_allclose(out, np.einsum("slo,slopk->opsk", shares, parts), rtol=0.0, atol=1e-13)


def test_buffers_that_are_too_small_and_sizes_that_are_none_are_refused():
    small, large = np.empty(1), np.empty(500)
    for out, weights, rows, rigid, measured in (
        (small, large, large, large, large),
        (large, small, large, large, large),
        (large, large, small, large, large),
        (large, large, large, small, large),
        (large, large, large, large, small),
    ):
        with pytest.raises(ValueError, match="holds 1 numbers, needs"):
            _experts.judge(out, weights, rows, rigid, measured, 2, 2, 2, 2, 2)
    for call in (
        lambda: _experts.weigh(small, large, large, 2, 2, 2, 2),
        lambda: _experts.combine(large, large, small, 2, 2, 2, 2, 4),
    ):
        with pytest.raises(ValueError, match="holds 1 numbers"):
            call()
    with pytest.raises(ValueError, match="stride is 3"):
        _experts.combine(large, large, large, 2, 2, 2, 2, 3)
    for sizes in ((0, 1, 1, 1), (1, -1, 1, 1), (2**40, 2**40, 1, 1)):
        with pytest.raises(ValueError, match="size"):
            _experts.weigh(large, large, large, *sizes)
