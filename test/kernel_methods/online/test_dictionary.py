"""Destructive matching pursuit: against brute force, within its bound, and under rounding."""

import numpy as np
import pytest
from helpers.versions import every_version

from icub_learning.errors import ParameterError
from icub_learning.kernel_methods import Kernel, KernelDictionary
from icub_learning.kernel_methods.online import _pursuit

version = every_version(_pursuit, autouse=True)


def norm(gram, weights):
    return np.sqrt(max(0.0, np.einsum("ij,ij->", weights, gram @ weights)))


def pursued(kernel, points, weights, budget, limit=None):
    """Return the indices of the points that stay, their weights, and the norm of the change."""
    dictionary = KernelDictionary(kernel, points.shape[1], weights.shape[1], len(points))
    lost = dictionary.step(points, weights, dictionary.values(points)[1], budget=budget, limit=limit)
    places = np.array([np.flatnonzero((points == point).all(axis=1))[0] for point in dictionary.points], dtype=int)
    order = np.argsort(places)
    return places[order], dictionary.weights[order], lost


def brute_force(gram, weights, budget, limit=None):
    """Try every point, refit all weights by least squares, measure the whole change; until none is cheap enough."""
    kept, lost, fitted = list(range(len(gram))), 0.0, weights
    while kept:
        trials = []
        for j in kept:
            rest = [i for i in kept if i != j]
            w = np.linalg.lstsq(gram[np.ix_(rest, rest)], gram[rest] @ weights, rcond=None)[0] if rest else weights[:0]
            change = weights.copy()
            change[rest] -= w
            trials.append((norm(gram, change), rest, w))
        best = min(trials, key=lambda trial: trial[0])
        if best[0] > budget and (limit is None or len(kept) <= limit):
            break
        lost, kept, fitted = best
    return kept, fitted, lost


@pytest.mark.parametrize("seed", range(200))
def test_equal_to_brute_force(seed):
    rng = np.random.default_rng(seed)
    m, d, n_outputs = rng.integers(1, 13), rng.integers(1, 6), rng.integers(1, 5)
    kernel = Kernel(["gaussian", "matern"][seed % 2], rng.uniform(0.3, 1.2))
    points, weights = rng.normal(size=(m, d)), rng.normal(size=(m, n_outputs))
    gram = kernel.gram(points)
    budget = rng.uniform(0, 1.0) * norm(gram, weights)
    limit = int(rng.integers(0, m + 1)) if seed % 3 == 0 else None
    expected, expected_weights, expected_lost = brute_force(gram, weights, budget, limit)
    kept, fitted, lost = pursued(kernel, points, weights, budget, limit)
    assert kept.tolist() == expected
    np.testing.assert_allclose(fitted, expected_weights, atol=1e-7)
    assert lost == pytest.approx(expected_lost, abs=1e-7)


@pytest.mark.parametrize(("kernel", "m"), [  # of 72 points and more, rounding alone makes the Gram matrix singular
    *((Kernel("gaussian", size), m) for size, m in ((3.0, 30), (1.0, 72), (3.0, 90), (10.0, 90))),
    (Kernel("polynomial", degree=2), 30), (Kernel("linear"), 30),
])  # fmt: skip
@pytest.mark.parametrize("budget", [0.0, 1e-4, 0.1, 1.0, 10.0, 1e6])
def test_the_change_is_within_the_bound_where_the_gram_matrix_is_singular(kernel, m, budget):
    rng = np.random.default_rng(1)
    points = rng.normal(size=(m, 2))[np.sort(np.arange(90) % m)]  # m points, some of them several times
    weights, gram = rng.normal(size=(90, 3)), kernel.gram(points)
    (kept, fitted, lost), difference = pursued(kernel, points, weights, budget), weights.copy()
    np.subtract.at(difference, kept, fitted)
    moved = norm(gram, difference)
    assert moved <= budget + 1e-5 * norm(gram, weights) and moved == pytest.approx(lost, abs=1e-5 * norm(gram, weights))
    assert budget < 1e6 or not len(kept)


def test_steps_without_a_budget_may_come_between_others():
    """Nothing is removed: f is the sum over all points, and only its factor comes, goes and comes back."""
    rng = np.random.default_rng(3)
    points, weights, kernel = rng.normal(size=(15, 2)), rng.normal(size=(15, 2)), Kernel("gaussian", 0.5)
    dictionary = KernelDictionary(kernel, 2, 2, 1)
    for stop, budget in zip((3, 6, 9, 12, 15), (1e-9, 0.0, 1e-9, 0.0, 1e-9), strict=True):
        now = slice(stop - 3, stop)
        lost = dictionary.step(points[now], weights[now], dictionary.values(points[now])[1], budget=budget)
        assert lost == 0.0 and dictionary.norm == pytest.approx(norm(kernel.gram(points[:stop]), weights[:stop]))
        np.testing.assert_allclose(dictionary.values(points)[0], kernel(points, points[:stop]) @ weights[:stop])
    for bad in (1e300, np.nan):
        with pytest.raises(ParameterError, match="weights"):
            pursued(Kernel(), np.zeros((1, 1)), np.array([[bad]]), 0.1)
