"""Variance of a signal that is being learned, against functions drawn from a Gaussian prior and a weighted mean."""

import numpy as np
import pytest

from icub_learning.dynamics.estimators.noise.fading import HALF_LIFE, YOUNG, SignalVariance
from icub_learning.errors import StateError
from icub_learning.recursive import RecursiveLeastSquares

D, NOISE = 20, 0.1


def unit_rows(n, rng, width):
    """Rows of length 1 that keep to the first `width` of D axes."""
    rows = np.zeros((n, D))
    rows[:, :width] = rng.standard_normal((n, width))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize("signal", [0.5, 4.0])
def test_squared_errors_are_noise_and_the_unexplained_share_of_the_signal(signal):
    """Half of the axes were learned; rows mix both halves, so that shares between 0 and 1 appear."""
    rng = np.random.default_rng(3)
    ratios = []
    for _ in range(40):
        weights = signal * rng.standard_normal(D)
        regularization = NOISE**2 / signal**2
        learner, found = RecursiveLeastSquares(D, 1, regularization), SignalVariance(1)
        seen = unit_rows(300, rng, D // 2)
        targets = seen @ weights + NOISE * rng.standard_normal(300)
        for row, target in zip(seen, targets, strict=True):
            found.update(np.array([target]), 0.01)
            learner.update(row, [target])
        rows = unit_rows(50, rng, D)
        shares = regularization * learner.leverage(rows)
        errors = rows @ weights - learner.predict(rows)[:, 0]
        ratios.append(np.mean(errors**2 / (found.value[0] * shares)))
    assert np.median(ratios) == pytest.approx(1.0, rel=0.2)


def test_mean_fades_as_written_out():
    rng, found = np.random.default_rng(0), SignalVariance(2)
    targets, steps = rng.standard_normal((200, 2)) * [1.0, 5.0], rng.uniform(0.01, 1.0, 200)
    for target, step in zip(targets, steps, strict=True):
        found.update(target, step)
    ages = np.cumsum(steps)
    fades = 0.5 ** (steps / np.minimum(HALF_LIFE, YOUNG * ages))
    weights = np.array([np.prod(fades[k + 1 :]) for k in range(200)])
    np.testing.assert_allclose(found.value, weights @ targets**2 / weights.sum(), rtol=1e-10)


def test_variances_below_zero_are_refused():
    with pytest.raises(StateError):
        SignalVariance.from_state({**SignalVariance(2).state(), "value": np.array([-1.0, 1.0])}, 2)


def test_merging_takes_the_other_one_where_nothing_is_known():
    known, empty = SignalVariance(1), SignalVariance(1)
    known.update(np.array([2.0]), 0.01)
    assert empty.value == 0.0
    empty.merge(known)
    assert empty.value == 4.0
    other = SignalVariance(1)
    other.update(np.array([9.0]), 0.01)
    other.merge(known)
    assert other.value == 81.0
