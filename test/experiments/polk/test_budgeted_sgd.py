"""The rival of POLK on a budget: against least squares and the Bayes error."""

import numpy as np

from icub_learning.experiments.polk import budgeted_sgd, multidist


def test_bsgd_is_projection_of_the_point_that_changes_the_function_least():
    """Compare with sums over all points and least squares for each candidate, sample by sample."""
    (x, y), _, _ = multidist.sample_mixtures(0)
    x, y, step, budget, shrink = x[:150], y[:150], 0.5, 6, 1 - 0.5 * 1e-6
    points, weights = np.zeros((0, 2)), np.zeros((0, 5))

    def kernel(a, b):
        return np.exp(-((a[:, None] - b[None]) ** 2).sum(axis=-1) / 1.2)

    for sample, label in zip(x, y, strict=True):
        scores = (kernel(sample[None], points) @ weights)[0]
        others, weights = np.where(np.arange(5) == label, -np.inf, scores), shrink * weights
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


def test_the_step_of_the_least_held_out_error_is_chosen(monkeypatch):
    """Errors are those on every fifth sample, at ten moments of the last quarter of the others, learned one by one."""
    (x, y), _, _ = multidist.sample_mixtures(0)
    x, y, settings, errors = x[:300], y[:300], {"length_scale": 0.6**0.5, "regularization": 1e-6}, {}
    monkeypatch.setattr(budgeted_sgd, "STEPS", (6.0, 0.5, 0.02))
    held = np.arange(300) % 5 == 4
    for step in budgeted_sgd.STEPS:
        model, wrong = budgeted_sgd.budgeted_sgd(15, step, **settings), []
        for count, k in enumerate(np.flatnonzero(~held), start=1):
            model.partial_fit(x[[k]], y[[k]], classes=range(5))
            if count > 180 and count % 6 == 0:
                wrong.append(np.mean(model.predict(x[held]) != y[held]))
        errors[step] = np.mean(wrong)
    assert len(wrong) == 10 and len(set(errors.values())) == 3
    assert budgeted_sgd.tune_step(x, y, 15, **settings) == min(errors, key=errors.get)
