"""Weights that drift and targets that shift: fade and shift of the recursive core against batch solutions."""

import numpy as np
import pytest
from helpers.unchanged import unchanged
from hypothesis import given, settings
from hypothesis import strategies as st

from icub_learning.errors import NotFiniteError, ParameterError, ShapeError
from icub_learning.recursive import RecursiveLeastSquares

SIZES = st.tuples(st.integers(1, 24), st.integers(0, 24), st.integers(1, 30), st.integers(0, 2**32 - 1))


def covariance(learner):
    return np.linalg.inv(learner.factor.T @ learner.factor)


@settings(deadline=None)
@given(SIZES, st.floats(0.6, 0.999))
def test_fading_widens_what_is_known_of_the_first_weights_given_the_others_and_nothing_else(sizes, factor):
    d, count, n, seed = sizes
    count, random = min(count, d), np.random.default_rng(seed)
    learner = RecursiveLeastSquares(d, 2, random.uniform(0.5, 2.0, d), initial_weights=random.normal(size=(d, 2)))
    learner.update(random.normal(size=(n, d)), random.normal(size=(n, 2)))
    before, weights = covariance(learner), learner.weights
    learner.fade(count, factor)
    after = covariance(learner)
    np.testing.assert_allclose(learner.weights, weights, atol=1e-12)
    np.testing.assert_allclose(after[count:, count:], before[count:, count:], rtol=1e-8, atol=1e-12)

    def conditional(full):
        first, rest, mixed = full[:count, :count], full[count:, count:], full[:count, count:]
        return first - mixed @ np.linalg.solve(rest, mixed.T) if count < d else first

    np.testing.assert_allclose(conditional(after), conditional(before) / factor, rtol=1e-7, atol=1e-12)
    # The faded information still contains the prior, so that pooling can take it out again.
    assert np.linalg.eigvalsh(learner.factor.T @ learner.factor - np.diag(learner.prior)).min() > -1e-9


@settings(deadline=None)
@given(SIZES, st.sampled_from([1.0, 0.9]))
def test_a_shift_is_as_if_all_targets_had_been_larger(sizes, forgetting):
    d, _, n, seed = sizes
    random = np.random.default_rng(seed)
    first, second = (RecursiveLeastSquares(d, 3, 0.7, forgetting) for _ in range(2))
    z, y, change = random.normal(size=(n, d)), random.normal(size=(n, 3)), random.normal(size=(d, 3))
    first.update(z, y)
    first.shift(change)
    second.shift(change)
    second.update(z, y + z @ change)
    np.testing.assert_allclose(first.weights, second.weights, atol=1e-8)
    first.update(z, y)
    second.update(z, y)
    np.testing.assert_allclose(first.weights, second.weights, atol=1e-8)


def test_bad_arguments_change_nothing():
    with unchanged(learner := RecursiveLeastSquares(3, 1, 1.0)):
        for count, factor in ((4, 0.9), (-1, 0.9), (2, 0.0), (2, 1.1), (2, np.nan)):
            with pytest.raises(ParameterError):
                learner.fade(count, factor)
        for error, change in ((ShapeError, np.zeros(3)), (NotFiniteError, np.full((3, 1), np.inf))):
            with pytest.raises(error):
                learner.shift(change)
