"""The minibootstrap: it finds the hard negatives that a random set misses, and the bank gives FALKON's scores."""

import numpy as np
import pytest

from icub_learning.detection.bootstrap import Bootstrap, falkon, train
from icub_learning.detection.region_classifier import (
    BOX_REGULARIZATION,
    ClassifierBank,
    RegionClassifier,
    Sample,
    fit_refinement,
)
from icub_learning.errors import ParameterError, StateError

D = 6


def problem():
    """Return positives, many easy negatives with a few hard ones close to the positives, and test sets."""
    rng, place = np.random.default_rng(0), 4.0 * np.ones(D)
    near = place + 4.0 * np.eye(D)[0]
    negatives = np.concatenate([3.0 * rng.normal(size=(3000, D)) - place, near + 0.7 * rng.normal(size=(30, D))])
    test = place + rng.normal(size=(300, D)), near + 0.7 * rng.normal(size=(300, D))
    return place + rng.normal(size=(60, D)), negatives, test


def wrong(classifier, test):
    return (classifier.predict(test[0]) < 0).mean() + (classifier.predict(test[1]) > 0).mean()


def test_hard_negatives_are_found():
    positives, negatives, test = problem()
    make = falkon(100, 4.0, 1e-4, 0)
    strategies = Bootstrap("minibootstrap", 10, 300), Bootstrap("full", batch_size=300), Bootstrap("random", 1, 60)
    found = [train(positives, negatives, make, strategy, np.random.default_rng(1)) for strategy in strategies]
    mini, full, random = (wrong(classifier, test) for classifier, _ in found)
    assert mini < random and mini <= full + 0.05
    first = train(positives, negatives, make, Bootstrap("minibootstrap", 1, 300), np.random.default_rng(1))
    assert len(first[1]) == 300 and len(found[0][1]) < 1000


def test_strategies_are_checked():
    for bad in ({"strategy": "best"}, {"n_batches": 0}, {"batch_size": 0}):
        with pytest.raises(ParameterError):
            Bootstrap(**bad)


def test_bank_scores_as_falkon_predicts():
    positives, negatives, test = problem()
    made, scores, refinement = [], [], np.zeros((D + 1, 4))
    for seed in (0, 1):
        make = falkon(50, 4.0, 1e-4, seed)
        classifier, pool = train(positives, negatives, make, Bootstrap(), np.random.default_rng(2))
        numbers = classifier.centers_, np.ravel(classifier.dual_coef_), positives, pool
        centers, coefficients, own, hard = (np.asarray(value, np.float32) for value in numbers)
        made.append(RegionClassifier(centers, coefficients, refinement, own, np.zeros((len(own), 4)), hard))
        scores.append(classifier.predict(test[0]))
    bank = ClassifierBank(made, 4.0)
    np.testing.assert_allclose(bank.scores(test[0].astype(np.float32)), np.stack(scores, axis=1), atol=2e-3)
    with pytest.raises(StateError):
        RegionClassifier.from_state({**made[0].state(), "coefficients": np.ones(3)}, D)


@pytest.mark.parametrize("n", [4, 40])
def test_refinement_is_ridge_regression_with_a_free_constant(n):
    rng = np.random.default_rng(3)
    x, y = 10.0 * rng.normal(size=(n, D)), rng.normal(size=(n, 4))
    weights, augmented = fit_refinement(x, y), np.c_[x, np.ones(n)]
    penalty = BOX_REGULARIZATION * np.diag([1.0] * D + [0.0])
    np.testing.assert_allclose(weights, np.linalg.solve(augmented.T @ augmented + penalty, augmented.T @ y), atol=1e-9)


def test_of_more_rows_than_are_kept_each_has_the_same_chance():
    rng, times = np.random.default_rng(3), np.zeros(40)
    for _ in range(2000):
        sample = Sample(10)
        for first in range(0, 40, 8):
            sample.add(rng, *(factor * np.arange(first, first + 8) for factor in (1, 2)))
        one, two = sample.arrays
        assert len(set(one)) == 10 and (two == 2 * one).all()
        times[one] += 1
    assert np.abs(times / 2000 - 10 / 40).max() < 0.04  # four standard deviations
