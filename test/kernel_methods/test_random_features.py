"""Least squares on random features: the source's formula, the kernel in the limit, the path over the features."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, Matern

from icub_learning.errors import ParameterError
from icub_learning.kernel_methods import IncrementalRandomFeaturesKRLS, RandomFeaturesKRLS

N = 250


@pytest.mark.parametrize("kernel", ["gaussian", "matern"])
def test_features_chosen_by_leverage_keep_the_kernel(kernel, data):
    (x, y), reference = data, RBF(1.3) if kernel == "gaussian" else Matern(1.3, nu=1.5)
    settings = {"kernel": kernel, "length_scale": 1.3, "n_features": 50, "sampling": "leverage"}
    products = np.zeros((30, 30))
    for seed in range(160):  # 160 draws of 50 features take half the time of 40 draws of 200
        rows = RandomFeaturesKRLS(regularization=1e-3, random_state=seed, **settings).fit(x, y).feature_map_(x[:30])
        products += rows @ rows.T / 160
    np.testing.assert_allclose(products, reference(x[:30]), atol=0.06)


@pytest.mark.parametrize("features", ["fourier", "fastfood"])
def test_incremental_is_batch_at_every_number_of_features(features, data):
    (x, y), m, level, settings = data, 150, 1e-4, {"features": features, "random_state": 4}
    fitted = IncrementalRandomFeaturesKRLS(n_features=m, regularization=level, **settings).fit(x, y)
    path, z = fitted.predict_path(x), fitted.feature_map_(x)
    assert path.shape == (m, N, 2)
    for t in range(1, m + 1):
        exact = np.linalg.solve(z[:, :t].T @ z[:, :t] + level * N * np.eye(t), z[:, :t].T @ y)
        np.testing.assert_allclose(fitted.coefficients_at(t), exact, atol=1e-8)
        np.testing.assert_allclose(path[t - 1], z[:, :t] @ exact, atol=1e-8)
    with pytest.raises(ParameterError, match="at most the number drawn, 150"):
        fitted.coefficients_at(m + 1)
    for t in (40, m):  # the class docstring: level t is the batch estimator with lambda m / t
        batch = RandomFeaturesKRLS(n_features=t, regularization=level * m / t, **settings).fit(x, y)
        np.testing.assert_allclose(path[t - 1], batch.predict(x), atol=1e-8)
    s = batch.feature_map_(x) / np.sqrt(N)  # the source's formula
    exact = np.linalg.solve(s.T @ s + level * np.eye(m), s.T @ y / np.sqrt(N))
    np.testing.assert_allclose(batch.dual_coef_, exact, atol=1e-8)
    np.testing.assert_allclose(fitted.predict(x), path[-1], atol=1e-10)


def test_features_can_be_added_afterwards(data):
    x, y = data
    grown = IncrementalRandomFeaturesKRLS(n_features=30, random_state=0).fit(x, y)
    first = grown.predict_path(x)
    assert grown.set_params(length_scale=9.0, features="fastfood").add_features(1).add_features(20) is grown
    np.testing.assert_allclose(grown.predict_path(x)[:30], first, atol=1e-10)
    z = grown.feature_map_(x)
    assert z.shape == (N, 51)
    exact = z @ np.linalg.solve(z.T @ z + 1e-6 * N * np.eye(51), z.T @ y)
    np.testing.assert_allclose(grown.predict(x), exact, atol=1e-8)
    fixed = IncrementalRandomFeaturesKRLS(n_features=10, regularization=1e-16, random_state=0).fit(x[:80], y[:80])
    before = fixed.predict(x)
    with pytest.raises(ParameterError, match="regularization"):  # too small for so many
        fixed.add_features(120)
    np.testing.assert_array_equal(fixed.predict(x), before)
