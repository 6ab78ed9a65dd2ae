"""The rival of POLK on a budget: against least squares and the Bayes error."""

import numpy as np
import pytest

from icub_learning.experiments.polk import budgeted_sgd, multidist


@pytest.fixture(autouse=True)
def few_steps(monkeypatch):
    """Two candidates of the step size, one of which suits each of the forms."""
    monkeypatch.setattr(budgeted_sgd, "STEPS", (0.2, 2.0))


def test_both_forms_keep_their_points_and_come_near_the_bayes_error():
    found = multidist.judge_budgeted(*multidist.sample_mixtures(0))
    for kind, most in (("iterate", 0.15), ("average", 0.06)):
        one = found[f"BSGD, {multidist.BUDGET} points, {kind}"]
        assert one["order"] == multidist.BUDGET
        assert -0.02 < one["excess error"] < most
        assert one["step size"] in budgeted_sgd.STEPS


def test_bsgd_is_projection_of_the_point_that_changes_the_function_least():
    """Against sums over all points and least squares for each candidate, sample by sample."""
    (x, y), _, _ = multidist.sample_mixtures(0)
    x, y, step, budget, shrink = x[:150], y[:150], 0.5, 6, 1 - 0.5 * 1e-6
    points, weights = np.zeros((0, 2)), np.zeros((0, 5))

    def kernel(a, b):
        return np.exp(-((a[:, None] - b[None]) ** 2).sum(axis=-1) / 1.2)

    for sample, label in zip(x, y, strict=True):
        scores = (kernel(sample[None], points) @ weights)[0]
        others = np.where(np.arange(5) == label, -np.inf, scores)
        weights = shrink * weights
        if scores[label] - others.max() >= 1:
            continue
        new = np.zeros((1, 5))
        new[0, label], new[0, others.argmax()] = step, -step
        points, weights = np.concatenate([points, sample[None]]), np.concatenate([weights, new])
        if len(points) > budget:
            options = []
            for gone in range(len(points)):
                kept = np.delete(np.arange(len(points)), gone)
                refit = np.linalg.solve(kernel(points[kept], points[kept]), kernel(points[kept], points) @ weights)
                change = weights.copy()
                change[kept] -= refit
                options.append((np.sum(change * (kernel(points, points) @ change)), kept, refit))
            _, kept, refit = min(options, key=lambda one: one[0])
            points, weights = points[kept], refit
    model = budgeted_sgd.budgeted_sgd(budget, step, length_scale=0.6**0.5, regularization=1e-6)
    model.partial_fit(x, y, classes=range(5))
    np.testing.assert_allclose(kernel(x, model.dictionary_) @ model.coef_, kernel(x, points) @ weights, atol=1e-6)
