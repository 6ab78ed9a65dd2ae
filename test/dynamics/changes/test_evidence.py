"""Evidence and error model against the joint Gaussian distribution of all errors, written out in full."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from icub_learning.dynamics.changes.error_model import BLOCK, NEW, ErrorModel, UnknownMotion
from icub_learning.dynamics.changes.evidence import Evidence, add_to_all

M = 2
CAUSES = [0, 1, 2], [0, 3]  # columns of each
DEVIATIONS = np.array([1.0, 2.0, 1.5, 0.7])


def model():
    made = ErrorModel(M)
    for k in range(500):  # as alike after FAR blocks, beside NEAR ones, as errors that last for .1 s
        made.learn(np.full(M, np.cos(0.112 * k)))
    made.scale = 1.0
    made.fast = np.array([[0.5, 0.2], [0.2, 0.4]])
    made.slow = np.diag([0.1, 0.05])
    made.noise = np.diag([0.3, 0.6])
    assert made.step().kept == pytest.approx(np.exp([-BLOCK / 0.1, -BLOCK / 10.0]), rel=0.02)
    return made


def joint_covariance(made, times):
    """Covariance (n m, n m) of blocks of errors at times (n,), in periods."""
    kept, lags = made.step().kept, np.abs(np.subtract.outer(times, times))
    lasting = np.kron(kept[0] ** lags, made.fast) + np.kron(kept[1] ** lags, made.slow)
    return np.kron(np.eye(len(times)), made.noise) + lasting


@pytest.fixture
def blocks():
    """Errors with something added, its columns, and the evidence that they give."""
    rng, made, n = np.random.default_rng(0), model(), 25
    columns = rng.standard_normal((n, M, 4))
    covariance = joint_covariance(made, np.arange(n))
    errors = rng.multivariate_normal(np.zeros(n * M), covariance) + columns.reshape(-1, 4)[:, :3] @ [0.5, -1.0, 0.8]
    evidence = Evidence(M, [DEVIATIONS[places] for places in CAUSES])
    state = made.start()[:, None]
    for error, column in zip(errors.reshape(n, M), columns, strict=True):
        step = made.step()
        state, white = step(state, error[:, None])
        add_to_all([evidence], step, column.take(CAUSES[0] + CAUSES[1], axis=1), white[:, 0])
    return errors, columns.reshape(-1, 4), covariance, evidence


@pytest.mark.parametrize("cause, places", list(enumerate(CAUSES)))
def test_log_ratio_and_posterior_are_those_of_the_joint_distribution(blocks, cause, places):
    errors, columns, covariance, evidence = blocks
    deviations = DEVIATIONS[places]
    x = columns[:, places]
    with_cause = multivariate_normal(cov=covariance + x @ np.diag(deviations**2) @ x.T).logpdf(errors)
    without = multivariate_normal(cov=covariance).logpdf(errors)
    assert evidence.of(cause).log_ratio == pytest.approx(with_cause - without, rel=1e-6)
    precision = x.T @ np.linalg.solve(covariance, x) + np.diag(deviations**-2)
    mean, known = evidence.of(cause).mean, evidence.of(cause).covariance(len(places))
    np.testing.assert_allclose(known, np.linalg.inv(precision), rtol=1e-6)
    np.testing.assert_allclose(mean, known @ x.T @ np.linalg.solve(covariance, errors), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(evidence.of(cause).covariance(1), known[:1, :1], rtol=1e-12)
    left = errors - x @ mean
    assert evidence.left(cause) == pytest.approx(left @ np.linalg.solve(covariance, left), rel=1e-6)


def test_log_ratio_of_known_coefficients(blocks):
    errors, columns, covariance, evidence = blocks
    given = np.array([0.5, -1.0, 0.8])
    distribution = multivariate_normal(cov=covariance)
    expected = distribution.logpdf(errors - columns[:, :3] @ given) - distribution.logpdf(errors)
    assert evidence.log_ratio_of(given) == pytest.approx(expected, rel=1e-6)


def wandering_covariance(made, novelties):
    """Covariance of blocks of errors whose offsets move as novelties (n, m) tell, added up change by change."""
    n = len(novelties)
    (fast_kept, slow_kept), novel = made.step().kept, np.zeros(M)
    changes = [made.slow]  # before the first block
    for novelty in novelties:
        before, novel = novel, np.maximum(np.exp(-BLOCK / NEW) * novel, novelty)
        rate = 2.0 * BLOCK / NEW
        added = rate * novel + np.maximum(novel - before, 0.0)
        changes.append((1.0 - slow_kept**2) * made.slow + np.diag(added))
    whole = np.kron(np.eye(n), made.noise)
    lags = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    whole = whole + np.kron(fast_kept**lags, made.fast)
    for begin, change in enumerate(changes):
        left = np.where(np.arange(1, n + 1) >= begin, slow_kept ** (np.arange(1, n + 1.0) - begin), 0.0)
        whole = whole + np.kron(np.outer(left, left), change)
    return whole


def assert_joint(made, errors, covariance, novelties, wandering=True, passed=1.0):
    """Compare the squares of the whitened innovations, and their determinants, with those of the joint distribution."""
    state, squares, logarithms = made.start()[:, None], 0.0, 0.0
    for error, novelty, periods in zip(errors.reshape(-1, M), novelties, passed * np.ones(len(novelties)), strict=True):
        step = made.step(novelty if novelty.any() else None, wandering, periods)
        state, white = step(state, error[:, None])
        squares += float((white**2).sum())
        logarithms += 2.0 * np.log(np.diag(step.root)).sum()
    assert squares == pytest.approx(errors @ np.linalg.solve(covariance, errors), rel=1e-6)
    assert logarithms == pytest.approx(np.linalg.slogdet(covariance)[1], rel=1e-6)


def test_offsets_that_move_with_a_new_motion_have_the_joint_distribution():
    rng, made, n = np.random.default_rng(4), model(), 30
    novelties = np.zeros((n, M))
    novelties[8:14] = rng.uniform(0.0, 20.0, (6, M))
    covariance = wandering_covariance(made, novelties)
    errors = rng.multivariate_normal(np.zeros(n * M), covariance)
    assert_joint(made, errors, covariance, novelties)


def test_novelty_without_wandering_is_noise():
    rng, made, n = np.random.default_rng(5), model(), 20
    novelties = rng.uniform(0.0, 5.0, (n, M))
    covariance = joint_covariance(made, np.arange(n)) + np.diag(novelties.ravel())
    errors = rng.standard_normal(n * M)
    assert_joint(made, errors, covariance, novelties, wandering=False)


def test_what_lasts_has_faded_where_blocks_were_lost():
    rng, made, n = np.random.default_rng(7), model(), 20
    passed = rng.choice([1.0, 1.3, 4.0, 60.0], n)
    covariance = joint_covariance(made, np.cumsum(passed))
    errors = rng.multivariate_normal(np.zeros(n * M), covariance)
    assert_joint(made, errors, covariance, np.zeros((n, M)), passed=passed)


def test_errors_of_an_unknown_motion_have_the_joint_distribution():
    """Those of a process of unit variance, times what the body tells, and usual errors besides."""
    rng, n, usual = np.random.default_rng(8), 12, np.array([[0.5, 0.2], [0.2, 0.4]])
    novelties, passed = rng.uniform(0.0, 20.0, (n, M)), rng.choice([1.0, 5.0], n)
    novelties[4:6] = 0.0
    times = np.cumsum(passed) * BLOCK
    alike = np.exp(-np.abs(np.subtract.outer(times, times)) / NEW)
    told = np.sqrt(novelties).ravel()
    covariance = np.kron(np.eye(n), usual) + np.kron(alike, np.eye(M)) * np.outer(told, told)
    errors = rng.multivariate_normal(np.zeros(n * M), covariance)
    unknown = UnknownMotion(usual)
    for error, novelty, periods in zip(errors.reshape(n, M), novelties, passed, strict=True):
        unknown.add(error, novelty if novelty.any() else None, periods)
    expected = multivariate_normal(cov=covariance).logpdf(errors) + 0.5 * n * M * np.log(2.0 * np.pi)
    assert unknown.log_likelihood == pytest.approx(expected, rel=1e-9)


def test_error_model_finds_its_parts():
    """White noise and a lasting part of known variance and time, from one long record."""
    rng, n, time = np.random.default_rng(1), 40_000, 0.15
    kept = np.exp(-BLOCK / time)
    lasting = np.zeros((n, M))
    for i in range(1, n):
        lasting[i] = kept * lasting[i - 1] + np.sqrt(1 - kept**2) * rng.standard_normal(M) * [1.0, 0.2]
    made = ErrorModel(M)
    made.scale = 1.0
    squares = []
    state = None
    for i, error in enumerate(lasting + rng.standard_normal((n, M)) * [0.5, 0.4]):
        if i == n // 2:
            state = made.start()[:, None]
        if state is not None:
            state, white = made.step()(state, error[:, None])
            squares.append(float(white[:, 0] @ white[:, 0]))
        made.learn(error)
    np.testing.assert_allclose(np.diag(made.fast), [1.0, 0.04], rtol=0.35)
    np.testing.assert_allclose(np.diag(made.noise), [0.25, 0.16], rtol=0.25)
    assert np.mean(squares) == pytest.approx(M, rel=0.1)


def test_heavy_tails_widen_the_scale_and_it_comes_back():
    made, rng = model(), np.random.default_rng(2)
    for _ in range(3000):
        larger = 25.0 if rng.random() < 0.1 else 1.0
        made.follow_tail(larger * float((rng.standard_normal(M) ** 2).sum()) / made.scale)
    assert made.scale > 3.0
    for _ in range(20_000):
        made.follow_tail(float((rng.standard_normal(M) ** 2).sum()) / made.scale)
    assert made.scale < 1.5
