"""The whitened kernel beside its definition in full matrices, and what the classifier makes of it."""

import numpy as np
import pytest
from scipy.linalg import sqrtm

from icub_learning.recognition.classifiers.kept_views import unit
from icub_learning.recognition.classifiers.kernel_classifier import KernelClassifier
from icub_learning.recognition.classifiers.whitened_kernel import LENGTH_SCALE, SHRINKAGE, WhitenedKernel, mixed
from icub_learning.recognition.classifiers.workspace import Workspace

D = 12


def views(rng, n, k, spread=0.4):
    centre = np.random.default_rng(k).normal(size=D)
    return np.maximum(centre + spread * rng.normal(size=(n, D)), 0.0) + 0.05


def by_definition(rows, targets, x):
    """The kernel from C^(-1/2), computed as a matrix."""
    means = np.array([rows[targets == index].mean(axis=0) for index in targets])
    scatter = (rows - means).T @ (rows - means) / len(rows)
    shrunk = (1 - SHRINKAGE) * scatter + SHRINKAGE * np.trace(scatter) / D * np.eye(D)
    root = np.real(np.linalg.inv(sqrtm(shrunk)))
    a, b = (unit((part - rows.mean(axis=0)) @ root) for part in (x, rows))
    return np.exp(-((a[:, None] - b[None]) ** 2).sum(axis=2) / (2 * LENGTH_SCALE**2))


@pytest.mark.parametrize("counts", [[5, 6, 4], [20], [1, 9]])
def test_kernel_is_the_one_defined(counts):
    rng = np.random.default_rng(0)
    rows = unit(np.concatenate([views(rng, n, k) for k, n in enumerate(counts)]))
    targets = np.repeat(np.arange(len(counts)), counts)
    x = unit(views(rng, 5, 9))
    kernel = WhitenedKernel(len(rows), Workspace(0))
    np.testing.assert_allclose(
        kernel.fit(rows @ rows.T, np.arange(len(rows)), targets, D), by_definition(rows, targets, rows), atol=1e-9
    )
    found = kernel(x @ rows.T, np.ones(5))
    np.testing.assert_allclose(found, by_definition(rows, targets, x), atol=1e-9)
    plain = np.exp(-((x[:, None] - rows[None]) ** 2).sum(axis=2) / (2 * LENGTH_SCALE**2))
    np.testing.assert_allclose(mixed(found, x @ rows.T), np.sqrt(found * plain), atol=1e-9)


def test_scores_are_kernel_ridge_regression_with_recoding():
    rng = np.random.default_rng(1)
    classifier = KernelClassifier(D, recoding=0.5, transfer=0.0)
    counts = [6, 3, 9]
    for k, n in enumerate(counts):
        classifier.learn(views(rng, n, k), f"object {k}")
    rows = classifier._kept.rows
    targets = np.repeat(np.arange(3), counts)
    x = views(rng, 4, 1)
    gram, cross = by_definition(rows, targets, rows), by_definition(rows, targets, unit(x))
    weights = np.linalg.solve(gram + classifier.regularization * np.eye(18), np.eye(3)[targets])
    np.testing.assert_allclose(
        classifier.scores(x), cross @ weights * np.sqrt(18 / np.array(counts)), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("known", [1, 2, 6])
def test_known_views_are_rejected_at_the_rate_asked_for_and_new_ones_are_not_typical(known):
    rng = np.random.default_rng(3)
    classifier = KernelClassifier(D)
    for k in range(known):
        classifier.learn(views(rng, 20, k), f"object {k}")
    seen = classifier.typicality(np.concatenate([views(rng, 100, k) for k in range(known)]))
    new = classifier.typicality(np.concatenate([views(rng, 100, k) for k in range(20, 26)]))
    for rate in (0.05, 0.2):
        assert (seen < rate).mean() < 1.5 * rate + 0.03
    assert (seen[:, None] > new).mean() > 0.9


def test_one_view_says_something_and_nothing_says_nothing():
    classifier = KernelClassifier(D)
    assert classifier.typicality(np.ones(D)) == 0.0
    assert classifier.judge(np.ones(D)).nearest == ""
    x = views(np.random.default_rng(4), 1, 0)[0]
    classifier.learn(x, "mug")
    found = classifier.judge(x)
    assert (found.nearest, found.typicality > 0.5) == ("mug", True)
    classifier.forget("mug")
    assert classifier.typicality(x) == 0.0


def test_forget_and_merge():
    rng = np.random.default_rng(5)
    both, first, second = KernelClassifier(D), KernelClassifier(D), KernelClassifier(D)
    for k in range(4):
        rows = views(rng, 6, k)
        both.learn(rows, f"object {k}")
        (first if k < 2 else second).learn(rows, f"object {k}")
    first.merge(second)
    x = views(rng, 5, 2)
    np.testing.assert_allclose(first.scores(x), both.scores(x), atol=1e-6)
    first.forget("object 2")
    assert first.scores(x).shape == (5, 3)
    assert first.n_kept == 18
