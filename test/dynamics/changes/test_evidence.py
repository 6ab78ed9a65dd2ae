"""Evidence and error model against the joint Gaussian distribution of all errors, written out in full."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from icub_learning.dynamics.changes.error_model import BLOCK, NEW, ErrorModel, UnknownMotion
from icub_learning.dynamics.changes.evidence import Evidence, add_to_all

SEEDS, OUTPUTS = st.integers(0, 2**32 - 1), st.integers(1, 9)
SCALE, M = 1.7, 2


def model(rng, m):
    """Return an error model whose parts have random covariances; one part lasts for 0.1 s and one for 10 s."""
    made = ErrorModel(m)
    for k in range(500):  # correlations at lags NEAR and FAR have the ratio of errors that last for 0.1 s
        made.learn(np.full(m, np.cos(0.112 * k)))
    factors = rng.standard_normal((3, m, m + 3))
    made.scale, (made.fast, made.slow, made.noise) = SCALE, 0.1 * factors @ factors.swapaxes(1, 2)
    assert made.step().kept == pytest.approx(np.exp([-BLOCK / 0.1, -BLOCK / 10.0]), rel=0.02)
    return made


def joint_covariance(made, passed, novelties, wandering=True):
    """Return the covariance (n m, n m) of errors in n blocks, `passed` (n,) periods apart, with novelties (n, m)."""
    times, kept, novel = np.cumsum(passed), made.step().kept, np.zeros(made.n_outputs)
    lags, alone = np.abs(np.subtract.outer(times, times)), np.eye(len(times))
    parts = (alone, made.noise), (kept[0] ** lags, made.fast), (kept[1] ** lags, made.slow)
    whole = SCALE * sum(np.kron(*part) for part in parts)
    if not wandering:
        return whole + np.diag(novelties.ravel())
    for begin, novelty in zip(times, novelties, strict=True):  # moving offsets: their changes are added up
        before, novel = novel, novelty
        added = 2.0 * BLOCK / NEW * novel + np.abs(novel - before)
        left = np.where(times >= begin, kept[1] ** np.maximum(times - begin, 0.0), 0.0)
        whole = whole + np.kron(np.outer(left, left), np.diag(added))
    return whole


def of_joint(errors, covariance):
    return multivariate_normal(cov=covariance).logpdf(errors)


@settings(max_examples=15, deadline=None)
@given(SEEDS, OUTPUTS, st.lists(st.integers(1, 20), min_size=1, max_size=5))
def test_log_ratio_and_posterior_are_those_of_the_joint_distribution(seed, m, sizes):
    """Every cause is checked, in evidence that began with the first block and in evidence that began later."""
    rng, n, late = np.random.default_rng(seed), 12, 5
    made, deviations = model(rng, m), [rng.uniform(0.3, 2.0, size) for size in sizes]
    covariance = joint_covariance(made, np.ones(n), np.zeros((n, m)))
    columns, true = rng.standard_normal((n, m, sum(sizes))), rng.standard_normal(sizes[0])
    errors = rng.multivariate_normal(np.zeros(n * m), covariance) + (columns[:, :, : sizes[0]] @ true).ravel()
    both, state = [Evidence(m, deviations), Evidence(m, deviations)], made.start()[:, None]
    for k, (error, column) in enumerate(zip(errors.reshape(n, m), columns, strict=True)):
        step = made.step()
        state, white = step(state, error[:, None])
        add_to_all(both[: 1 + (k >= late)], step, column, white[:, 0])
    for evidence, first in zip(both, (0, late), strict=True):
        shown = (columns * (np.arange(n) >= first)[:, None, None]).reshape(n * m, -1)
        for cause, x in enumerate(np.split(shown, np.cumsum(sizes)[:-1], axis=1)):
            found, prior = evidence.of(cause), np.diag(deviations[cause] ** 2)
            ratio = of_joint(errors, covariance + x @ prior @ x.T) - of_joint(errors, covariance)
            assert found.log_ratio == pytest.approx(ratio, rel=1e-6, abs=1e-6)
            if not first:  # the likelihood of errors of zero is the common constant
                likelihood = ratio + of_joint(errors, covariance) - of_joint(np.zeros(n * m), covariance)
                assert evidence.log_likelihood(cause) == pytest.approx(likelihood, rel=1e-6, abs=1e-6)
            known = np.linalg.inv(x.T @ np.linalg.solve(covariance, x) + np.linalg.inv(prior))
            mean = known @ x.T @ np.linalg.solve(covariance, errors)
            np.testing.assert_allclose(found.mean, mean, rtol=1e-6, atol=1e-9)
            for count in (1, sizes[cause]):
                np.testing.assert_allclose(found.covariance(count), known[:count, :count], rtol=1e-6, atol=1e-9)
            left = errors - x @ mean
            expected = left @ np.linalg.solve(covariance, left) - (both[0].squares - evidence.squares)
            assert evidence.left(cause) == pytest.approx(expected, rel=1e-6)
    ratio = of_joint(errors - (columns[:, :, : sizes[0]] @ true).ravel(), covariance) - of_joint(errors, covariance)
    assert both[0].log_ratio_of(true) == pytest.approx(ratio, rel=1e-6)


@settings(max_examples=15, deadline=None)
@given(SEEDS, OUTPUTS, st.booleans())
def test_errors_in_new_motions_and_after_lost_blocks_have_the_joint_distribution(seed, m, wandering):
    """Whitened innovations are checked by squares and determinants; a new motion moves the offsets, or is noise."""
    rng, n = np.random.default_rng(seed), 20
    made, novelties, passed = model(rng, m), np.zeros((n, m)), rng.choice([1.0, 1.0, 1.3, 4.0, 60.0], n)
    novelties[6:12] = rng.uniform(0.0, 20.0, (6, m))
    covariance = joint_covariance(made, passed, novelties, wandering)
    errors = rng.multivariate_normal(np.zeros(n * m), covariance)
    state, squares, logarithms, more = made.start()[:, None], 0.0, 0.0, rng.random(m)
    for error, novelty, periods in zip(errors.reshape(n, m), novelties, passed, strict=True):
        step = made.step(novelty if novelty.any() else None, wandering, periods)
        state, white = step(state, error[:, None])
        squares += float((white**2).sum())
        logarithms += 2.0 * np.log(np.diag(step.root)).sum()
        noisy = np.triu(step.with_noise(more).root)
        np.testing.assert_allclose(noisy.T @ noisy, step.covariance + np.diag(more), rtol=1e-9, atol=1e-12)
    assert squares == pytest.approx(errors @ np.linalg.solve(covariance, errors), rel=1e-6)
    assert logarithms == pytest.approx(np.linalg.slogdet(covariance)[1], rel=1e-6, abs=1e-6)


def test_errors_of_an_unknown_motion_have_the_joint_distribution():
    """They are a process of unit variance times the deviations that the body predicts, plus the usual errors."""
    rng, n, usual = np.random.default_rng(8), 12, np.array([[0.5, 0.2], [0.2, 0.4]])
    novelties, passed = rng.uniform(0.0, 20.0, (n, M)), rng.choice([1.0, 5.0], n)
    novelties[4:6] = 0.0
    times = np.cumsum(passed) * BLOCK
    alike, told = np.exp(-np.abs(np.subtract.outer(times, times)) / NEW), np.sqrt(novelties).ravel()
    covariance = np.kron(np.eye(n), usual) + np.kron(alike, np.eye(M)) * np.outer(told, told)
    errors, unknown = rng.multivariate_normal(np.zeros(n * M), covariance), UnknownMotion(usual)
    for error, novelty, periods in zip(errors.reshape(n, M), novelties, passed, strict=True):
        unknown.add(error, novelty if novelty.any() else None, periods)
    expected = multivariate_normal(cov=covariance).logpdf(errors) + 0.5 * n * M * np.log(2.0 * np.pi)
    assert unknown.log_likelihood == pytest.approx(expected, rel=1e-9)


def test_error_model_finds_its_parts():
    """White noise and a lasting part of known variance and time, from one long record."""
    rng, n, time = np.random.default_rng(1), 40_000, 0.15
    kept, lasting = np.exp(-BLOCK / time), np.zeros((n, M))
    for i in range(1, n):
        lasting[i] = kept * lasting[i - 1] + np.sqrt(1 - kept**2) * rng.standard_normal(M) * [1.0, 0.2]
    errors, made, squares = lasting + rng.standard_normal((n, M)) * [0.5, 0.4], ErrorModel(M), []
    made.scale = 1.0
    for error in errors[: n // 2]:
        made.learn(error)
    state = made.start()[:, None]
    for error in errors[n // 2 :]:
        state, white = made.step()(state, error[:, None])
        squares.append(float((white**2).sum()))
        made.learn(error)
    np.testing.assert_allclose(np.diag(made.fast), [1.0, 0.04], rtol=0.35)
    np.testing.assert_allclose(np.diag(made.noise), [0.25, 0.16], rtol=0.25)
    assert np.mean(squares) == pytest.approx(M, rel=0.1)


def test_heavy_tails_widen_the_scale_and_it_comes_back():
    made, rng = ErrorModel(M), np.random.default_rng(2)
    for _ in range(3000):
        larger = 25.0 if rng.random() < 0.1 else 1.0
        made.follow_tail(larger * float((rng.standard_normal(M) ** 2).sum()) / made.scale)
    assert made.scale > 3.0
    for _ in range(20_000):
        made.follow_tail(float((rng.standard_normal(M) ** 2).sum()) / made.scale)
    assert made.scale < 1.5
