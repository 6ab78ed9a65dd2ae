"""The sources' five artificial classes, each a mixture of three planar Gaussians (POLK, "multidist")."""

import numpy as np


def multidist(seed, n_train=5000, n_test=2500):
    """Return (x, y) for training, (x, y) for tests, and the error of the Bayes rule on the tests."""
    rng = np.random.default_rng(seed)
    angles = 2 * np.pi * np.arange(5) / 5
    means = np.stack([np.cos(angles), np.sin(angles)], axis=1)[:, None] + rng.normal(size=(5, 3, 2))
    n = n_train + n_test
    y = rng.integers(5, size=n)
    x = means[y, rng.integers(3, size=n)] + np.sqrt(0.2) * rng.normal(size=(n, 2))
    density = np.exp(-((x[n_train:, None, None] - means) ** 2).sum(axis=-1) / 0.4).sum(axis=-1)
    bayes = float((density.argmax(axis=1) != y[n_train:]).mean())
    return (x[:n_train], y[:n_train]), (x[n_train:], y[n_train:]), bayes
