"""Pooling two learners: the result is as if one had seen the samples of both."""

import numpy as np
import pytest
from helpers.batch_solution import batch_solution, relative_error
from helpers.unchanged import unchanged
from hypothesis import given, settings
from hypothesis import strategies as st

from icub_learning.errors import ParameterError
from icub_learning.recursive import RecursiveLeastSquares


def samples(rng, n, d, n_outputs):
    return rng.normal(size=(n, d)), rng.normal(size=(n, n_outputs))


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 25), st.integers(1, 3), *[st.integers(0, 40)] * 2, st.booleans())
def test_merging_is_the_union_of_the_samples_under_the_first_prior(seed, d, n_outputs, n_mine, n_theirs, started):
    rng = np.random.default_rng(seed)
    (my_z, my_y), (their_z, their_y) = samples(rng, n_mine, d, n_outputs), samples(rng, n_theirs, d, n_outputs)
    my_prior, their_prior = rng.uniform(0.1, 2.0, d), 10.0 ** rng.uniform(-4, 2)
    start, mine = rng.normal(size=(d, n_outputs)) if started else None, RecursiveLeastSquares(d, n_outputs, my_prior)
    theirs = RecursiveLeastSquares(d, n_outputs, their_prior, initial_weights=start)
    mine.update(my_z, my_y)
    theirs.update(their_z, their_y)
    with unchanged(theirs):
        mine.merge(theirs)
    factor, weights = batch_solution(np.concatenate([my_z, their_z]), np.concatenate([my_y, their_y]), my_prior)
    assert relative_error(mine.factor, factor) < 1e-10
    np.testing.assert_allclose(mine.weights, weights.astype(float), rtol=0, atol=1e-9 * (1 + np.abs(weights).max()))
    assert mine.n_samples == n_mine + n_theirs
    np.testing.assert_array_equal(mine.prior, my_prior)


@pytest.mark.parametrize(
    "other", [RecursiveLeastSquares(4, 2), RecursiveLeastSquares(3, 1), None, np.eye(3), {"factor": np.eye(3)}]
)
def test_what_does_not_fit_is_refused_and_changes_nothing(other):
    learner = RecursiveLeastSquares(3, 2)
    learner.update(*samples(np.random.default_rng(7), 5, 3, 2))
    with unchanged(learner), pytest.raises(ParameterError, match="other"):
        learner.merge(other)


def test_a_learner_that_has_forgotten_the_common_samples_is_refused():
    rng, common = np.random.default_rng(9), RecursiveLeastSquares(5, 1, 0.3, forgetting=0.9)
    common.update(*samples(rng, 40, 5, 1))
    mine, theirs = (RecursiveLeastSquares.from_state(common.state()) for _ in range(2))
    theirs.update(*samples(rng, 3, 5, 1))
    with pytest.raises(ParameterError, match="forgotten"):
        mine.merge(theirs, common)
