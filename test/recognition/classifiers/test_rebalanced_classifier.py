"""Rebalanced least squares beside the weighted batch solution, after any order of examples."""

import numpy as np
import pytest

from icub_learning.errors import ParameterError
from icub_learning.recognition.assembly import Settings, make_classifier
from icub_learning.recognition.classifiers.rebalanced_classifier import RebalancedClassifier

D = 5


def examples(counts, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(n, D)) + np.arange(D) * k for k, n in enumerate(counts)]


def batch(x, regularization):
    """(Z^T V Z + lambda I)^-1 Z^T V Y with V the weight of each example's class."""
    counts = np.array([len(rows) for rows in x])
    z, y = np.concatenate(x), np.repeat(np.eye(len(x)), counts, axis=0)
    v = np.repeat(counts.sum() / (len(x) * counts), counts)[:, None]
    return np.linalg.solve(z.T @ (v * z) + regularization * np.eye(D), z.T @ (v * y))


@pytest.mark.parametrize("counts", [[1, 2], [3, 40, 9], [1, 200, 11]])
def test_weights_are_those_of_the_batch_solution(counts):
    x = examples(counts)
    classifier = RebalancedClassifier(D, 0.5)
    order = np.random.default_rng(1).permutation(sum(counts))
    rows, names = np.concatenate(x), np.repeat([f"{k}" for k in range(len(counts))], counts)
    for name in range(len(counts)):  # so that the columns have a known order
        classifier.learn(x[name][0], f"{name}")
    firsts = np.cumsum([0, *counts[:-1]])
    for place in order:
        if place not in firsts:
            classifier.learn(rows[place], str(names[place]))
            classifier.scores(rows[place])
    np.testing.assert_allclose(classifier.weights, batch(x, 0.5), rtol=1e-6, atol=1e-9)
    restored = RebalancedClassifier.from_state(classifier.state())
    np.testing.assert_allclose(restored.weights, classifier.weights, rtol=1e-12)


def test_forget_and_merge():
    x = examples([4, 30, 7])
    one, two = RebalancedClassifier(D, 0.5), RebalancedClassifier(D, 0.5)
    one.learn(x[0], "0")
    one.learn(x[1][:20], "1")
    two.learn(x[1][20:], "1")
    two.learn(x[2], "2")
    one.merge(two)
    np.testing.assert_allclose(one.weights, batch(x, 0.5), rtol=1e-6, atol=1e-9)
    one.forget("1")
    np.testing.assert_allclose(one.weights, batch([x[0], x[2]], 0.5), rtol=1e-6, atol=1e-9)


def test_settings_choose_it():
    assert isinstance(make_classifier(Settings(classifier="rlsc", weighting="rebalanced"), D), RebalancedClassifier)
    assert make_classifier(Settings(weighting="none"), D).recoding == 0.0
    with pytest.raises(ParameterError, match="rebalanced"):
        make_classifier(Settings(classifier="polk", weighting="rebalanced"), D)
