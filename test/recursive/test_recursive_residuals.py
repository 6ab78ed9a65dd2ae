"""Recursive residuals, the unforeseen part of samples, withdrawing and pooling, against batch solutions."""

import numpy as np
import pytest
from helpers.batch_solution import batch_solution, faded, relative_error
from helpers.unchanged import unchanged
from hypothesis import given, settings
from hypothesis import strategies as st

from icub_learning.errors import ParameterError, ShapeError
from icub_learning.recursive import RecursiveLeastSquares

SEEDS = st.integers(0, 2**32 - 1)


def left_over(z, y, prior, start, weights, faded=1.0):
    """Return the moment (T, T) of the residuals of targets and prior under weights, in extended precision."""
    errors, away = y - z @ weights, np.sqrt(np.asarray(prior, np.longdouble))[:, None] * (weights - start)
    return (errors.T @ (np.reshape(faded, (-1, 1)) * errors) + away.T @ away).astype(float)


@given(
    SEEDS, st.sampled_from([1, 2, 5, 13, 40]), st.sampled_from([1, 2, 3, 20]),
    st.lists(st.sampled_from([1e-9, 0.3, 0.9, 0.999, 1.0]), min_size=1, max_size=30),
)  # fmt: skip
@settings(deadline=None, max_examples=80)
def test_their_moment_is_that_of_what_the_batch_leaves(seed, d, n_outputs, factors):
    """A factor of 1e-9 makes every coordinate be refilled at once: more rows than the core takes at a time."""
    rng = np.random.default_rng(seed)
    n, factors = len(factors), np.array(factors)
    z, y, start = rng.normal(size=(n, d)), rng.normal(size=(n, n_outputs)), rng.normal(size=(d, n_outputs))
    learner = RecursiveLeastSquares(d, n_outputs, rng.uniform(0.1, 2.0, d), 1.0, start)
    moment = np.zeros((n_outputs, n_outputs))
    for row, target, own in zip(z, y, factors, strict=True):
        learner.forgetting = own
        left = learner.absorb(row, target)
        moment = own * moment + left.T @ left
    factor, weights = batch_solution(z, y, learner.prior, faded(factors), start)
    expected = left_over(z, y, learner.prior, start, weights, faded(factors))
    np.testing.assert_allclose(moment, expected, rtol=0.0, atol=1e-10 * np.abs(expected).max())
    assert relative_error(learner.factor, factor) < 1e-12 and relative_error(learner.weights, weights) < 1e-8
    assert learner.n_samples == n and (learner.prior >= 0.5 * learner.regularization * (1 - 1e-12)).all()


@pytest.mark.parametrize("forgetting", [1.0, 0.97, 0.6])
def test_the_samples_own_come_first(forgetting):
    rng = np.random.default_rng(1)
    z, y = rng.normal(size=(60, 8)), rng.normal(size=(60, 12))
    learner = RecursiveLeastSquares(8, 12, 0.2, forgetting)
    for row, target in zip(z, y, strict=True):
        factor, prior, weights = learner.factor, forgetting * learner.prior, learner.weights
        left, known = learner.absorb(row, target), forgetting * factor.T @ factor
        refilled = known + np.diag(learner.prior - prior)  # refilled towards weights of zero, before the sample
        foreseen = row @ np.linalg.solve(refilled, known @ weights)
        expected = (target - foreseen) / np.sqrt(1.0 + row @ np.linalg.solve(refilled, row))
        np.testing.assert_allclose(left[0], expected, rtol=0.0, atol=1e-12)
    assert len(left) == 1 + (0 if forgetting == 1.0 else min(8, int(np.ceil(8 * np.log(forgetting) / np.log(0.5)))))


def test_one_sample_is_absorbed_at_a_time_and_what_was_never_learned_cannot_be_withdrawn():
    learner = RecursiveLeastSquares(4, 2, 0.5)
    learner.absorb(np.ones(4), np.ones(2))
    with unchanged(learner):
        for count in (0, 2):
            with pytest.raises(ShapeError, match="one sample"):
                learner.absorb(np.ones((count, 4)), np.ones((count, 2)))
        with pytest.raises(ParameterError):
            learner.withdraw(3.0 * np.ones((1, 4)), np.ones((1, 2)))


@given(SEEDS, st.integers(1, 20), st.integers(1, 3), st.integers(0, 30), st.integers(1, 25))
@settings(deadline=None, max_examples=60)
def test_withdrawing_undoes_learning(seed, d, n_outputs, n_kept, n_taken):
    rng = np.random.default_rng(seed)
    z, y = rng.normal(size=(n_kept + n_taken, d)), rng.normal(size=(n_kept + n_taken, n_outputs))
    start, prior = rng.normal(size=(d, n_outputs)), rng.uniform(0.1, 2.0, d)
    learner = RecursiveLeastSquares(d, n_outputs, prior, 1.0, start)
    learner.update(z, y)
    learner.withdraw(z[n_kept:], y[n_kept:])
    factor, weights = batch_solution(z[:n_kept], y[:n_kept], prior, None, start)
    assert relative_error(learner.factor, factor) < 1e-10 and relative_error(learner.weights, weights) < 1e-8
    rotation = np.linalg.qr(rng.normal(size=(n_kept, n_kept)))[0] if n_kept else np.eye(0)
    learner.withdraw(rotation @ z[:n_kept], rotation @ y[:n_kept])  # rows equivalent to all remaining samples
    np.testing.assert_allclose(learner.factor, np.diag(np.sqrt(prior)), atol=1e-8)
    np.testing.assert_allclose(learner.weights, start, atol=1e-7)


@given(SEEDS, st.integers(1, 15), st.integers(1, 4), st.tuples(*[st.integers(0, 30)] * 3), st.booleans())
@settings(deadline=None, max_examples=80)
def test_pooling_counts_common_samples_once_and_tells_what_is_gained_and_lost(seed, d, n_outputs, counts, shares):
    """M = M_1 + (M_2 - M_common) + gained' gained - lost' lost, for moments M of the residuals of batch solutions."""
    rng = np.random.default_rng(seed)
    n_common, n_mine, n_theirs = counts if shares else (0, *counts[1:])
    n = n_common + n_mine + n_theirs
    z, y, start = rng.normal(size=(n, d)), rng.normal(size=(n, n_outputs)), rng.normal(size=(d, n_outputs))
    prior, places = rng.uniform(0.1, 2.0, d), np.arange(n)
    mine = places < n_common + n_mine
    parts = {"common": places < n_common, "mine": mine, "theirs": ~mine | (places < n_common), "all": places >= 0}
    learners, moments = {}, {}
    for name, part in parts.items():
        learners[name] = RecursiveLeastSquares(d, n_outputs, prior, 1.0, start)
        learners[name].update(z[part], y[part])
        factor, weights = batch_solution(z[part], y[part], prior, None, start)
        moments[name] = left_over(z[part], y[part], prior, start, weights)
    pooled = learners["mine"].merge(learners["theirs"], learners["common"] if shares else None)
    assert relative_error(learners["mine"].factor, factor) < 1e-12
    assert relative_error(learners["mine"].weights, weights) < 1e-11 and learners["mine"].n_samples == n
    difference = pooled.gained.T @ pooled.gained - pooled.lost.T @ pooled.lost
    found = moments["mine"] + moments["theirs"] - moments["common"] + difference
    np.testing.assert_allclose(found, moments["all"], rtol=0.0, atol=1e-8 * (1.0 + moments["all"].max()))
